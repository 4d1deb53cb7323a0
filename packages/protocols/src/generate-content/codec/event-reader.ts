import { readSseEvent } from '../../bytes/sse.ts';
import type { EventReader, ReaderContext } from '../../codec.ts';
import { unwrapInput } from '../../translate/custom-tool.ts';
import type { Sealed } from '../../turn.ts';
import type { BlockDelta, OpenBlock, TurnEvent } from '../../turn-event.ts';
import { noUsage, type Usage } from '../../usage.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readUsage } from '../meter.ts';
import { inCamelCase } from './camel-case.ts';
import { readFinishWord } from './finish-words.ts';
import { PartialArguments } from './partial-arguments.ts';
import { readCitations } from './read-citations.ts';
import { readCode, readCodeResult } from './read-code.ts';
import { readFileData, readInlineData } from './read-media.ts';

/** A call whose arguments are still coming. */
interface PartialCall {
  readonly call: WireRecord;
  readonly args: PartialArguments;
  sealed: Sealed | null;
}

/** Reads the first candidate of an answer, chunk by chunk. A whole answer is one chunk. */
export class NativeEventReader implements EventReader {
  readonly #context: ReaderContext;
  #events: TurnEvent[] = [];
  #hasStarted = false;
  /** The block that text is added to. */
  #open: 'text' | 'reasoning' | null = null;
  /** What the open block of text has, for what is cited of it. */
  #text = '';
  /** What of it is cited already. */
  readonly #cited = new Set<string>();
  #partial: PartialCall | null = null;
  #calls = 0;
  #usage: Usage | null = null;
  #rawReason: string | null = null;
  #isBlocked = false;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    const data = readSseEvent(frame).data ?? '';
    return data === '' ? [] : this.readChunk(parse(data));
  }

  /** Takes one chunk that has been parsed. */
  readChunk(wire: unknown): readonly TurnEvent[] {
    if (!isRecord(wire)) return [];
    const { candidates, usageMetadata, promptFeedback } = wire;
    const usage = readUsage(usageMetadata);
    this.#usage = usage ?? this.#usage;
    this.#start(wire, usage);
    const first = listOf(candidates)
      .filter(isRecord)
      .find(({ index }) => (index ?? 0) === 0);
    if (first !== undefined) this.#candidate(first);
    const blockReason = stringOf(recordOf(promptFeedback)['blockReason']);
    if (blockReason !== null && listOf(candidates).length === 0) this.#block(blockReason);
    return this.#take();
  }

  end(): readonly TurnEvent[] {
    this.#start({}, null);
    this.#endPartialCall();
    this.#close();
    const reason = this.#isBlocked ? 'content-filter' : readFinishWord(this.#rawReason, this.#calls > 0);
    this.#events.push({
      kind: 'finish',
      reason,
      rawReason: this.#rawReason,
      stopSequence: null,
      usage: this.#usage,
    });
    return this.#take();
  }

  #take(): readonly TurnEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** What is told of the output is not known before it is written. */
  #start({ responseId, modelVersion }: WireRecord, usage: Usage | null): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#events.push({
      kind: 'start',
      answerId: stringOf(responseId),
      model: stringOf(modelVersion),
      usage: usage === null ? null : { ...usage, ...noOutput },
    });
  }

  #block(reason: string): void {
    this.#isBlocked = true;
    this.#rawReason = reason;
  }

  #candidate(candidate: WireRecord): void {
    for (const part of listOf(recordOf(candidate['content'])['parts'])) this.#part(inCamelCase(part));
    if (this.#open === 'text') this.#cite(candidate);
    const reason = stringOf(candidate['finishReason']) ?? '';
    if (reason !== '') this.#rawReason = reason;
  }

  /** Some servers repeat in every chunk what they have said of sources before. */
  #cite(candidate: WireRecord): void {
    for (const citation of readCitations(candidate, this.#text)) {
      const key = `${citation.url} ${citation.start} ${citation.end}`;
      if (!this.#cited.has(key)) this.#add({ kind: 'citation', citation });
      this.#cited.add(key);
    }
  }

  /** Every part is of the one kind whose member it has. */
  #part(part: WireRecord): void {
    const { text, functionCall, inlineData, fileData, executableCode, codeExecutionResult } = part;
    const sealed = this.#sealOf(part);
    if (isRecord(functionCall)) return this.#call(inCamelCase(functionCall), sealed);
    this.#endPartialCall();
    if (typeof text === 'string') this.#addText(part['thought'] === true ? 'reasoning' : 'text', text);
    else if (isRecord(inlineData)) this.#whole(readInlineData(inlineData));
    else if (isRecord(fileData)) this.#wholeFile(fileData);
    else if (isRecord(executableCode)) this.#addText('text', readCode(executableCode));
    else if (isRecord(codeExecutionResult)) this.#addText('text', readCodeResult(codeExecutionResult));
    if (sealed !== null) this.#seal(sealed, part['thought'] === true);
  }

  #sealOf({ thoughtSignature }: WireRecord): Sealed | null {
    const data = stringOf(thoughtSignature) ?? '';
    return data === '' ? null : { origin: this.#context.origin, data, form: 'signature' };
  }

  #addText(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    if (this.#open !== kind) {
      this.#close();
      this.#open = kind;
      this.#events.push({ kind: 'block-start', block: { kind } });
    }
    if (kind === 'text') this.#text += text;
    this.#add({ kind: 'text', text });
  }

  /** On a thought it closes it; on anything else it stands behind it, in a block of its own without a thought. */
  #seal(sealed: Sealed, onThought: boolean): void {
    if (!onThought || this.#open !== 'reasoning') {
      this.#close();
      this.#events.push({ kind: 'block-start', block: { kind: 'reasoning' } });
      this.#open = 'reasoning';
    }
    this.#add({ kind: 'sealed', sealed });
    this.#close();
  }

  #wholeFile(fileData: WireRecord): void {
    const media = readFileData(fileData);
    if (media !== null) this.#whole(media);
  }

  #whole(block: OpenBlock): void {
    this.#close();
    this.#events.push({ kind: 'block-start', block }, { kind: 'block-stop' });
  }

  #add(delta: BlockDelta): void {
    this.#events.push({ kind: 'delta', delta });
  }

  #close(): void {
    if (this.#open !== null) this.#events.push({ kind: 'block-stop' });
    this.#open = null;
    this.#text = '';
    this.#cited.clear();
  }

  /** Calls come whole, but for servers that were asked for their arguments in pieces: those have no name but in the first. */
  #call(call: WireRecord, sealed: Sealed | null): void {
    const pieces = listOf(call['partialArgs']);
    const isPartial = pieces.length > 0 || call['willContinue'] === true;
    const name = stringOf(call['name']) ?? '';
    if (name !== '') {
      this.#endPartialCall();
      if (!isPartial) return this.#writeCall(call, recordOf(call['args']), sealed);
      this.#partial = { call, args: new PartialArguments(), sealed };
    }
    if (this.#partial === null) return;
    this.#partial.sealed ??= sealed;
    for (const piece of pieces) this.#partial.args.take(piece);
    if (call['willContinue'] !== true) this.#endPartialCall();
  }

  #endPartialCall(): void {
    const partial = this.#partial;
    this.#partial = null;
    if (partial !== null) this.#writeCall(partial.call, partial.args.value, partial.sealed);
  }

  #writeCall(call: WireRecord, args: WireRecord, sealed: Sealed | null): void {
    this.#close();
    const sent = stringOf(call['name']) ?? '';
    const tool = this.#context.names.get(sent) ?? { name: sent, namespace: null, form: 'function' as const };
    const id = stringOf(call['id']) || `call_${this.#context.traceId}_${this.#calls}`;
    this.#calls++;
    this.#events.push({ kind: 'block-start', block: { kind: 'tool-call', id, ...tool } });
    const input = JSON.stringify(args);
    this.#add({ kind: 'text', text: tool.form === 'custom' ? unwrapInput(input) : input });
    if (sealed !== null) this.#add({ kind: 'sealed', sealed });
    this.#events.push({ kind: 'block-stop' });
  }
}

const noOutput = {
  output: noUsage.output,
  outputReasoning: noUsage.outputReasoning,
  outputAudio: noUsage.outputAudio,
  outputImage: noUsage.outputImage,
};

/** Undefined for what is no JSON: the protocol's stream reader has refused it before. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

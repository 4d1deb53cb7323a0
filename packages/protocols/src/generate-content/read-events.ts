import { readSseEvent } from '../bytes/sse.ts';
import type { EventReader, ReaderContext } from '../codec.ts';
import { collectAnswer } from '../translate/answer.ts';
import { choicesAt, readChoices } from '../translate/choices.ts';
import { callersTool, unwrapInput } from '../translate/tools.ts';
import type { Citation, Sealed } from '../turn.ts';
import type { BlockDelta, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { noUsage, type Usage } from '../usage.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { readUsage } from './meter.ts';
import { readCode, readCodeResult, readFileData, readInlineData } from './read-messages.ts';
import { inCamelCase, readFinishWord } from './wire.ts';

/** A call whose arguments are still coming. */
interface PartialCall {
  readonly call: WireRecord;
  readonly args: PartialArguments;
  sealed: Sealed | null;
}

/** Reads one candidate of an answer, chunk by chunk: the first, unless others were asked for. A whole answer is one chunk. */
export class NativeEventReader implements EventReader {
  readonly #context: ReaderContext;
  #events: TurnEvent[] = [];
  #hasStarted = false;
  /** The block that text is added to. */
  #open: 'text' | 'reasoning' | null = null;
  /** The text of the open block, for what is cited of it. */
  #text = '';
  /** The parts of it that are cited already. */
  readonly #cited = new Set<string>();
  #hasSources = false;
  #partial: PartialCall | null = null;
  #calls = 0;
  #usage: Usage | null = null;
  #rawReason: string | null = null;
  #isBlocked = false;
  readonly #choice: number;

  constructor(context: ReaderContext, choice = 0) {
    this.#context = context;
    this.#choice = choice;
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    const chunk = readChunk(frame);
    return chunk === null ? [] : this.takeChunk(chunk);
  }

  /** Sources are read anew with every chunk, by the text there is. */
  readText(text: string): boolean {
    if (this.#open === null || this.#hasSources) return false;
    if (this.#open === 'text') this.#text += text;
    return true;
  }

  /** Takes one chunk that has been parsed. */
  takeChunk(wire: WireRecord): readonly TurnEvent[] {
    const { candidates, usageMetadata, promptFeedback } = wire;
    const usage = readUsage(usageMetadata);
    this.#usage = usage ?? this.#usage;
    this.#start(wire, usage);
    const [own] = choicesAt(candidates, this.#choice);
    if (own !== undefined) this.#candidate(own);
    const blockReason = stringOf(recordOf(promptFeedback)['blockReason']);
    // A prompt that is refused has one answer.
    const isRefused = blockReason !== null && listOf(candidates).length === 0;
    if (isRefused && this.#choice === 0) this.#block(blockReason);
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

  /** Nothing is told of the output before it is written. */
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
    this.#hasSources ||= 'groundingMetadata' in candidate || 'citationMetadata' in candidate;
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
    const tool = callersTool(this.#context.names, sent);
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
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder();

/** A whole answer is the only chunk of its stream. */
export function readTurnAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const answer = parse(decoder.decode(body));
  return readChoices(context.choices ?? 1, (index) => {
    const reader = new NativeEventReader(context, index);
    return collectAnswer([...(isRecord(answer) ? reader.takeChunk(answer) : []), ...reader.end()]);
  });
}

/** The chunk in an event; null for what is none. */
export function readChunk(frame: Uint8Array): WireRecord | null {
  const chunk = parse(readSseEvent(frame).data ?? '');
  return isRecord(chunk) ? chunk : null;
}

const encoder = new TextEncoder();

/**
 * All that a candidate says of where its text comes from: `groundingMetadata` for what was searched, `citationMetadata` for what
 * was recited. `text`: as far as the block goes that is cited.
 */
function readCitations(candidate: WireRecord, text: string): readonly Citation[] {
  const grounding = recordOf(candidate['groundingMetadata']);
  const recited = recordOf(candidate['citationMetadata']);
  const sources = [...listOf(recited['citationSources']), ...listOf(recited['citations'])];
  if (grounding['groundingSupports'] === undefined && sources.length === 0) return [];
  const bytes = encoder.encode(text);
  return [
    ...listOf(grounding['groundingSupports']).flatMap((support) =>
      readSupport(recordOf(support), listOf(grounding['groundingChunks']), bytes),
    ),
    ...sources.filter(isRecord).map((source) => citationOf(source, source, bytes)),
  ];
}

/** One citation for each source of a segment. */
function readSupport(
  support: WireRecord,
  chunks: readonly unknown[],
  bytes: Uint8Array,
): readonly Citation[] {
  const segment = recordOf(support['segment']);
  return listOf(support['groundingChunkIndices']).flatMap((index) => {
    const chunk = recordOf(typeof index === 'number' ? chunks[index] : undefined);
    const source = chunk['web'] ?? chunk['retrievedContext'] ?? chunk['maps'];
    return isRecord(source) ? [citationOf(source, segment, bytes)] : [];
  });
}

/** A segment that has an end and no start starts where the text does: zero is left out. */
function citationOf(source: WireRecord, segment: WireRecord, bytes: Uint8Array): Citation {
  const end = numberOf(segment['endIndex']);
  return {
    url: stringOf(source['uri']),
    title: stringOf(source['title']),
    quote: stringOf(segment['text']),
    start: end === null ? null : characterAt(bytes, numberOf(segment['startIndex']) ?? 0),
    end: end === null ? null : characterAt(bytes, end),
  };
}

/** Positions are bytes of UTF-8 on this wire. */
function characterAt(bytes: Uint8Array, at: number): number {
  return decoder.decode(bytes.subarray(0, Math.max(0, at))).length;
}

type Key = string | number;

/** Elements an array of arguments may have; a larger index is a defect of the upstream. */
const indexMax = 10_000;

/** Arguments of a call that come in pieces, each with the path of what it is a piece of (`$.list[0].name`). */
class PartialArguments {
  readonly value: Record<string, unknown> = {};

  take(wire: unknown): void {
    const piece = inCamelCase(wire);
    const keys = keysOf(piece['jsonPath']);
    const value = pieceValue(piece);
    if (keys.length > 0 && value !== undefined) place(this.value, keys, value);
  }
}

function keysOf(path: unknown): readonly Key[] {
  if (typeof path !== 'string' || !path.startsWith('$')) return [];
  const steps = path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g);
  return Array.from(steps, ([, name, index, quoted]) =>
    index === undefined ? (name ?? quoted ?? '') : Math.min(Number(index), indexMax),
  );
}

/** Undefined when the piece has no value. */
function pieceValue(piece: WireRecord): unknown {
  if ('nullValue' in piece) return null;
  return piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'];
}

function place(root: Record<string, unknown>, keys: readonly Key[], value: unknown): void {
  let holder: Record<Key, unknown> | unknown[] = root;
  for (const [at, key] of keys.entries()) {
    const next = keys[at + 1];
    const known = read(holder, key);
    if (next === undefined) return write(holder, key, extended(known, value));
    const inner: Record<Key, unknown> | unknown[] = holds(known) ? known : typeof next === 'number' ? [] : {};
    if (inner !== known) write(holder, key, inner);
    holder = inner;
  }
}

/** Text is continued, anything else replaced. */
function extended(known: unknown, value: unknown): unknown {
  return typeof known === 'string' && typeof value === 'string' ? known + value : value;
}

function holds(value: unknown): value is Record<Key, unknown> | unknown[] {
  return Array.isArray(value) || isRecord(value);
}

function read(holder: Record<Key, unknown> | unknown[], key: Key): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

/** Whatever the name is, it becomes a member and nothing else. */
function write(holder: Record<Key, unknown> | unknown[], key: Key, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

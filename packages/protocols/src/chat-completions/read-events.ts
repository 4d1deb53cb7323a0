import { readSseEvent } from '../bytes/sse.ts';
import type { EventReader, ReaderContext, ToolName } from '../codec.ts';
import { parseJson } from '../refusal.ts';
import { BlockSequencer, collectAnswer } from '../translate/answer.ts';
import { choicesAt, readChoices } from '../translate/choices.ts';
import { readMediaUrl } from '../translate/media.ts';
import { callersTool, parseObject, unwrapInput } from '../translate/tools.ts';
import type { Sealed } from '../turn.ts';
import type { TurnAnswer, TurnEvent } from '../turn-event.ts';
import type { Usage } from '../usage.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { readUsage } from './meter.ts';
import { callInput, readThinkingPart } from './read-messages.ts';
import { sealCall, ThoughtReader } from './thoughts.ts';
import { finishReasonOf, readCitation } from './wire.ts';

/** Reads one choice of an answer, chunk by chunk: the first, unless others were asked for. */
export class ChatEventReader implements EventReader {
  readonly #context: ReaderContext;
  readonly #blocks = new BlockSequencer<string | number>();
  readonly #calls: CallReader;
  readonly #thoughts: ThoughtReader;
  #answerId: string | null = null;
  #model: string | null = null;
  #isStarted = false;
  #hasRefusal = false;
  #rawReason: string | null = null;
  #usage: Usage | null = null;
  #images = 0;
  readonly #choice: number;
  readonly #isWhole: boolean;

  constructor(context: ReaderContext, choice = 0, isWhole = false) {
    this.#context = context;
    this.#choice = choice;
    this.#isWhole = isWhole;
    this.#calls = new CallReader(context, this.#blocks);
    this.#thoughts = new ThoughtReader(context, this.#blocks);
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    const chunk = readChunk(frame);
    return chunk === null ? [] : this.takeChunk(chunk);
  }

  /** Thoughts are kept until their seal comes. */
  readText(): boolean {
    return !this.#blocks.has('reasoning');
  }

  /** A chunk, or a whole answer as if it were the only one. */
  takeChunk(chunk: WireRecord): readonly TurnEvent[] {
    this.#answerId ??= stringOf(chunk['id']) || null;
    this.#model ??= stringOf(chunk['model']) || null;
    this.#takeUsage(chunk['usage']);
    this.#takeUsage(recordOf(chunk['x_groq'])['usage']);
    const events: TurnEvent[] = [];
    for (const choice of choicesAt(chunk['choices'], this.#choice)) {
      this.#start(events);
      this.#takeChoice(choice);
    }
    return [...events, ...this.#blocks.take()];
  }

  end(): readonly TurnEvent[] {
    const events: TurnEvent[] = [];
    this.#start(events);
    this.#closeSpeech();
    this.#calls.end();
    this.#blocks.closeAll();
    const kind = { hasCalls: this.#calls.hasCalls, hasRefusal: this.#hasRefusal };
    return [
      ...events,
      ...this.#blocks.take(),
      {
        kind: 'finish',
        reason: finishReasonOf(this.#rawReason, kind),
        rawReason: this.#rawReason,
        stopSequence: null,
        usage: this.#usage,
      },
    ];
  }

  #start(events: TurnEvent[]): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    events.push({ kind: 'start', answerId: this.#answerId, model: this.#model, usage: null });
  }

  /** Cumulative where it is repeated: the last one counts. */
  #takeUsage(wire: unknown): void {
    this.#usage = readUsage(wire, this.#context.dialect) ?? this.#usage;
  }

  #takeChoice(choice: WireRecord): void {
    this.#takeUsage(choice['usage']);
    this.#rawReason = stringOf(choice['finish_reason']) || this.#rawReason;
    const delta = this.#wordsOf(choice);
    if (this.#thoughts.isIn(delta)) {
      this.#speakAs('reasoning');
      this.#thoughts.take(delta);
    }
    this.#takeContent(delta['content']);
    this.#say('text', stringOf(recordOf(delta['audio'])['transcript']) ?? '');
    this.#takeRefusal(stringOf(delta['refusal']) ?? '');
    this.#takeAnnotations(delta['annotations']);
    if (hasCalls(delta)) this.#closeSpeech();
    this.#calls.take(delta);
    for (const image of listOf(delta['images'])) this.#takeImage(recordOf(image));
  }

  /** Some whole answers have an empty delta beside their message, as chunks of some servers have an empty message. */
  #wordsOf({ delta, message }: WireRecord): WireRecord {
    const [own, other] = this.#isWhole ? [message, delta] : [delta, message];
    return recordOf(isRecord(own) ? own : other);
  }

  #takeContent(content: unknown): void {
    if (typeof content === 'string') this.#say('text', content);
    for (const value of listOf(content)) {
      const part = recordOf(value);
      if (part['type'] === 'thinking') this.#takeThinking(part);
      else this.#say('text', stringOf(part['text']) ?? '');
    }
  }

  #takeThinking(part: WireRecord): void {
    for (const { text } of readThinkingPart(part)) {
      this.#speakAs('reasoning');
      this.#thoughts.add(text, 'thinking');
    }
  }

  #takeRefusal(text: string): void {
    this.#hasRefusal ||= text !== '';
    this.#say('refusal', text);
  }

  #say(kind: 'text' | 'refusal', text: string): void {
    if (text === '') return;
    this.#speakAs(kind);
    this.#blocks.add(kind, { kind: 'text', text });
  }

  /** Words are of one kind at a time: another one ends it. */
  #speakAs(kind: 'text' | 'reasoning' | 'refusal'): void {
    if (this.#blocks.has(kind)) return;
    this.#closeSpeech();
    this.#blocks.open(kind, { kind });
  }

  #closeSpeech(): void {
    this.#thoughts.close();
    this.#blocks.close('text');
    this.#blocks.close('refusal');
  }

  #takeAnnotations(annotations: unknown): void {
    for (const annotation of listOf(annotations)) {
      const citation = readCitation(recordOf(annotation));
      if (citation !== null) this.#blocks.add('text', { kind: 'citation', citation });
    }
  }

  /** Images stand beside the content where servers make any. */
  #takeImage(image: WireRecord): void {
    const url = stringOf(recordOf(image['image_url'])['url']);
    const media = url === null ? null : readMediaUrl(url);
    if (media === null) return;
    this.#closeSpeech();
    const key = `image ${this.#images++}`;
    const rest = { filename: null, detail: null, cacheTtl: null };
    this.#blocks.open(key, { kind: 'media', media: 'image', ...media, ...rest });
    this.#blocks.close(key);
  }
}

/** A whole answer of an upstream's, read as the only chunk of a stream. */
export function readTurnAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const answer = recordOf(parseJson(decoder.decode(body)));
  return readChoices(context.choices ?? 1, (index) => {
    const reader = new ChatEventReader(context, index, true);
    const events = reader.takeChunk(answer);
    return collectAnswer([...events, ...reader.end()]);
  });
}

function hasCalls(delta: WireRecord): boolean {
  return listOf(delta['tool_calls']).length > 0 || isRecord(delta['function_call']);
}

const decoder = new TextDecoder();

/** The chunk in a frame; null for comments, the end and what is no chunk. */
export function readChunk(frame: Uint8Array): WireRecord | null {
  const text = decoder.decode(frame);
  const usual = text.startsWith('data:') ? parseJson(text.slice('data:'.length)) : undefined;
  const chunk = usual === undefined ? parseJson(readSseEvent(frame).data ?? '') : usual;
  return isRecord(chunk) ? chunk : null;
}

/** The form a call is in, by its type; some servers have the members of both, of which one is empty. */
function formOf({ type, custom }: WireRecord, known: ToolName['form'] | null): ToolName['form'] {
  if (type === 'custom' || type === 'function') return type;
  return known ?? (isRecord(custom) ? 'custom' : 'function');
}

/** A call as far as it has come. It is opened when its name is known. */
interface Call {
  readonly key: number;
  id: string;
  tool: ToolName | null;
  /** The upstream's. */
  name: string;
  /** The upstream's, once it is named. */
  form: ToolName['form'] | null;
  /** Text that waits: for the name, or in the case of free text within a function's arguments for the end. */
  held: string;
  /** All text so far. */
  input: string;
  isWrapped: boolean;
  sealed: Sealed | null;
}

/** No piece can follow; of free text nobody knows. */
function isWhole({ form, input }: Call): boolean {
  return form === 'custom' || (input.trim() !== '' && parseObject(input) !== null);
}

/** Reads the calls in the deltas of one answer. Servers leave out indices, types and ids, or send empty ones later. */
export class CallReader {
  readonly #context: ReaderContext;
  readonly #blocks: BlockSequencer<string | number>;
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  hasCalls = false;

  constructor(context: ReaderContext, blocks: BlockSequencer<string | number>) {
    this.#context = context;
    this.#blocks = blocks;
  }

  take(delta: WireRecord): void {
    for (const call of listOf(delta['tool_calls'])) this.#takeCall(recordOf(call));
    const older = delta['function_call'] ?? null;
    if (older !== null) this.#takeCall({ index: 0, function: older });
  }

  /** Adds the text that was held back until the end. */
  end(): void {
    for (const call of this.#calls) if (call.isWrapped) this.#add(call, unwrapInput(call.held));
  }

  #takeCall(wire: WireRecord): void {
    const call = this.#find(wire);
    const form = formOf(wire, call.form);
    const called = recordOf(wire[form]);
    const text = callInput(form === 'custom' ? called['input'] : called['arguments']);
    call.held += text;
    call.input += text;
    call.sealed = sealCall(this.#context.origin, wire) ?? call.sealed;
    if (call.tool === null) this.#open(call, stringOf(called['name']) ?? '', form);
    if (call.tool !== null) this.#flush(call);
  }

  /**
   * By its index, else by its id; without either it is the last one, unless it is named anew. Some servers give every call the
   * same index: one with another id and a name is another call. Others name a call in every piece, each under a new id: as long as
   * its arguments are not whole, it is the same.
   */
  #find(wire: WireRecord): Call {
    const index = numberOf(wire['index']);
    const id = stringOf(wire['id']) ?? '';
    const name = stringOf(recordOf(wire[formOf(wire, null)])['name']) ?? '';
    const isNamed = name !== '';
    const last = id === '' && !isNamed ? this.#calls.at(-1) : undefined;
    const known = index === null ? (this.#byId.get(id) ?? last) : this.#byIndex.get(index);
    const isRenamed = known !== undefined && isNamed && id !== '' && known.id !== '' && known.id !== id;
    const isOther = isRenamed && (name !== known.name || isWhole(known));
    const call = known === undefined || isOther ? this.#begin(index) : known;
    if (call.id === '' && id !== '') {
      call.id = id;
      this.#byId.set(id, call);
    }
    return call;
  }

  #begin(index: number | null): Call {
    const call: Call = {
      key: this.#calls.length,
      id: '',
      tool: null,
      name: '',
      form: null,
      held: '',
      input: '',
      isWrapped: false,
      sealed: null,
    };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }

  #open(call: Call, sent: string, form: ToolName['form']): void {
    if (sent === '') return;
    const tool = callersTool(this.#context.names, sent, form);
    call.tool = tool;
    call.name = sent;
    call.form = form;
    call.isWrapped = tool.form === 'custom' && form === 'function';
    if (call.id === '') call.id = `call_${this.#context.traceId.slice(-24)}_${call.key}`;
    this.hasCalls = true;
    this.#blocks.open(call.key, { kind: 'tool-call', id: call.id, ...tool });
  }

  #flush(call: Call): void {
    if (!call.isWrapped) {
      this.#add(call, call.held);
      call.held = '';
    }
    if (call.sealed !== null) this.#blocks.add(call.key, { kind: 'sealed', sealed: call.sealed });
    call.sealed = null;
  }

  #add({ key }: Call, text: string): void {
    if (text !== '') this.#blocks.add(key, { kind: 'text', text });
  }
}

import type { TextSpan } from '../bytes/json-text.ts';
import { decodeSpan, isFilled, KeyNames, writtenBytes } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import { stringOf } from '../wire-values.ts';
import {
  answerMembers,
  choiceMembers,
  type DeltaMember,
  deltaMembers,
  metadataMembers,
  textMembers,
} from './wire.ts';

const answerNames = new KeyNames(answerMembers);
const choiceNames = new KeyNames(choiceMembers);
const metadataNames = new KeyNames(metadataMembers);
const deltaNames = new KeyNames(deltaMembers);
const textNames = new KeyNames(textMembers);
const usageName = new KeyNames(['usage']);

/** The word `default` in its quotes: no other tier of seven letters begins as it does. */
const usualServiceBytes = 9;

/**
 * Walks one chunk of a stream, or one whole answer (whose `message` is read as a chunk's `delta` is), and notes where
 * things stand. Nothing is parsed but what is short: a stream passes through here frame by frame.
 */
export class ChunkWalk {
  /** The bytes are exactly one JSON object. */
  readonly isWhole: boolean;
  readonly #reader: JsonReader;
  readonly #bytes: Uint8Array;
  readonly #valueStart: number;
  #textSpan: TextSpan | null = null;
  /** Texts in the chunk, of which the last one's place is known. */
  #texts = 0;
  #outputs = 0;
  #padding: TextSpan | null = null;
  #error: TextSpan | null = null;
  #usageSpan: TextSpan | null = null;
  /** How near to the top the usage found so far stands: 3 at the top, 0 for none. */
  #usageRank = 0;
  #model: TextSpan | null = null;
  #service: TextSpan | null = null;
  #finishSpan: TextSpan | null = null;
  #choiceIndex = 0;
  #choiceIsFinished = false;

  /** Indexes of the choices in the chunk, by whether it says why they stopped. */
  readonly openChoices: number[] = [];
  readonly finishedChoices: number[] = [];
  /** Says that there is a list of choices, of which `choices` are counted. */
  hasChoices = false;
  choices = 0;
  hasOutput = false;
  hasToolCalls = false;
  /** The chunk says on which service tier it was made. */
  hasService = false;
  /** It is `default`, as nearly always: then it need not be decoded. */
  isUsualService = false;
  hasRefusal = false;
  outputBytes = 0;

  constructor(bytes: Uint8Array, at: number) {
    const reader = new JsonReader(bytes, at);
    this.#bytes = bytes;
    this.#valueStart = at;
    this.#reader = reader;
    const isObject = reader.enterObject();
    while (isObject && reader.nextMember()) this.#member();
    this.isWhole = isObject && reader.isAtEnd();
  }

  /** The whole object, parsed, where it is short. */
  get value(): unknown {
    return decodeSpan(this.#bytes, { start: this.#valueStart, end: this.#bytes.length });
  }

  /** The value of `error`; undefined when there is none, or nothing in it. */
  get error(): unknown {
    return decodeSpan(this.#bytes, this.#error);
  }

  get hasError(): boolean {
    return this.#error !== null;
  }

  /** The `usage` object, from wherever the server puts it; undefined when there is none. */
  get usage(): unknown {
    return decodeSpan(this.#bytes, this.#usageSpan);
  }

  get hasUsage(): boolean {
    return this.#usageSpan !== null;
  }

  /** The text of a chunk that has nothing else to say; null when it has, or has none. */
  get onlyText(): TextSpan | null {
    const isPlain = this.#outputs === 1 && this.#texts === 1 && this.#finishSpan === null;
    return isPlain && !this.hasUsage && !this.hasError ? this.#textSpan : null;
  }

  /** The random string some servers add to every chunk, so that its size tells nothing. */
  get padding(): readonly TextSpan[] {
    return this.#padding === null ? [] : [this.#padding];
  }

  /** The service tier that the answer was given on; undefined when the chunk does not say. */
  get service(): unknown {
    return decodeSpan(this.#bytes, this.#service);
  }

  get model(): string | null {
    return stringOf(decodeSpan(this.#bytes, this.#model));
  }

  /** The server's own word; null when there is none yet, or a blank one. */
  get finishReason(): string | null {
    return stringOf(decodeSpan(this.#bytes, this.#finishSpan));
  }

  #member(): void {
    const name = answerNames.find(this.#bytes, this.#reader.keyStart, this.#reader.keyEnd);
    if (name === null) this.#reader.skip();
    else if (name === 'choices') this.#eachChoice();
    else if (name === 'usage') this.#usage(3);
    else if (name === 'x_groq') this.#nestedUsage();
    else this.#note(name);
  }

  #note(name: 'model' | 'error' | 'service_tier' | 'obfuscation'): void {
    const start = this.#reader.at;
    const end = this.#reader.skip();
    if (end === -1 || !isFilled(this.#bytes, start, end)) return;
    if (name === 'service_tier') {
      this.hasService = true;
      this.isUsualService = end - start === usualServiceBytes && this.#bytes[start + 1] === 0x64;
    }
    if (name === 'model') this.#model = { start, end };
    else if (name === 'error') this.#error = { start, end };
    else if (name === 'service_tier') this.#service = { start, end };
    else if (this.#bytes[start] === 0x22) this.#padding = { start, end };
  }

  #eachChoice(): void {
    const reader = this.#reader;
    this.hasChoices = reader.enterArray();
    while (this.hasChoices && reader.nextElement()) {
      this.choices++;
      this.#choice();
    }
  }

  #choice(): void {
    const reader = this.#reader;
    this.#choiceIndex = this.choices - 1;
    this.#choiceIsFinished = false;
    const bytesBefore = this.outputBytes;
    let bytesOfOther = 0;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = choiceNames.find(this.#bytes, reader.keyStart, reader.keyEnd);
      if (name === null) reader.skip();
      else if (name === 'usage') this.#usage(1);
      else if (name === 'finish_reason') this.#finish();
      else if (name === 'index') this.#index();
      else {
        this.#delta();
        // Some servers say the same in a delta and in a message: it was written once.
        const bytes = this.outputBytes - bytesBefore - bytesOfOther;
        this.outputBytes = bytesBefore + Math.max(bytes, bytesOfOther);
        bytesOfOther = this.outputBytes - bytesBefore;
      }
    }
    (this.#choiceIsFinished ? this.finishedChoices : this.openChoices).push(this.#choiceIndex);
  }

  /** The choice's place in the chunk is its index where a server gives no number. */
  #index(): void {
    const { kind, at: start } = this.#reader;
    const end = this.#reader.skip();
    if (kind !== 'number' || end === -1) return;
    this.#choiceIndex = 0;
    // It only has to tell choices apart, so what is no whole number may come to anything.
    for (let at = start; at < end; at++)
      this.#choiceIndex = this.#choiceIndex * 10 + (this.#bytes[at] ?? 0) - 0x30;
  }

  #finish(): void {
    const { kind, at: start } = this.#reader;
    const end = this.#reader.skip();
    if (kind !== 'string' || end - start <= 2) return;
    this.#choiceIsFinished = true;
    this.#finishSpan = { start, end };
  }

  #delta(): void {
    const reader = this.#reader;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const { keyStart, keyEnd } = reader;
      if (metadataNames.find(this.#bytes, keyStart, keyEnd) !== null) reader.skip();
      else this.#output(deltaNames.find(this.#bytes, keyStart, keyEnd));
    }
  }

  #output(name: DeltaMember | null): void {
    const start = this.#reader.at;
    if (this.#bytes[start] === 0x22) this.#text();
    else this.#textsWithin();
    if (!isFilled(this.#bytes, start, this.#reader.at)) return;
    this.hasOutput = true;
    this.#outputs++;
    if (name === 'refusal') this.hasRefusal = true;
    if (name === 'tool_calls' || name === 'function_call') this.hasToolCalls = true;
  }

  #text(): void {
    const start = this.#reader.at;
    const end = this.#reader.skip();
    if (end - start <= 2) return;
    this.outputBytes += writtenBytes(this.#bytes, start, end);
    this.#textSpan = { start, end };
    this.#texts++;
  }

  /** Texts the model wrote inside tool calls, lists of parts and sound. */
  #textsWithin(): void {
    const reader = this.#reader;
    if (reader.kind === 'array') {
      reader.enterArray();
      while (reader.nextElement()) this.#textsWithin();
      return;
    }
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const isText = textNames.find(this.#bytes, reader.keyStart, reader.keyEnd) !== null;
      if (isText && this.#bytes[reader.at] === 0x22) this.#text();
      else this.#textsWithin();
    }
  }

  #nestedUsage(): void {
    const reader = this.#reader;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      if (usageName.find(this.#bytes, reader.keyStart, reader.keyEnd) !== null) this.#usage(2);
      else reader.skip();
    }
  }

  #usage(rank: number): void {
    const reader = this.#reader;
    const kind = reader.kind;
    const start = reader.at;
    const end = reader.skip();
    if (kind !== 'object' || rank < this.#usageRank) return;
    this.#usageRank = rank;
    this.#usageSpan = { start, end };
  }
}

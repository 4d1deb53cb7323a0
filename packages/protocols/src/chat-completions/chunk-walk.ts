import type { TextSpan } from '../bytes/frame-template.ts';
import { JsonReader } from '../bytes/json-reader.ts';
import { skipSpace } from '../bytes/json-skip.ts';
import { decodeJson, decodeString, KeyNames } from '../bytes/key-names.ts';
import { writtenBytes } from '../bytes/output-bytes.ts';
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

/**
 * Walks one chunk of a stream, or one whole answer (whose `message` is read as a chunk's `delta` is), and notes where
 * things stand. Nothing is parsed but what is short: a stream passes through here frame by frame.
 */
export class ChunkWalk {
  readonly #reader = new JsonReader(new Uint8Array(0));
  #bytes: Uint8Array = new Uint8Array(0);
  #valueStart = 0;
  #textStart = 0;
  #textEnd = 0;
  /** Texts in the chunk, of which the last one's place is known. */
  #texts = 0;
  #outputs = 0;
  #paddingStart = 0;
  #paddingEnd = 0;
  #errorStart = 0;
  #errorEnd = 0;
  #usageStart = 0;
  #usageEnd = 0;
  /** How near to the top the usage found so far stands: 3 at the top, 0 for none. */
  #usageRank = 0;
  #modelStart = 0;
  #modelEnd = 0;
  #finishStart = 0;
  #finishEnd = 0;
  #choiceIndex = 0;
  #choiceIsFinished = false;

  /** Indexes of the choices in the chunk, by whether it says why they stopped. */
  readonly openChoices: number[] = [];
  readonly finishedChoices: number[] = [];
  /** Whether there is a list of choices, and how many are in it. */
  hasChoices = false;
  choices = 0;
  hasOutput = false;
  hasToolCalls = false;
  hasRefusal = false;
  outputBytes = 0;

  /** False when the bytes from `at` on are not exactly one JSON object. */
  walk(bytes: Uint8Array, at: number): boolean {
    this.#start(bytes, at);
    const reader = this.#reader;
    if (!reader.enterObject()) return false;
    while (reader.nextMember()) this.#member();
    return reader.isAtEnd();
  }

  /** The whole object, parsed. */
  get value(): unknown {
    return decodeJson(this.#bytes, this.#valueStart, this.#bytes.length);
  }

  /** The value of `error`; undefined when there is none, or nothing in it. */
  get error(): unknown {
    return this.#errorEnd === 0 ? undefined : decodeJson(this.#bytes, this.#errorStart, this.#errorEnd);
  }

  get hasError(): boolean {
    return this.#errorEnd !== 0;
  }

  /** The `usage` object, from wherever the server puts it; undefined when there is none. */
  get usage(): unknown {
    return this.#usageRank === 0 ? undefined : decodeJson(this.#bytes, this.#usageStart, this.#usageEnd);
  }

  get hasUsage(): boolean {
    return this.#usageRank !== 0;
  }

  /** The text of a chunk that has nothing else to say; null when it has, or has none. */
  get onlyText(): TextSpan | null {
    const isPlain = this.#outputs === 1 && this.#texts === 1 && this.#finishEnd === 0;
    return isPlain && !this.hasUsage && !this.hasError
      ? { start: this.#textStart, end: this.#textEnd }
      : null;
  }

  /** The random string some servers add to every chunk, so that its size tells nothing. */
  get padding(): TextSpan | null {
    return this.#paddingEnd === 0 ? null : { start: this.#paddingStart, end: this.#paddingEnd };
  }

  get model(): string | null {
    return this.#modelEnd === 0 ? null : decodeString(this.#bytes, this.#modelStart, this.#modelEnd);
  }

  /** The server's own word; null when there is none yet, or a blank one. */
  get finishReason(): string | null {
    return this.#finishEnd === 0 ? null : decodeString(this.#bytes, this.#finishStart, this.#finishEnd);
  }

  #start(bytes: Uint8Array, at: number): void {
    this.#bytes = bytes;
    this.#valueStart = at;
    this.#reader.reset(bytes, at);
    this.#texts = 0;
    this.#outputs = 0;
    this.#paddingEnd = 0;
    this.#errorEnd = 0;
    this.#usageRank = 0;
    this.#modelEnd = 0;
    this.#finishEnd = 0;
    this.openChoices.length = 0;
    this.finishedChoices.length = 0;
    this.hasChoices = false;
    this.choices = 0;
    this.hasOutput = false;
    this.hasToolCalls = false;
    this.hasRefusal = false;
    this.outputBytes = 0;
  }

  #member(): void {
    const name = answerNames.find(this.#bytes, this.#reader.keyStart, this.#reader.keyEnd);
    if (name === null) this.#reader.skip();
    else if (name === 'choices') this.#eachChoice();
    else if (name === 'usage') this.#usage(3);
    else if (name === 'x_groq') this.#nestedUsage();
    else this.#note(name);
  }

  #note(name: 'model' | 'error' | 'obfuscation'): void {
    const start = this.#reader.at;
    const end = this.#reader.skip();
    if (end === -1 || !isFilled(this.#bytes, start, end)) return;
    if (name === 'model') {
      this.#modelStart = start;
      this.#modelEnd = end;
    } else if (name === 'error') {
      this.#errorStart = start;
      this.#errorEnd = end;
    } else if (this.#bytes[start] === 0x22) {
      this.#paddingStart = start;
      this.#paddingEnd = end;
    }
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
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = choiceNames.find(this.#bytes, reader.keyStart, reader.keyEnd);
      if (name === null) reader.skip();
      else if (name === 'usage') this.#usage(1);
      else if (name === 'finish_reason') this.#finish();
      else if (name === 'index') this.#index();
      else this.#delta();
    }
    (this.#choiceIsFinished ? this.finishedChoices : this.openChoices).push(this.#choiceIndex);
  }

  /** Where a server gives no number, the choice's place in the chunk is its index. */
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
    this.#finishStart = start;
    this.#finishEnd = end;
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
    this.#textStart = start;
    this.#textEnd = end;
    this.#texts++;
  }

  /** What the model wrote inside tool calls, lists of parts and sound. */
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
    this.#usageStart = start;
    this.#usageEnd = end;
  }
}

/** Whether a value is more than null, false, a number, `""`, `[]` or `{}`. */
function isFilled(bytes: Uint8Array, start: number, end: number): boolean {
  switch (bytes[start]) {
    case 0x22:
      return end - start > 2;
    case 0x5b:
    case 0x7b:
      return skipSpace(bytes, start + 1) < end - 1;
    default:
      return false;
  }
}

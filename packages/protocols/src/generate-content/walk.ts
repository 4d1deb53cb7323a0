import {
  decodeJson,
  decodeSpan,
  isFilled,
  KeyNames,
  type TextSpan,
  writtenBytes,
} from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import { stringOf } from '../wire-values.ts';
import { answerMembers, candidateMembers, partMembers, usageMembers } from './wire.ts';

const answerNames = new KeyNames(answerMembers);
const candidateNames = new KeyNames(candidateMembers);
const usageNames = new KeyNames(usageMembers);
const contentNames = new KeyNames(['parts']);
const partNames = new KeyNames(partMembers);

/**
 * Walks one chunk of a stream, or one whole answer, which are the same object here, and notes where things stand. Nothing
 * is parsed but what is short: pictures pass through here, and streams chunk by chunk.
 */
export class ChunkWalk {
  /** The bytes are exactly one JSON object. */
  readonly isWhole: boolean;
  readonly #reader: JsonReader;
  readonly #spans = new Map<'promptFeedback' | 'modelVersion' | 'error', TextSpan>();
  readonly #bytes: Uint8Array;
  readonly #start: number;
  #finish: TextSpan | null = null;
  #usage: TextSpan | null = null;
  #grounding: TextSpan | null = null;
  #text: TextSpan | null = null;
  #outputs = 0;

  /** Indexes of the candidates in the chunk, by whether it says why they stopped. */
  readonly openCandidates: number[] = [];
  readonly finishedCandidates: number[] = [];
  hasCandidates = false;
  hasOutput = false;
  hasCalls = false;
  outputBytes = 0;
  /** Usage is there and counts something; the others tell which parts of the output it counts. */
  hasCounts = false;
  countsCandidates = false;
  countsThoughts = false;

  constructor(bytes: Uint8Array, at: number) {
    const reader = new JsonReader(bytes, at);
    this.#bytes = bytes;
    this.#start = at;
    this.#reader = reader;
    const isObject = reader.enterObject();
    while (isObject && reader.nextMember()) this.#member();
    this.isWhole = isObject && reader.isAtEnd();
  }

  /** The whole object, parsed, where it is short. */
  get value(): unknown {
    return decodeSpan(this.#bytes, { start: this.#start, end: this.#bytes.length });
  }

  get hasUsage(): boolean {
    return this.#usage !== null;
  }

  get usageSpan(): TextSpan | null {
    return this.#usage;
  }

  /** The text of a chunk that has nothing else to say but counts, behind it; null when it has, or has none. */
  get onlyText(): TextSpan | null {
    const isPlain = this.#outputs === 1 && this.#finish === null && this.error === undefined;
    const isFirst = this.#usage === null || (this.#text !== null && this.#text.end < this.#usage.start);
    return isPlain && isFirst ? this.#text : null;
  }

  /** The usage as it stands in the chunk, in bytes of its own: the chunk's buffer is much larger and must not be kept. */
  get usageBytes(): Uint8Array {
    return this.#usage === null ? new Uint8Array(0) : this.#bytes.slice(this.#usage.start, this.#usage.end);
  }

  /** Undefined when there is none. */
  get error(): unknown {
    return decodeSpan(this.#bytes, this.#spans.get('error'));
  }

  /** Undefined when there is none. */
  get promptFeedback(): unknown {
    return decodeSpan(this.#bytes, this.#spans.get('promptFeedback'));
  }

  /** The searches behind the answer; undefined when the chunk tells of none. */
  get grounding(): unknown {
    return decodeSpan(this.#bytes, this.#grounding);
  }

  get hasGrounding(): boolean {
    return this.#grounding !== null;
  }

  get model(): string | null {
    return stringOf(decodeSpan(this.#bytes, this.#spans.get('modelVersion'))) || null;
  }

  /** The server's own word; null when there is none yet. */
  get finishReason(): string | null {
    return stringOf(decodeSpan(this.#bytes, this.#finish));
  }

  #member(): void {
    const name = answerNames.find(this.#bytes, this.#reader.keyStart, this.#reader.keyEnd);
    if (name === 'candidates') return this.#eachCandidate();
    if (name === 'usageMetadata') return this.#counts();
    const start = this.#reader.at;
    const end = this.#reader.skip();
    if (name !== null && isFilled(this.#bytes, start, end)) this.#spans.set(name, { start, end });
  }

  #counts(): void {
    const reader = this.#reader;
    const start = reader.at;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = usageNames.find(this.#bytes, reader.keyStart, reader.keyEnd);
      const isCount = name !== null && reader.kind === 'number';
      reader.skip();
      if (!isCount) continue;
      this.hasCounts = true;
      if (name === 'candidatesTokenCount') this.countsCandidates = true;
      if (name === 'thoughtsTokenCount') this.countsThoughts = true;
    }
    this.#usage = { start, end: reader.at };
  }

  #eachCandidate(): void {
    const reader = this.#reader;
    if (!reader.enterArray()) return;
    while (reader.nextElement()) {
      this.hasCandidates = true;
      this.#candidate();
    }
  }

  /** If there is no number, the candidate is the first one: zero is left out. */
  #candidate(): void {
    const reader = this.#reader;
    let index = 0;
    let isFinished = false;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = candidateNames.find(this.#bytes, reader.keyStart, reader.keyEnd);
      const start = reader.at;
      if (name === 'content') this.#content();
      else reader.skip();
      if (name === 'groundingMetadata' && isFilled(this.#bytes, start, reader.at))
        this.#grounding = { start, end: reader.at };
      if (name === 'index') index = numberIn(this.#bytes, start, reader.at);
      if (name !== 'finishReason' || !isFilled(this.#bytes, start, reader.at)) continue;
      isFinished = true;
      this.#finish = { start, end: reader.at };
    }
    (isFinished ? this.finishedCandidates : this.openCandidates).push(index);
  }

  #content(): void {
    const reader = this.#reader;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const isParts = contentNames.find(this.#bytes, reader.keyStart, reader.keyEnd) !== null;
      if (!isParts) reader.skip();
      else if (reader.enterArray()) while (reader.nextElement()) this.#part();
    }
  }

  #part(): void {
    const reader = this.#reader;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = partNames.find(this.#bytes, reader.keyStart, reader.keyEnd);
      const start = reader.at;
      const end = reader.skip();
      if (end !== -1 && isFilled(this.#bytes, start, end)) this.#output(name, start, end);
    }
  }

  #output(name: ReturnType<typeof partNames.find>, start: number, end: number): void {
    switch (name) {
      case 'thought':
      case 'thoughtSignature':
      case 'videoMetadata':
      case 'mediaResolution':
      case 'partMetadata':
        return;
      case 'text':
        this.outputBytes += writtenBytes(this.#bytes, start, end);
        this.#text = { start, end };
        break;
      case 'functionCall':
        this.hasCalls = true;
        this.outputBytes += end - start;
        break;
      case 'inlineData':
        // Its bytes say nothing about its tokens.
        break;
      case null:
        this.outputBytes += end - start;
        break;
    }
    this.hasOutput = true;
    this.#outputs++;
  }
}

function numberIn(bytes: Uint8Array, start: number, end: number): number {
  const value = decodeJson(bytes, start, end);
  return typeof value === 'number' ? value : 0;
}

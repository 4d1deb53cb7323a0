import { JsonReader } from '../bytes/json-reader.ts';
import { skipSpace } from '../bytes/json-skip.ts';
import { decodeJson, decodeString, KeyNames } from '../bytes/key-names.ts';
import { writtenBytes } from '../bytes/output-bytes.ts';
import { answerMembers, candidateMembers, partMembers, usageMembers } from './wire.ts';

const answerNames = new KeyNames(answerMembers);
const candidateNames = new KeyNames(candidateMembers);
const usageNames = new KeyNames(usageMembers);
const contentNames = new KeyNames(['parts']);
const partNames = new KeyNames(partMembers);

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Walks one chunk of a stream, or one whole answer, which are the same object here, and notes where things stand. Nothing
 * is parsed but what is short: pictures pass through here, and streams chunk by chunk.
 */
export class ChunkWalk {
  readonly #reader = new JsonReader(new Uint8Array(0));
  readonly #spans = new Map<'promptFeedback' | 'modelVersion' | 'error', Span>();
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #finish: Span | null = null;
  #usage: Span | null = null;

  /** Indexes of the candidates in the chunk, by whether it says why they stopped. */
  readonly openCandidates: number[] = [];
  readonly finishedCandidates: number[] = [];
  hasCandidates = false;
  hasOutput = false;
  hasCalls = false;
  outputBytes = 0;
  /** Whether usage is there and counts anything, and which parts of the output it counts. */
  hasCounts = false;
  countsCandidates = false;
  countsThoughts = false;

  /** False when the bytes from `at` on are not exactly one JSON object. */
  walk(bytes: Uint8Array, at: number): boolean {
    this.#reset(bytes, at);
    const reader = this.#reader;
    if (!reader.enterObject()) return false;
    while (reader.nextMember()) this.#member();
    return reader.isAtEnd();
  }

  /** The whole object, parsed. */
  get value(): unknown {
    return decodeJson(this.#bytes, this.#start, this.#bytes.length);
  }

  get hasUsage(): boolean {
    return this.#usage !== null;
  }

  /** The usage as it stands in the chunk, in bytes of its own: the chunk's buffer is much larger and must not be kept. */
  get usageBytes(): Uint8Array {
    return this.#usage === null ? new Uint8Array(0) : this.#bytes.slice(this.#usage.start, this.#usage.end);
  }

  /** Undefined when there is none. */
  get error(): unknown {
    return this.#valueOf('error');
  }

  /** Undefined when there is none. */
  get promptFeedback(): unknown {
    return this.#valueOf('promptFeedback');
  }

  get model(): string | null {
    const model = this.#valueOf('modelVersion');
    return typeof model === 'string' && model !== '' ? model : null;
  }

  /** The server's own word; null when there is none yet. */
  get finishReason(): string | null {
    return this.#finish === null ? null : decodeString(this.#bytes, this.#finish.start, this.#finish.end);
  }

  #valueOf(name: 'promptFeedback' | 'modelVersion' | 'error'): unknown {
    const span = this.#spans.get(name);
    return span === undefined ? undefined : decodeJson(this.#bytes, span.start, span.end);
  }

  #reset(bytes: Uint8Array, at: number): void {
    this.#bytes = bytes;
    this.#start = at;
    this.#reader.reset(bytes, at);
    this.#spans.clear();
    this.#finish = null;
    this.#usage = null;
    this.hasCounts = false;
    this.countsCandidates = false;
    this.countsThoughts = false;
    this.openCandidates.length = 0;
    this.finishedCandidates.length = 0;
    this.hasCandidates = false;
    this.hasOutput = false;
    this.hasCalls = false;
    this.outputBytes = 0;
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

  /** Where there is no number, the candidate is the first one: zero is left out. */
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
  }
}

function numberIn(bytes: Uint8Array, start: number, end: number): number {
  const value = decodeJson(bytes, start, end);
  return typeof value === 'number' ? value : 0;
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

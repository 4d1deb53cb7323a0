import { type AnswerReading, type Reading, totalOutput } from '@headgate/protocols';
import type { Wire } from '../catalogue/wire.ts';
import { type HeaderList, uncountedBytesMax } from '../ports/data-plane.ts';
import type { AnswerJob } from '../ports/gateway.ts';
import type { Outcome } from '../route/outcomes.ts';
import { unmarked } from './detours/odd-answer.ts';
import { heldFor, isBlank, markFirst, noBytes, nothingMended, type Relay, refusedAs } from './relay.ts';
import type { Errand } from './request.ts';

const announcedBytesMax = 4 * 1024 * 1024;
/** Longer answers are read in another thread. Bytes. */
const readHereMax = 1024 * 1024;

/**
 * A JSON answer. It is held until it is whole, so that an error inside a 200, a page of HTML or a body that breaks off can
 * still be given to another channel, and so that its entry is durable before the caller sees its last byte.
 */
export class WholeRelay implements Relay {
  readonly committed = false;
  readonly callerIsSlow = false;
  reading: Reading | null = null;
  hasContent = false;
  mends = nothingMended;
  ending: Relay['ending'] = null;
  readonly #errand: Errand;
  readonly #wire: Wire;
  readonly #headers: HeaderList;
  heldBytes = 0;
  isLong = false;
  protected readonly readHereMax: number = readHereMax;
  readonly #isCrowded: boolean;
  /** Exactly as long as the body where that was announced. */
  #place: Uint8Array;
  #length = 0;

  /** @param announced what an upstream says of the body's length is believed up to a size. */
  constructor(errand: Errand, wire: Wire, headers: HeaderList, announced: number) {
    this.#errand = errand;
    this.#wire = wire;
    this.#headers = headers;
    // Several large answers may begin together. Some are given room whole: bit by bit, all would be refused in the middle.
    this.#isCrowded = announced <= errand.limits.answerBytesMax && !this.#hasRoom(announced);
    const isBelieved = announced > 0 && announced <= announcedBytesMax && !this.#isCrowded;
    this.#place = isBelieved ? Buffer.allocUnsafe(announced) : noBytes;
  }

  read(chunk: Uint8Array): Outcome | null {
    const length = this.#length + chunk.length;
    if (this.#isCrowded || (length > uncountedBytesMax && !this.#hasRoom(length)))
      return { kind: 'crowded', committed: false, reading: null };
    if (this.gather(chunk) <= this.#errand.limits.answerBytesMax) return null;
    return refusedAs('garbled', 'the answer is larger than allowed');
  }

  end(): Outcome {
    const body = this.#plainBody();
    const { inbound } = this.#errand;
    const answer = this.#wire.protocol.readAnswer(body, this.#wire.asked.dialect, inbound.work);
    return this.#outcomeOf(answer, body, null);
  }

  endElsewhere(done: (read: () => Outcome) => void): void {
    const { inbound, gateway, accountId } = this.#errand;
    const { protocol, asked } = this.#wire;
    const body = this.#plainBody();
    const { translation } = this;
    const job = { upstream: protocol.id, dialect: asked.dialect, work: inbound.work, translation };
    gateway.translator.readAnswer(accountId, job, body, (read) => {
      // The upstream has been paid: it is read here rather than not at all.
      const outcome = () =>
        this.judged(read === null ? this.end() : this.#outcomeOf(read.answer, body, read.bytes));
      done(outcome);
    });
  }

  /** All that is needed to put it into the caller's words; null where it is in them. */
  protected get translation(): AnswerJob['translation'] {
    return null;
  }

  protected judged(outcome: Outcome): Outcome {
    return outcome;
  }

  #plainBody(): Uint8Array {
    const body = this.body[0] === markFirst ? unmarked(this.body) : this.body;
    if (body.length < this.#length) this.mends = ['byte-order-mark'];
    return body;
  }

  /** `translated` is null where it has not been yet. */
  #outcomeOf(answer: AnswerReading, body: Uint8Array, translated: Uint8Array | null): Outcome {
    if (answer.kind === 'refusal') return { kind: 'refused', refusal: answer.refusal, retryAfterMs: null };
    // Even a well-formed one is not what was asked for.
    if (this.#errand.request.facts.stream)
      return refusedAs('garbled', 'a whole answer where a stream was asked for');
    const { reading } = answer;
    const hasCounts = reading.usage !== null && totalOutput(reading.usage) > 0;
    if (isBlank(reading) && !hasCounts) return refusedAs('blank', 'an empty answer');
    this.reading = reading;
    this.hasContent = reading.hasOutput;
    this.ending = { kind: 'answered', headers: this.#headers, bytes: translated ?? this.toCaller(body) };
    return { kind: 'answered', reading };
  }

  /** The body as the caller gets it. */
  protected toCaller(body: Uint8Array): Uint8Array {
    return body;
  }

  /** Memory is asked for in steps that double. */
  #hasRoom(bytes: number): boolean {
    const held = heldFor(bytes, this.heldBytes, this.#errand.inbound.memory);
    this.heldBytes = held ?? this.heldBytes;
    return held !== null;
  }

  /** The length of what has come, with this piece. */
  protected gather(piece: Uint8Array): number {
    const length = this.#length + piece.length;
    if (length > this.#place.length) {
      // A large one gets all of its room at once: the system gives only pages that are written to, and another copy would hold the loop.
      const room = length > announcedBytesMax ? this.#errand.limits.answerBytesMax : 2 * this.#place.length;
      const larger = Buffer.allocUnsafe(Math.max(length, room));
      larger.set(this.body);
      this.#place = larger;
    }
    this.#place.set(piece, this.#length);
    this.#length = length;
    this.isLong = length > this.readHereMax;
    return length;
  }

  protected get body(): Uint8Array {
    return this.#length === this.#place.length ? this.#place : this.#place.subarray(0, this.#length);
  }
}

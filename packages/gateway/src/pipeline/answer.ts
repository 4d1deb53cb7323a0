import {
  type Dialect,
  type Reading,
  totalOutput,
  type UpstreamRefusal,
  type Work,
} from '@headgate/protocols';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { HeaderList, Reply } from '../ports/data-plane.ts';
import type { Lane } from './lane.ts';

/**
 * The end of an answer, kept back until its entry is durable: `whole` is a head and a body of which nothing has been
 * sent, `tail` the last bytes of a stream whose head and content the caller already has.
 */
export type Ending =
  | { readonly kind: 'whole'; readonly headers: HeaderList; readonly bytes: Uint8Array }
  | { readonly kind: 'tail'; readonly bytes: Uint8Array };

/** What reading an answer needs to know about the call and the target it came from. */
export interface AnswerContext {
  readonly work: Work;
  readonly lane: Lane;
  readonly dialect: Dialect;
  readonly reply: Reply;
  /** Sent to the caller with status 200, if it comes to that. */
  readonly headers: HeaderList;
  readonly bytesMax: number;
  /** Of one event of a stream. */
  readonly frameBytesMax: number;
  /** Answers the caller asked for. */
  readonly choices: number;
  /** Whether the caller asked to see the frame that only reports usage. */
  readonly wantsUsageFrame: boolean;
}

/** Reads the body of one answer as it comes, and relays what may be relayed. */
export interface Answer {
  /** Takes the next bytes. The attempt's outcome, once they decide it. */
  read(chunk: Uint8Array): Outcome | null;
  /** The upstream has ended the body. */
  end(): Outcome;
  /** What has been metered so far; null before anything could be. */
  readonly reading: Reading | null;
  /** Whether the model's own words have come, as against pings and roles. */
  readonly hasContent: boolean;
  /** Whether bytes of this answer have been handed to the caller. */
  readonly committed: boolean;
  /** Whether the caller's connection is full: reading must pause until it is writable. */
  readonly callerIsSlow: boolean;
  /** What is left to send after an outcome `answered`; null otherwise. */
  readonly ending: Ending | null;
}

/** The outcome of an answer that is not of the protocol (`garbled`), or that says nothing at all (`blank`). */
export function refusedAs(kind: 'garbled' | 'blank', message: string): Outcome {
  const refusal: UpstreamRefusal = {
    kind,
    status: 200,
    message,
    type: null,
    code: null,
    param: null,
  };
  return { kind: 'refused', refusal, retryAfterMs: null };
}

/** No output and no word on why it stopped: an answer in form only, which another channel may do better. */
export function isBlank(reading: Reading): boolean {
  const usedOutput = reading.usage !== null && totalOutput(reading.usage) > 0;
  return !reading.hasOutput && !usedOutput && reading.finishReason === null;
}

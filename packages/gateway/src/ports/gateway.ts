import type {
  AnswerParts,
  AnswerReading,
  Dialect,
  Fault,
  MediaByUrl,
  Protocol,
  ProtocolId,
  RequestInput,
  Result,
  TranslationTarget,
  Turn,
  Work,
  WriterContext,
  WrittenTurn,
} from '@headgate/protocols';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Wires } from '../catalogue/wire.ts';
import type { Router } from '../route/router.ts';
import type { Clock, TimeOuts } from './clock.ts';
import type { MemoryShare } from './data-plane.ts';
import type { Holds } from './holds.ts';
import type { Ledger } from './ledger.ts';
import type { Observer } from './observer.ts';

/** Bounds of a call. All times in milliseconds, all sizes in bytes. */
export interface CallLimits {
  readonly firstContentMs: number;
  /** First content for models that think before they speak. */
  readonly firstContentReasoningMs: number;
  /** A whole JSON answer, from request to last byte. */
  readonly wholeAnswerMs: number;
  /** Silence between two chunks of an answer that has begun. */
  readonly stallMs: number;
  /** Silence towards a caller who waits for a stream, until it is told that the call lives. */
  readonly keepAliveMs: number;
  /** The whole call, all attempts together. */
  readonly callMs: number;
  /** Reading an answer on to its usage whose caller has left. */
  readonly hangUpMs: number;
  /** A JSON answer, a stream that is translated, or the frames of one that are held back before first content. */
  readonly answerBytesMax: number;
  /** One event of an upstream's stream. */
  readonly frameBytesMax: number;
  /** Attempts of one call; what is refused at once counts half. */
  readonly attemptsMax: number;
  /** A call older than this gets its `open` row. */
  readonly openRowAfterMs: number;
}

/** Calls wait here until a channel may be asked. Each holds its request in memory, so their number has a bound. */
export interface WaitingPlaces {
  readonly isFull: boolean;
  /**
   * Calls back when the time is over, and no later than the process may wait; `over` never throws.
   * @returns leaves before that: then `over` is not called.
   */
  wait(waitMs: number, over: () => void): () => void;
}

/** An answer that is read on to its usage, although its caller has left. */
export interface ReadOn {
  letGo(kind: 'caller-gone'): void;
}

/** The answers that are read on; see `HangUps`. */
export interface HangUpPlaces {
  /** False when there is no room for another one. */
  begin(answer: ReadOn): boolean;
  end(answer: ReadOn): void;
}

/** How long the answers to a key by a model are, in tokens each, as far as that is known. */
export interface UsualOutputs {
  note(keyId: string, modelId: string, tokens: number): void;
  /** One in a hundred is longer; null while too little is known. */
  usualMax(keyId: string, modelId: string): number | null;
}

/** Everything a call needs from the outside, put together once in main.ts. */
export interface Gateway {
  /** The snapshot in force; read once per call. */
  readonly catalogue: { readonly current: Catalogue };
  readonly protocols: Readonly<Partial<Record<ProtocolId, Protocol>>>;
  readonly router: Pick<Router, 'isForeign' | 'route' | 'hedge' | 'attempt' | 'hasRoom'>;
  readonly ledger: Ledger;
  readonly holds: Holds;
  readonly usualOutputs: UsualOutputs;
  readonly wires: Wires;
  readonly media: MediaFetcher;
  readonly tokens: TokenCounter;
  readonly translator: Translator;
  readonly observer: Observer;
  readonly watchdog: TimeOuts;
  readonly waitingRoom: WaitingPlaces;
  readonly hangUps: HangUpPlaces;
  readonly clock: Clock;
  readonly limits: CallLimits;
  /** A request for a service tier, a region or a tool without a price is refused, or billed as if it were the standard. */
  readonly unpricedTerms: 'refuse' | 'standard';
}

/** Counts the tokens of a prompt where no upstream does. */
export interface TokenCounter {
  /** An estimate for a request's body, in tokens, `by` an account; null when none can be made now. Never rejects. */
  count(body: Uint8Array, by: string): Promise<number | null>;
}

/** One protocol in which a target may be asked. */
export interface WayJob {
  readonly protocol: ProtocolId;
  readonly target: TranslationTarget;
}

/** A request to be translated in another thread; its body goes beside it. */
export interface TranslationJob {
  readonly surface: ProtocolId;
  readonly input: Omit<RequestInput, 'body' | 'header'>;
  readonly ways: readonly WayJob[];
  readonly fetched: MediaByUrl;
  readonly context: Omit<WriterContext, 'turn'>;
}

/**
 * The end of such a job. `turn`: the request without its conversation, of which only what must be fetched is left · `order`: the ways by
 * their places, as they are to be tried · `written`: the requests of the first ones, up to one that can be sent, or before one
 * for which something has to be fetched first.
 */
export type TranslatedAway = Result<
  {
    readonly turn: Omit<Turn, 'surface'>;
    readonly order: readonly number[];
    readonly written: readonly { readonly place: number; readonly result: Result<WrittenTurn, Fault> }[];
  },
  Fault
>;

/** A whole answer to be read in another thread, and translated where it was asked for in another protocol; its body goes beside it. */
export interface AnswerJob {
  readonly upstream: ProtocolId;
  readonly dialect: Dialect;
  readonly work: Work;
  readonly translation: AnswerParts | null;
}

/** The end of such a job; `bytes` are the answer as its caller gets it, null where that is the upstream's own. */
export interface AnswerAway {
  readonly answer: AnswerReading;
  readonly bytes: Uint8Array | null;
}

/** Translates what would hold the event loop. */
export interface Translator {
  /**
   * Calls back, not within this call, with what came of it; with null where nothing did, as there is no room for one more. `by`:
   * whose request it is; each one's come in turn.
   * @returns lets go of it: then `done` is not called, and the body is not read any more.
   */
  translate(
    by: string,
    job: TranslationJob,
    body: Uint8Array,
    done: (result: TranslatedAway | null) => void,
  ): () => void;
  /** The same of a whole answer; null also where it has more parts than are read. */
  readAnswer(by: string, job: AnswerJob, body: Uint8Array, done: (result: AnswerAway | null) => void): void;
}

/**
 * Why something cannot be had. `unreachable` is also what leads to an address that may not be connected to: a caller must
 * not learn from the difference which names exist in networks it cannot see.
 */
export type MediaProblem =
  | { readonly kind: 'not-a-url' | 'unreachable' | 'timed-out' | 'redirected' | 'wrong-type' }
  | { readonly kind: 'too-large' | 'too-many' | 'busy' | 'crowded' }
  | { readonly kind: 'refused'; readonly status: number };

export interface MediaFailure {
  readonly url: string;
  readonly problem: MediaProblem;
}

/** Fetches what callers name by URL, for upstreams that want the content itself. */
export interface MediaFetcher {
  /**
   * All of them, or the first failure. Never rejects, takes no longer than `withinMs`, and lets go of all when told to. What it
   * holds is counted to `memory`.
   */
  fetch(
    urls: readonly string[],
    withinMs: number,
    signal: AbortSignal,
    memory: MemoryShare,
  ): Promise<Result<MediaByUrl, MediaFailure>>;
}

import type { Protocol, ProtocolId } from '@headgate/protocols';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Wires } from '../catalogue/wire.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { MediaFetcher } from '../ports/media-fetcher.ts';
import type { Observer } from '../ports/observer.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { Router } from '../route/plan.ts';
import type { WaitingRoom } from './detours/wait.ts';
import type { Watchdog } from './watchdog.ts';

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
  /** A JSON answer, a stream that is translated, or the frames of one that are held back before first content. */
  readonly answerBytesMax: number;
  /** One event of an upstream's stream. */
  readonly frameBytesMax: number;
  /** Attempts of one call; what is refused at once counts half. */
  readonly attemptsMax: number;
  /** A call older than this gets its `open` row. */
  readonly openRowAfterMs: number;
}

/** Everything a call needs from the outside, put together once in main.ts. */
export interface Gateway {
  /** The snapshot in force; read once per call. */
  readonly catalogue: { readonly current: Catalogue };
  readonly protocols: Readonly<Partial<Record<ProtocolId, Protocol>>>;
  readonly router: Router;
  readonly ledger: Ledger;
  readonly wires: Wires;
  readonly media: MediaFetcher;
  readonly tokens: TokenCounter;
  readonly observer: Observer;
  readonly watchdog: Watchdog;
  readonly waitingRoom: WaitingRoom;
  readonly clock: Clock;
  readonly limits: CallLimits;
  /** A model without a price is refused, or served unbilled, its entry saying so. */
  readonly unpricedModels: 'refuse' | 'serve';
}

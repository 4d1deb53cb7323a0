import type { ServiceChange } from '../route/attempt.ts';
import type { CallEntry } from './ledger.ts';

/** Hears what happens as it happens, for people who look on. Costs next to nothing while nobody does; never throws, never waits. */
export interface LiveSink {
  /** False while nobody looks on: then nothing else is called for a call. */
  readonly isWatched: boolean;
  callEnded(entry: CallEntry): void;
  serviceChanged(change: ServiceChange, channelId: string, upstreamModel: string): void;
}

import type { CallEntry } from './ledger.ts';

/** Things an operator should hear of, by name. */
export type AlertKind =
  | 'bug'
  | 'credential-refused'
  | 'ledger-conflict'
  | 'ledger-unavailable'
  | 'model-missing-upstream'
  | 'unpriced-model';

/** Who watches calls from outside the hot path: logs and metrics. Never throws, never waits. */
export interface Observer {
  callStarted(): void;
  /** Also called for calls the ledger could not take. */
  callFinished(entry: CallEntry): void;
  /** `detail` is private: it goes to the log, never to a caller. */
  alert(kind: AlertKind, detail: Readonly<Record<string, string | number>>): void;
}

import type { CallEntry, CallStatus } from './ledger.ts';

/** Which entries to export; what is left out does not restrict. */
export interface EntryFilter {
  readonly accountId?: string;
  readonly keyId?: string;
  readonly channelId?: string;
  /** A channel that was tried, whether or not it answered. */
  readonly triedChannelId?: string;
  readonly model?: string;
  /** The caller's own label. */
  readonly tag?: string;
  readonly status?: CallStatus;
  /** Start of the call; inclusive. */
  readonly fromMs?: number;
  /** Start of the call; exclusive. */
  readonly toMs?: number;
}

/** An entry as the operator sees it, those included that have not ended or were cut off by a crash. */
export interface LedgerRecord extends Omit<CallEntry, 'status' | 'finishedAtMs'> {
  readonly status: CallStatus;
  readonly finishedAtMs: number | null;
}

import type { FinishReason, ProtocolId, Usage, UsageTerms } from '@headgate/protocols';
import type { NanoUsd } from '../money/money.ts';

export type CallStatus =
  | 'open'
  | 'complete'
  | 'failed'
  | 'timed_out'
  | 'caller_gone'
  /** A stream that was ended in its midst, because its caller has no more to spend. */
  | 'limit_reached'
  | 'interrupted';

/** Why a call was not billed. */
export type UnbilledReason =
  | 'zero_completion'
  | 'upstream_failed'
  | 'cut_after_content'
  | 'timed_out'
  | 'caller_gone_before_content'
  | 'refused_by_gateway'
  | 'refused_by_upstream'
  | 'unpriced_model'
  | 'ledger_failed'
  | 'token_count'
  | 'interrupted';

export type UsageSource = 'upstream' | 'estimated' | 'none';

export type Lane = 'passthrough' | 'translate';

export type AttemptResult =
  | 'answered'
  | 'refused'
  | 'unreachable'
  | 'timed_out'
  | 'cut_before_content'
  | 'cut_after_content'
  | 'caller_gone'
  | 'limit_reached'
  /** Another attempt was sent beside it and decided the call. */
  | 'aborted';

/** One request sent to one target. Amounts are what the upstream charges us. */
export interface AttemptEntry {
  /** 1 for the first. */
  readonly n: number;
  readonly channelId: string;
  readonly upstreamModel: string;
  readonly upstreamRequestId: string | null;
  readonly result: AttemptResult;
  /** Private detail for the operator: refusal kind, failure kind, upstream's words (bounded). */
  readonly detail: string | null;
  readonly httpStatus: number | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly usage: Usage | null;
  /** Null where something was used and nobody knows what it costs. */
  readonly costNanoUsd: NanoUsd | null;
  readonly lane: Lane;
  readonly edits: readonly string[];
  /** The cost as the upstream itself states it; null where it does not. */
  readonly statedCostNanoUsd: NanoUsd | null;
}

/** A part of a call that was priced by itself: what one of the models that served it used. */
export interface EntryPart {
  readonly priceVersion: string;
  readonly usage: Usage;
}

/** A call as it is known when it begins. */
export interface CallOpening {
  readonly traceId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly groupId: string;
  readonly surface: ProtocolId;
  readonly modelRequested: string;
  readonly stream: boolean;
  readonly startedAtMs: number;
  /** Null when the model has no price; then the entry says so. */
  readonly priceVersion: string | null;
  readonly multiplierPpm: bigint;
  readonly clientRequestId: string | null;
  readonly parentTrace: string | null;
  readonly userAgent: string | null;
  /** The caller's own label. */
  readonly tag: string | null;
}

/** The one entry of a call, billed or not. */
export interface CallEntry extends CallOpening {
  readonly status: Exclude<CallStatus, 'open' | 'interrupted'>;
  /** Null exactly when the call was billed. */
  readonly unbilledReason: UnbilledReason | null;
  readonly channelId: string | null;
  readonly modelServed: string | null;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  /** The parts that `usage` is the sum of, but for fees, where the upstream asked several models or one of them often; null where `priceVersion` prices it all. */
  readonly parts: readonly EntryPart[] | null;
  /** The price goes by these beside usage; null where all is as usual. */
  readonly terms: UsageTerms | null;
  readonly chargeNanoUsd: NanoUsd;
  /** The owners from whose leases the charge is taken: 1 account, 2 group, 4 key, summed; see `Hold`. */
  readonly leased: number;
  readonly finishReason: FinishReason | null;
  readonly finishReasonRaw: string | null;
  /** Status the caller saw; null when it left before any. */
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly losses: readonly string[];
  /** Milliseconds from the request's last byte to first content; null when none came. */
  readonly ttftMs: number | null;
  readonly durationMs: number;
  /** Microseconds of the call that were the gateway's own: from the request's last byte to the first byte sent upstream. */
  readonly overheadUs: number;
  readonly finishedAtMs: number;
  readonly attempts: readonly AttemptEntry[];
  /**
   * The reasons of the router's plans, as `encodeRoute` writes it; null when it was never asked. It names channels
   * and what they cost: for the operator alone.
   */
  readonly route: string | null;
}

/** `settled`: the entry is durable · `unavailable`: the ledger cannot be written. */
export type Settlement = 'settled' | 'unavailable';

/** Why no call may be taken: files of the store are not where they were, the disk is full, or writing fails in another way. */
export type LedgerTrouble = 'store-lost' | 'disk-full' | 'store-not-writable';

/** The ledger as the pipeline needs it. */
export interface Ledger {
  /** Notes a call that has lived a while; in the background, never waited for. */
  open(opening: CallOpening): void;
  /**
   * Makes an entry durable and calls `done` once, when it is or will not be; it may do so before it returns. Never throws.
   * Another entry of the same trace id is found later: the first one stands, and an alarm sounds.
   */
  settle(entry: CallEntry, done: (settlement: Settlement) => void): void;
  /** False when what is settled now would not be durable, or a write has been stuck for 2 s: then new calls are refused. */
  isWritable(): boolean;
  /** Entries that wait for a commit. */
  readonly waiting: number;
  /** Writes what is queued; for a drain. */
  flush(): Promise<void>;
}

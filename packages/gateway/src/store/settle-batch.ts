import type { Settlement } from '../ports/ledger.ts';
import type { Cell } from './call-row.ts';

/** Debit, credit, amount, reference. */
export type PostingRow = readonly [string, string, bigint, string];

/** One call to settle: its row in the order of `callColumns`, and its postings. */
export interface SettleRow {
  readonly call: readonly Cell[];
  readonly postings: readonly PostingRow[];
}

/** What one commit takes: calls that have begun, then calls that have ended. */
export interface Batch {
  readonly opens: readonly (readonly Cell[])[];
  readonly settles: readonly SettleRow[];
}

/**
 * `committed`: each call has its settlement, `unavailable` for one whose values the store refused, which `refusal` explains ·
 * `failed`: nothing of the batch was written. `stopped`: nor will anything be until a restart.
 */
export type BatchOutcome =
  | {
      readonly kind: 'committed';
      readonly settlements: readonly Settlement[];
      readonly refusal: string | null;
    }
  | { readonly kind: 'failed'; readonly stopped: boolean; readonly detail: string };

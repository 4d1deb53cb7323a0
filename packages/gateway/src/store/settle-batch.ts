import type { Settlement } from '../ports/ledger.ts';
import type { Cell } from './call-row.ts';

/** Cells of one posting: debit, credit, amount, reference. */
export const postingWidth = 4;

/**
 * One call to settle: its row in the order of `callColumns`, and behind it the cells of its postings. One flat array,
 * because objects and lists within lists cost twice as much to clone into the writer's thread.
 */
export type SettleRow = readonly Cell[];

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

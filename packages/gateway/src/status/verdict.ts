import { type ErrorCode, errorTable } from '@headgate/protocols';
import type { CallEntry } from '../ports/ledger.ts';
import { type Outcome, rowOf } from '../route/outcomes.ts';

/** A call's word on its model, or an attempt's on its channel; null where it says nothing. */
export type Verdict = 'good' | 'bad' | null;

/** A caller's own fault, its leaving and its limits say nothing of the model, nor does a count of tokens. */
export function verdictOnModel(entry: CallEntry, last: Outcome | undefined): Verdict {
  const { status, unbilledReason, errorCode } = entry;
  if (unbilledReason === 'token_count') return null;
  switch (status) {
    case 'complete':
      return 'good';
    case 'caller_gone':
    case 'limit_reached':
      return null;
    case 'failed':
    case 'timed_out':
      // Its caller's other calls held all the memory that they may.
      if (unbilledReason === 'refused_by_upstream' || last?.kind === 'crowded') return null;
      if (unbilledReason !== 'refused_by_gateway') return 'bad';
      return faultOf(errorCode) === 'caller' ? null : 'bad';
    default:
      return status satisfies never;
  }
}

function faultOf(code: string | null): 'caller' | 'gateway' | 'upstream' {
  // Entries have codes of the table alone.
  return code === null ? 'gateway' : errorTable[code as ErrorCode].fault;
}

/** A failure is the channel's even where another one saved the call. A model that it never had is the operator's matter. */
export function verdictOnChannel(outcome: Outcome): Verdict {
  const { kind } = rowOf(outcome).health;
  switch (kind) {
    case 'well':
      return 'good';
    case 'failed':
    case 'broke':
    case 'limited':
    case 'credential':
      return 'bad';
    case 'missing':
    case 'nothing':
      return null;
    default:
      return kind satisfies never;
  }
}

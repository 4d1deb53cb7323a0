import type { Fault, Reading, UpstreamRefusal } from '@headgate/protocols';

/** The end of one attempt. `committed`: a byte of its answer had been handed to the caller. */
export type Outcome =
  | { readonly kind: 'answered'; readonly reading: Reading }
  | { readonly kind: 'refused'; readonly refusal: UpstreamRefusal; readonly retryAfterMs: number | null }
  /** `sent`: the request may have reached the upstream all the same. */
  | { readonly kind: 'unreachable'; readonly detail: string; readonly sent: boolean }
  | {
      readonly kind: 'timed-out';
      readonly phase: 'connect' | 'first-content' | 'stall' | 'deadline';
      readonly committed: boolean;
      readonly reading: Reading | null;
    }
  /** Our own process had to stop and could wait no longer: no failure of the target. */
  | { readonly kind: 'shut-down'; readonly committed: boolean; readonly reading: Reading | null }
  /** The caller holds as much memory as it may, and there is no room for its answer: no failure of the target. */
  | { readonly kind: 'crowded'; readonly committed: boolean; readonly reading: Reading | null }
  /** A bug of ours: alerted where it was caught, and no failure of the target. */
  | { readonly kind: 'bug'; readonly committed: boolean; readonly reading: Reading | null }
  | {
      readonly kind: 'cut';
      readonly committed: boolean;
      readonly detail: string;
      readonly reading: Reading | null;
    }
  /** `producedTokens`: what a model that thinks unseen has most likely written by then, as its time and its usual pace tell. */
  | {
      readonly kind: 'caller-gone';
      readonly committed: boolean;
      readonly reading: Reading | null;
      readonly producedTokens?: number;
    }
  /** The caller may not take any more of its limits, as `fault` tells it. `producedTokens` as above. */
  | {
      readonly kind: 'over-limit';
      readonly committed: boolean;
      readonly reading: Reading | null;
      readonly producedTokens: number;
      readonly fault: Fault;
    }
  /** `outrun`: another attempt of the call has decided it. `unjoined`: it was to continue another's answer. We let go of this one. */
  | { readonly kind: 'outrun' | 'unjoined'; readonly reading: Reading | null };

/** One line of the table: an outcome, a refusal by its kind, and apart from them what had already reached the caller. */
export type OutcomeCase =
  | 'answered'
  | UpstreamRefusal['kind']
  | 'unreachable'
  | 'lost'
  | 'connect-timeout'
  | 'silent'
  | 'stalled'
  | 'stalled-after-content'
  | 'deadline'
  | 'cut'
  | 'cut-after-content'
  | 'caller-gone'
  | 'caller-gone-after-content'
  | 'over-limit'
  | 'over-limit-after-content'
  | 'shut-down'
  | 'shut-down-after-content'
  | 'crowded'
  | 'crowded-after-content'
  | 'bug'
  | 'bug-after-content'
  | 'unjoined'
  | 'outrun';

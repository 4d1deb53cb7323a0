import type { Reading, UpstreamRefusal } from '@headgate/protocols';

/** What came of one attempt. `committed`: a byte of its answer had been handed to the caller. */
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
  /** A bug of ours: alerted where it was caught, and no failure of the target. */
  | { readonly kind: 'bug'; readonly committed: boolean; readonly reading: Reading | null }
  | {
      readonly kind: 'cut';
      readonly committed: boolean;
      readonly detail: string;
      readonly reading: Reading | null;
    }
  | { readonly kind: 'caller-gone'; readonly committed: boolean; readonly reading: Reading | null }
  /** Another attempt of the call was under way beside it and has decided the call: we let go of this one. */
  | { readonly kind: 'outrun'; readonly reading: Reading | null };

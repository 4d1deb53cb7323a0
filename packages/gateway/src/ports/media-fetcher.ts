import type { MediaByUrl, Result } from '@headgate/protocols';

/**
 * Why something cannot be had. `unreachable` is also what leads to an address that may not be connected to: a caller must
 * not learn from the difference which names exist in networks it cannot see.
 */
export type MediaProblem =
  | { readonly kind: 'not-a-url' | 'unreachable' | 'timed-out' | 'redirected' | 'wrong-type' }
  | { readonly kind: 'too-large' | 'too-many' | 'busy' }
  | { readonly kind: 'refused'; readonly status: number };

export interface MediaFailure {
  readonly url: string;
  readonly problem: MediaProblem;
}

/** Fetches what callers name by URL, for upstreams that want the content itself. */
export interface MediaFetcher {
  /** All of them, or the first failure. Never rejects, takes no longer than `withinMs`, and lets go of all when told to. */
  fetch(
    urls: readonly string[],
    withinMs: number,
    signal: AbortSignal,
  ): Promise<Result<MediaByUrl, MediaFailure>>;
}

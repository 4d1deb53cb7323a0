/** Why nobody is signed in, or nothing of theirs is changed. */
export type PeopleRefusal =
  | { readonly kind: 'invalid'; readonly field: string; readonly message: string }
  /** It says nothing of what was wrong, so that nobody learns who there is. */
  | { readonly kind: 'wrong'; readonly message: string }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number }
  | { readonly kind: 'conflict'; readonly message: string };

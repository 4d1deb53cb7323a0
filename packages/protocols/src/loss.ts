/**
 * Something of the request that a target of another protocol does not get, told to the caller in `x-headgate-losses` and
 * kept on the entry. Never silent: an encoder returns what it left out.
 */
export interface Loss {
  /** The member as the caller spells it, without positions: `seed`, `messages[].content[].image_url.detail`. */
  readonly field: string;
  /** `dropped`: it is left out · `changed`: something near it is sent, which `note` names. */
  readonly action: 'dropped' | 'changed';
  /** For the log and the docs, in a few words: `clamped to 1`. Null when there is nothing to add. */
  readonly note: string | null;
}

export function dropped(field: string, note: string | null = null): Loss {
  return { field, action: 'dropped', note };
}

export function changed(field: string, note: string): Loss {
  return { field, action: 'changed', note };
}

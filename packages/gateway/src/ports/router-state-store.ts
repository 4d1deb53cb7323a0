/** The knowledge of the router about one thing: a target, a credential of a channel, what that can take, or the calls of a model. */
export interface RouterState {
  readonly kind: 'target' | 'credential' | 'capacity' | 'model';
  /** Names it among those of its kind. A credential is in it as a keyed hash, never as it is. */
  readonly key: string;
  /** On the clock of the wall. */
  readonly savedAtMs: number;
  /** The router's own words (`route/saved.ts`), versioned there. */
  readonly text: string;
}

/** Keeps what the router has learned from one process to the next, so that a restart does not forget an outage. */
export interface RouterStateStore {
  load(): Promise<readonly RouterState[]>;
  /** Replaces those of the same name, and forgets all that were saved before `forgetBeforeMs`. */
  save(states: readonly RouterState[], forgetBeforeMs: number): Promise<void>;
}

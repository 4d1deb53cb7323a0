import { routerStateMsMax } from '../core/route/expected-cost-router.ts';
import type { Clock } from '../ports/clock.ts';
import type { RouterState, RouterStateStore } from '../ports/router-state-store.ts';

/** Taken from the router at once: putting them into words keeps calls waiting for a millisecond or two. */
const statesPerSave = 100;

/** What the keeper needs of a router. */
export interface KeptRouter {
  takeChanged(nowMs: number, statesMax?: number): readonly RouterState[];
  restore(states: readonly RouterState[], nowMs: number): void;
}

/**
 * Carries what the router has learned from one process to the next. What is not yet written when a process is killed is
 * lost with it: what happened since the last save.
 */
export class StateKeeper {
  readonly #router: KeptRouter;
  readonly #store: RouterStateStore;
  readonly #clock: Clock;
  /** What could not be written, by kind and key; no more than the router has states. */
  readonly #unwritten = new Map<string, RouterState>();
  #saving: Promise<void> | null = null;

  constructor(router: KeptRouter, store: RouterStateStore, clock: Clock) {
    this.#router = router;
    this.#store = store;
    this.#clock = clock;
  }

  /** Before the first call. Rejects when the store cannot be read. */
  async restore(): Promise<void> {
    this.#router.restore(await this.#store.load(), this.#clock.now());
  }

  /** Writes what has changed, troubles first. Call it every second. Never rejects: a store that cannot be written says so itself. */
  save(): Promise<void> {
    this.#saving ??= this.#write(statesPerSave).finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  /** Writes all there is. */
  async close(): Promise<void> {
    await this.#saving;
    await this.#write(Number.POSITIVE_INFINITY);
  }

  async #write(statesMax: number): Promise<void> {
    const nowMs = this.#clock.now();
    for (const state of this.#router.takeChanged(nowMs, statesMax)) this.#unwritten.set(nameOf(state), state);
    const states = [...this.#unwritten.values()];
    if (states.length === 0) return;
    this.#unwritten.clear();
    try {
      await this.#store.save(states, nowMs - routerStateMsMax);
    } catch {
      for (const state of states) this.#unwritten.set(nameOf(state), state);
    }
  }
}

function nameOf({ kind, key }: RouterState): string {
  return `${kind}\n${key}`;
}

import type { Clock } from '../ports/clock.ts';
import type { RouterState, RouterStateStore } from '../ports/store.ts';

/** Rises when a number changes its meaning. What another version has written is not read. */
const version = 1;

/**
 * Numbers by name, as they are kept for the next process: finite ones, times on the clock of the wall. One that is missing
 * is as it was in the beginning.
 */
export type Saved<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** Numbers as they are kept for the next process; `times` are those of them that are on the steady clock. */
export function saveNumbers<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
  times: readonly Name[],
  shiftMs: number,
): Saved<Name> {
  const saved: Record<Name, number> = { ...numbers };
  for (const name of times) saved[name] += shiftMs;
  return saved;
}

/** Takes them over from an earlier process. One that was not kept stays as it is. */
export function restoreNumbers<Name extends string>(
  numbers: Record<Name, number>,
  times: readonly Name[],
  saved: Saved<Name>,
  shiftMs: number,
): void {
  // The names of a record are those of its type.
  for (const name of Object.keys(numbers) as Name[]) {
    const value: number | undefined = saved[name];
    if (value !== undefined) numbers[name] = value + (times.includes(name) ? shiftMs : 0);
  }
}

/** The saved numbers of one thing, by its parts. */
export type SavedParts = Readonly<Record<string, Saved<string>>>;

/** As it is stored. Infinities are left out: they stand for what has never been. */
export function writeSaved(parts: SavedParts): string {
  return JSON.stringify({ version, parts });
}

/** Null when it was not written by this version. */
export function readSaved(text: string): SavedParts | null {
  const value = parsed(text);
  if (!isRecord(value) || value['version'] !== version || !isRecord(value['parts'])) return null;
  return Object.fromEntries(Object.entries(value['parts']).map(([name, part]) => [name, numbersOf(part)]));
}

function numbersOf(part: unknown): Saved<string> {
  const numbers: Record<string, number> = {};
  if (!isRecord(part)) return numbers;
  for (const [name, value] of Object.entries(part)) {
    if (typeof value === 'number' && Number.isFinite(value)) numbers[name] = value;
  }
  return numbers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A state that was learned longer ago says nothing of now. */
export const routerStateMsMax = 24 * 3_600_000;

/** Taken from the router at once: putting them into words keeps calls waiting for a millisecond or two. */
const statesPerSave = 100;

/** The router, as far as the keeper needs it. */
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
  /** States that could not be written, by kind and key; no more than the router has. */
  readonly #unwritten = new Map<string, RouterState>();
  #saving: Promise<void> | null = null;
  #isClosed = false;

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
  async saveAll(): Promise<void> {
    await this.#saving;
    await this.#write(Number.POSITIVE_INFINITY);
  }

  /** Writes all there is, and nothing from then on. */
  async close(): Promise<void> {
    await this.saveAll();
    this.#isClosed = true;
  }

  async #write(statesMax: number): Promise<void> {
    if (this.#isClosed) return;
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

import type { Store } from '../../ports/store.ts';
import { writeAudit } from '../audit.ts';
import { type Guess, placeKey } from './throttle.ts';

/** Each name and address has a row of its own, of so many in a minute; all others share one. */
const rowsInMinute = 20;
const minuteMs = 60_000;

/** An attempt to sign in that failed: its way, its place, and the name that it bore; empty where it bore none. */
export type RefusedAttempt = Omit<Guess, 'kind'> & { readonly kind: string };

interface RefusalSum {
  readonly attempt: RefusedAttempt;
  readonly reason: string;
  /** No row tells of these yet. */
  count: number;
}

/**
 * Notes in the audit who could not sign in. Whoever guesses must not fill the store: the first of a name and an address is noted at
 * once, the others of that minute as one row when it is over, and beyond a number of names and addresses all together.
 */
export class Refusals {
  readonly #store: Pick<Store, 'people' | 'audit'>;
  readonly #now: () => number;
  readonly #sums = new Map<string, RefusalSum>();
  #minute: NodeJS.Timeout | null = null;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, 'people' | 'audit'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  note(attempt: RefusedAttempt, reason: string): void {
    const own = [attempt.kind, reason, placeKey(attempt.address), attempt.login.toLowerCase()].join('\n');
    const isRoom = this.#sums.has(own) || this.#sums.size < rowsInMinute;
    const key = isRoom ? own : '';
    const known = this.#sums.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const sum: RefusalSum = isRoom
      ? { attempt, reason, count: 0 }
      : { attempt: { kind: 'several', address: null, login: '' }, reason: 'several', count: 0 };
    this.#sums.set(key, sum);
    this.#minute ??= setTimeout(() => void this.settle(), minuteMs).unref();
    this.#write(sum, 1);
  }

  /** Writes what was summed up, and begins another minute. Resolves once all is written. */
  async settle(): Promise<void> {
    if (this.#minute !== null) clearTimeout(this.#minute);
    this.#minute = null;
    const sums = [...this.#sums.values()];
    this.#sums.clear();
    for (const sum of sums) if (sum.count > 0) this.#write(sum, sum.count);
    await this.#writing;
  }

  /** Behind the answer, which takes as long whoever there is. A store that cannot be written is told of elsewhere. */
  #write({ attempt, reason }: RefusalSum, attempts: number): void {
    this.#writing = this.#writing.then(() => this.#row(attempt, reason, attempts)).catch(() => undefined);
  }

  /** A name that nobody has is not written down: people type passwords there. */
  async #row({ kind: how, login, address }: RefusedAttempt, reason: string, attempts: number): Promise<void> {
    const person = login === '' ? null : await this.#store.people.findByLogin(login);
    const tools = { store: this.#store, nowMs: this.#now(), actor: { kind: 'nobody', address } } as const;
    await writeAudit(tools, {
      action: 'person.sign-in-refused',
      target: { kind: 'person', id: person?.id ?? 'unknown', name: person?.name ?? null },
      accountId: null,
      before: null,
      after: { how, reason, attempts },
    });
  }
}

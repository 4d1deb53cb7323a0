/** The kinds of proof that may be guessed. */
export type GuessKind = 'password' | 'totp' | 'passkey' | 'set-up' | 'invitation' | 'password-link';

/** A proof that somebody offers: of what kind, from where, and as whom; as nobody where it says that itself. */
export interface Guess {
  readonly kind: GuessKind;
  readonly address: string | null;
  readonly login: string;
}

/** Somebody who fails may fail so often, and then waits twice as long each time. */
interface GuessLimit {
  readonly free: number;
  readonly waitMsMin: number;
  readonly waitMsMax: number;
}

/** Who guesses from one place at one person is stopped first; a person who is guessed at from everywhere stays reachable from their own. */
const limits = {
  pair: { free: 5, waitMsMin: 2_000, waitMsMax: 15 * 60_000 },
  address: { free: 30, waitMsMin: 2_000, waitMsMax: 15 * 60_000 },
  login: { free: 100, waitMsMin: 1_000, waitMsMax: 60_000 },
} as const satisfies Readonly<Record<string, GuessLimit>>;

/** Failures are forgotten after so long. */
const forgottenMs = 60 * 60_000;
/** Who has failed is remembered of so many; the oldest are forgotten first. */
const rowsMax = 50_000;

interface GuessRow {
  failures: number;
  lastAtMs: number;
  openAtMs: number;
}

/** Slows down who guesses: by the person that is guessed at, by the address that it comes from, and by both. */
export class Throttle {
  readonly #now: () => number;
  readonly #rows = new Map<string, GuessRow>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts an attempt before it is looked at. How long to wait where it is one too many; null where it may be made. */
  take(guess: Guess): number | null {
    const nowMs = this.#now();
    const keys = keysOf(guess);
    const waits = keys.map(({ key }) => (this.#rows.get(key)?.openAtMs ?? 0) - nowMs);
    const longest = Math.max(...waits);
    if (longest > 0) return longest;
    for (const { key, limit } of keys) this.#count(key, limit, nowMs);
    return null;
  }

  /** The attempt was right: it is no failure, and neither are those before it. */
  forgive(guess: Guess): void {
    const [pair, ...others] = keysOf(guess);
    if (pair !== undefined) this.#rows.delete(pair.key);
    for (const { key } of others) {
      const row = this.#rows.get(key);
      if (row !== undefined) row.failures -= 1;
    }
  }

  #count(key: string, { free, waitMsMin, waitMsMax }: GuessLimit, nowMs: number): void {
    const known = this.#rows.get(key);
    const failures = known === undefined || nowMs - known.lastAtMs > forgottenMs ? 1 : known.failures + 1;
    const beyond = failures - free;
    const waitMs = beyond < 0 ? 0 : Math.min(waitMsMax, waitMsMin * 2 ** Math.min(beyond, 20));
    this.#rows.delete(key);
    this.#rows.set(key, { failures, lastAtMs: nowMs, openAtMs: nowMs + waitMs });
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > rowsMax && oldest !== undefined) this.#rows.delete(oldest);
  }
}

function keysOf({ kind, address, login }: Guess) {
  const place = placeKey(address);
  const who = login.normalize('NFKC').toLowerCase().slice(0, 200);
  return [
    { key: `${kind} by ${place} at ${who}`, limit: limits.pair },
    { key: `${kind} by ${place}`, limit: limits.address },
    { key: `${kind} at ${who}`, limit: limits.login },
  ];
}

/** A line of IPv6 has 2⁶⁴ addresses of its own: they count as one. */
export function placeKey(address: string | null): string {
  if (address === null) return '';
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [head = [], tail] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = tail === undefined ? head : [...head, ...Array<string>(8).fill('0')];
  return groups.slice(0, 4).join(':');
}

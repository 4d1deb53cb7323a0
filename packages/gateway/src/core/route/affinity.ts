import type { PriceRates } from './price-rates.ts';
import type { TargetState } from './target-state.ts';

const sessionsMax = 50_000;
const placesMax = 4;
/** How long upstreams keep a prefix that nobody asks for. */
const warmMs = 300_000;
/** Turns to come that are counted in: a cheap way to begin may be a dear one to go on. */
const turnsAhead = 2;

interface Place {
  readonly prefixTokens: number;
  readonly usedMs: number;
}

/** Where a session has been, and how much of its prompt may be warm there. */
export interface Session {
  readonly places: Map<TargetState, Place>;
  /** Whether its calls ask for prefixes to be written to a cache. */
  writes: boolean;
}

/** Sessions of the last hours, the ones used longest ago forgotten first. A price in the score, not a pin. */
export class SessionMemory {
  readonly #sessions = new Map<string, Session>();

  find(key: string | null): Session | null {
    return key === null ? null : (this.#sessions.get(key) ?? null);
  }

  note(key: string, state: TargetState, place: Place, writes: boolean): void {
    const session = this.#sessions.get(key) ?? { places: new Map<TargetState, Place>(), writes: false };
    session.writes ||= writes;
    session.places.delete(state);
    session.places.set(state, place);
    if (session.places.size > placesMax) deleteOldest(session.places);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (this.#sessions.size > sessionsMax) deleteOldest(this.#sessions);
  }
}

function deleteOldest<Key>(map: Map<Key, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}

/** Tokens of a prompt that are expected to be read from the target's cache. */
export function warmTokens(session: Session | null, state: TargetState, nowMs: number): number {
  const place = session?.places.get(state);
  return place === undefined || nowMs - place.usedMs > warmMs ? 0 : place.prefixTokens * state.cacheShare;
}

interface Sizes {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * The price of a call for this session, in pico-dollars: the warm prefix at the price of reading, the rest at that of
 * writing or plain input. Of a session that goes on it is the mean over this turn and the next two, which stay here.
 */
export function sessionPrice(
  rates: PriceRates,
  { inputTokens, outputTokens }: Sizes,
  session: Session | null,
  state: TargetState,
  nowMs: number,
): number {
  const said = rates.perCall + outputTokens * rates.output;
  if (session === null) return said + inputTokens * rates.input;
  const fresh = session.writes ? Math.max(rates.input, rates.cacheWrite) : rates.input;
  const turn = (warm: number) => warm * rates.cacheRead + (inputTokens - warm) * fresh;
  const now = turn(Math.min(inputTokens, warmTokens(session, state, nowMs)));
  return said + (now + turnsAhead * turn(inputTokens * state.cacheShare)) / (1 + turnsAhead);
}

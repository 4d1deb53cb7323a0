import { totalInput, type Usage } from '@headgate/protocols';
import type { PriceRates } from './price-rates.ts';

const sessionsMax = 50_000;
const placesMax = 4;
/** Cold ones that go when another one comes: more than come, so that what is kept is what may be warm. */
const coldOnesAtOnce = 2;
/** Most upstreams cache no shorter prompt, and no price is decided by one. */
export const cacheableTokensMin = 1_000;
/** How long upstreams keep a prefix that nobody asks for, and one that was written for an hour. */
const warmMs = 300_000;
const longWarmMs = 3_600_000;
/** Turns to come that are counted in: a cheap way to begin may be a dear one to go on. */
const turnsAhead = 2;

/** A cache of prefixes: that of one account at one upstream. */
export interface Cache {
  /** The share of the expected prefix that is found. */
  readonly cacheShare: number;
  foundCached(tokens: number, expectedTokens: number): void;
}

interface Place {
  readonly prefixTokens: number;
  readonly warmUntilMs: number;
}

/** The places where a session has been, and how much of its prompt may be warm there. */
export interface Session {
  readonly places: Map<Cache, Place>;
  /** True when its calls ask for prefixes to be written to a cache. */
  writes: boolean;
}

/**
 * Sessions that may be warm somewhere, the ones used longest ago forgotten first. A price in the score, not a pin.
 *
 * A session is what callers say it is (`session.ts`), and they may call things one that share nothing: a name for
 * all users of a company, a key for all prompts of a program. So warmth is believed only as far as it is found: what an
 * upstream reports as read from its cache, of what was expected to be there, is the share by which its channel
 * discounts every session.
 */
export class SessionMemory {
  readonly #sessions = new Map<string, Session>();

  get size(): number {
    return this.#sessions.size;
  }

  find(key: string | null): Session | null {
    return key === null ? null : (this.#sessions.get(key) ?? null);
  }

  /** A turn of the session was answered there, and used so much. */
  answered(key: string, cache: Cache, usage: Usage, nowMs: number): void {
    const prefixTokens = totalInput(usage);
    if (prefixTokens < cacheableTokensMin) return;
    const session = this.#sessions.get(key) ?? { places: new Map<Cache, Place>(), writes: false };
    // A conversation that was cut short asks for no more of it.
    const expected = Math.min(prefixTokens, warmPrefix(session, cache, nowMs));
    if (expected > 0) cache.foundCached(usage.inputCacheRead, expected);
    session.writes ||= usage.inputCacheWrite5m + usage.inputCacheWrite1h > 0;
    const keptMs = usage.inputCacheWrite1h > 0 ? longWarmMs : warmMs;
    const warmUntilMs = Math.max(session.places.get(cache)?.warmUntilMs ?? 0, nowMs + keptMs);
    putLast(session.places, cache, { prefixTokens, warmUntilMs }, placesMax);
    putLast(this.#sessions, key, session, sessionsMax);
    this.#forgetCold(nowMs);
  }

  #forgetCold(nowMs: number): void {
    let looks = coldOnesAtOnce;
    for (const [key, { places }] of this.#sessions) {
      if (looks-- === 0 || !isCold(places, nowMs)) return;
      this.#sessions.delete(key);
    }
  }
}

/** As the one used last; the one used longest ago goes when there are too many. */
function putLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

function isCold(places: Session['places'], nowMs: number): boolean {
  return places.values().every(({ warmUntilMs }) => warmUntilMs < nowMs);
}

/** Tokens of the session's last prompt there; 0 when they must have been forgotten. */
export function warmPrefix(session: Session | null, cache: Cache, nowMs: number): number {
  const place = session?.places.get(cache);
  return place === undefined || place.warmUntilMs < nowMs ? 0 : place.prefixTokens;
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
  cache: Cache,
  nowMs: number,
): number {
  const said = rates.perCall + outputTokens * rates.output;
  if (session === null) return said + inputTokens * rates.input;
  const fresh = session.writes ? Math.max(rates.input, rates.cacheWrite) : rates.input;
  const prefix = warmPrefix(session, cache, nowMs);
  return said + turnsPrice(fresh, rates.cacheRead, cache.cacheShare, inputTokens, prefix);
}

/** The mean price of the prompt of this turn, of which so long a prefix was there, and of the next two. */
export function turnsPrice(
  fresh: number,
  read: number,
  cacheShare: number,
  inputTokens: number,
  prefixTokens: number,
): number {
  const now = turnPrice(fresh, read, cacheShare, inputTokens, Math.min(inputTokens, prefixTokens));
  const later = turnPrice(fresh, read, cacheShare, inputTokens, inputTokens);
  return (now + turnsAhead * later) / (1 + turnsAhead);
}

function turnPrice(fresh: number, read: number, cacheShare: number, tokens: number, prefix: number): number {
  const warm = prefix < cacheableTokensMin ? 0 : prefix * cacheShare;
  return warm * read + (tokens - warm) * fresh;
}

/** Ids that are remembered; about 150 bytes each. */
const answersMax = 50_000;
/** A longer id is none that could be handed back, and is not remembered. Characters. */
const idCharsMax = 256;

/** The channel where an answer can be gone on from, and the account that may. */
export interface Keeper {
  readonly channelId: string;
  /** The key of the upstream's account that it was given to. */
  readonly accountKey: string;
  /** The account of ours that it was given to, or that named it first; null for nobody's. */
  readonly ownerId: string | null;
}

/**
 * Which channel keeps what a request may go on from, by the upstream's id of it: an answer, or a container, conversation or
 * cache of a prefix. Such a request can only be understood there. What was never seen, is forgotten, or was given before
 * the process began, is looked for on every channel.
 *
 * Many accounts of ours share one of an upstream's, which lets any of them go on from what it keeps. So each id has an
 * owner: nobody else can go on from it, or become its owner.
 */
export class AnswerMemory {
  readonly #keepers = new Map<string, Keeper>();

  note(answerId: string, keeper: Keeper): void {
    if (answerId.length > idCharsMax || this.isForeign(answerId, keeper.ownerId)) return;
    this.#keepers.delete(answerId);
    this.#keepers.set(answerId, keeper);
    if (this.#keepers.size <= answersMax) return;
    for (const oldest of this.#keepers.keys()) {
      this.#keepers.delete(oldest);
      break;
    }
  }

  /** Null when nobody is known to keep it. */
  keeperOf(answerId: string | undefined): Keeper | null {
    return answerId === undefined ? null : (this.#keepers.get(answerId) ?? null);
  }

  /** Tells if somebody else than this account may go on from it; not known of what nobody is known to keep. */
  isForeign(answerId: string | undefined, accountId: string | null): boolean {
    const keeper = this.keeperOf(answerId);
    return keeper !== null && keeper.ownerId !== accountId;
  }

  /** Tells if a request that goes on from this answer (absent: from none) may be sent to the channel. */
  allows(answerId: string | undefined, channelId: string): boolean {
    const keeper = this.keeperOf(answerId);
    return keeper === null || keeper.channelId === channelId;
  }
}

import { createHash, randomBytes } from 'node:crypto';
import type { KnownPerson, PeopleStore, PersonSession } from '../../ports/people.ts';
import type { PersonActor } from './actor.ts';

/** Who does nothing for so long signs in again, and everybody after so long. */
const idleMs = 12 * 3_600_000;
const lifeMs = 7 * 86_400_000;
/** A session that another process ends is over here after so long. */
const cachedMs = 1_000;
const cachedMax = 10_000;
/** It is noted so often that somebody is there. */
const seenEveryMs = 60_000;

/** How and where somebody signs in. */
export interface SignInPlace {
  readonly how: string;
  readonly userAgent: string | null;
  readonly address: string | null;
}

/** A session that was opened, and its secret, which only the browser has from here on. */
export interface OpenedSession {
  readonly session: PersonSession;
  readonly secret: string;
}

interface CachedSession {
  readonly atMs: number;
  readonly found: { readonly session: PersonSession; readonly person: KnownPerson } | null;
}

/** Knows who is signed in where. A session is an opaque secret of 256 bits; the store has its hash. */
export class Sessions {
  readonly #people: PeopleStore;
  readonly #now: () => number;
  /** By hash of the secret, the oldest first. */
  readonly #cached = new Map<string, CachedSession>();
  readonly #seen = new Map<string, number>();

  constructor(people: PeopleStore, now: () => number) {
    this.#people = people;
    this.#now = now;
  }

  /** `keeperOf` gives the store that notes it, where it is to be noted. */
  async open(
    person: KnownPerson,
    { how, userAgent, address }: SignInPlace,
    keeperOf: (session: PersonSession) => Pick<PeopleStore, 'openSession'> = () => this.#people,
  ): Promise<OpenedSession> {
    const nowMs = this.#now();
    const secret = makeSecret();
    const session: PersonSession = {
      ...{ id: `session-${randomBytes(8).toString('hex')}`, personId: person.id, how, address },
      ...{ createdAtMs: nowMs, lastSeenAtMs: nowMs, provenAtMs: nowMs, expiresAtMs: nowMs + lifeMs },
      userAgent: userAgent?.slice(0, 300) ?? null,
    };
    await keeperOf(session).openSession(session, hashOf(secret));
    return { session, secret };
  }

  /** The person of a secret, as they are now or were a second ago; null of one that is over, or never was. */
  async find(secret: string, address: string | null): Promise<PersonActor | null> {
    if (!/^[\w-]{43}$/.test(secret)) return null;
    const hash = hashOf(secret);
    const nowMs = this.#now();
    const cached = this.#cached.get(hash);
    const found =
      cached !== undefined && nowMs - cached.atMs < cachedMs ? cached.found : await this.#load(hash);
    if (found === null) return null;
    this.#see(found.session, nowMs);
    const { person, session } = found;
    return {
      ...{ kind: 'person', personId: person.id, name: person.name, isOperator: person.isOperator },
      ...{ memberships: person.memberships, sessionId: session.id, provenAtMs: session.provenAtMs, address },
    };
  }

  async #load(hash: string): Promise<CachedSession['found']> {
    const nowMs = this.#now();
    const found = await this.#people.findSession(hash, nowMs, nowMs - idleMs);
    this.#cached.delete(hash);
    // Secrets that are nobody's are not kept: whoever makes them up would push out those that are somebody's.
    if (found !== null) this.#cached.set(hash, { atMs: nowMs, found });
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > cachedMax && oldest !== undefined) this.#cached.delete(oldest);
    return found;
  }

  #see({ id, lastSeenAtMs }: PersonSession, nowMs: number): void {
    const last = Math.max(lastSeenAtMs, this.#seen.get(id) ?? 0);
    if (nowMs - last < seenEveryMs) return;
    this.#seen.delete(id);
    this.#seen.set(id, nowMs);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > cachedMax && oldest !== undefined) this.#seen.delete(oldest);
    // Nobody waits for it: a store that cannot be written is told of elsewhere.
    this.#people.seeSession(id, nowMs).catch(() => undefined);
  }

  /** Another secret for a session whose person has proved who they are, or has other rights now; null where it is over. */
  async rotate(sessionId: string, how: string | null): Promise<string | null> {
    const secret = makeSecret();
    const proof = how === null ? null : { atMs: this.#now(), how };
    const isThere = await this.#people.rotateSession(sessionId, hashOf(secret), proof);
    this.forget();
    return isThere ? secret : null;
  }

  list(personId: string): Promise<readonly PersonSession[]> {
    const nowMs = this.#now();
    return this.#people.listSessions(personId, nowMs, nowMs - idleMs);
  }

  /** Ends one of a person's own. */
  async endOne(
    personId: string,
    id: string,
    people: Pick<PeopleStore, 'endSession'> = this.#people,
  ): Promise<boolean> {
    const wasThere = await people.endSession(personId, id);
    this.forget();
    return wasThere;
  }

  /** Ends all of a person's but one: when their password or role changes, and when they are disabled. */
  async end(
    personId: string,
    exceptId: string | null,
    people: Pick<PeopleStore, 'endSessions'> = this.#people,
  ): Promise<number> {
    const ended = await people.endSessions(personId, exceptId);
    this.forget();
    return ended;
  }

  /** Asks the store anew: something about people has changed. */
  forget(): void {
    this.#cached.clear();
  }
}

/** 256 bits. */
function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A secret of 256 random bits cannot be searched for by its hash. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

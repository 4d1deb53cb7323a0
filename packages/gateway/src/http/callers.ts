import { type Fault, fail, fault, type Platform, type Result, succeed } from '@headgate/protocols';
import type { Caller, Catalogue } from '../catalogue/catalogue.ts';

type KeyHeader = 'authorization' | 'x-api-key' | 'x-neutral-api-key' | 'x-goog-api-key';

/** The headers in which each surface reads its key, first valid one first (product.md, "Authentication"). */
const keyHeaders = {
  completions: ['authorization'],
  messages: ['authorization', 'x-api-key'],
  native: ['x-neutral-api-key', 'x-goog-api-key'],
  any: ['authorization', 'x-api-key', 'x-neutral-api-key', 'x-goog-api-key'],
} as const satisfies Record<Platform | 'any', readonly KeyHeader[]>;

/** The parts of a request that name its caller. */
export interface Credentials {
  /** `any` on the endpoints that serve every platform. */
  readonly platform: Platform | 'any';
  header(name: KeyHeader): string | undefined;
  /** The `key` of the query, or null. Read on native endpoints only. */
  readonly queryKey: string | null;
}

/** HMAC-SHA256 of a key under the deployment's pepper, lower-case hex; null when the key's checksum is wrong. */
export type HashKey = (key: string) => string | null;

/** Texts remembered at once; a deployment with more keys in use merely hashes some of them again. */
const rememberedMax = 20_000;

/**
 * Finds out who calls, from the headers alone: the body has not been read yet. A caller is remembered by the whole text
 * that named it until the catalogue changes, since a hash costs more than all else; a text that names nobody is not, so
 * that a flood of them fills nothing.
 */
export class Callers {
  readonly #catalogue: { readonly current: Catalogue };
  readonly #hashKey: HashKey;
  readonly #isInStep: () => boolean;
  /** The request being read bears a well-formed key that the snapshot does not have. */
  #sawStranger = false;
  #snapshot: Catalogue | null = null;
  /** By the value of `authorization`, and by the key where it comes bare: one is never taken for the other. */
  readonly #byBearer = new Map<string, Caller>();
  readonly #byKey = new Map<string, Caller>();

  /** `isInStep`: false while the snapshot may lack keys that have been made. */
  constructor(
    catalogue: { readonly current: Catalogue },
    hashKey: HashKey,
    isInStep: () => boolean = () => true,
  ) {
    this.#isInStep = isInStep;
    this.#catalogue = catalogue;
    this.#hashKey = hashKey;
  }

  /** Callers remembered at the moment. */
  get size(): number {
    return this.#byBearer.size + this.#byKey.size;
  }

  authenticate(credentials: Credentials, nowMs: number): Result<Caller, Fault> {
    const { platform, queryKey } = credentials;
    if (this.#snapshot !== this.#catalogue.current) this.#forget();
    let sawKey = false;
    this.#sawStranger = false;
    for (const name of keyHeaders[platform]) {
      const text = credentials.header(name);
      if (text === undefined) continue;
      const isBearer = name === 'authorization';
      const key = isBearer ? bearerToken(text) : text;
      if (key === undefined || key === '') continue;
      sawKey = true;
      const caller = this.#find(text, key, isBearer ? this.#byBearer : this.#byKey, nowMs);
      if (caller !== null) return succeed(caller);
    }
    if (platform === 'native' && queryKey !== null) {
      sawKey = true;
      const caller = this.#find(queryKey, queryKey, this.#byKey, nowMs);
      if (caller !== null) return succeed(caller);
    }
    // SDKs give up on a 401, and a new key must not look like a wrong one because the store cannot be asked.
    if (this.#sawStranger && !this.#isInStep())
      return fail(fault('store_unavailable', { retryAfterMs: 2000 }));
    return fail(fault('invalid_api_key', { message: refusalText(credentials, sawKey) }));
  }

  #find(text: string, key: string, remembered: Map<string, Caller>, nowMs: number): Caller | null {
    const caller = remembered.get(text) ?? this.#look(text, key, remembered);
    if (caller === null) return null;
    return caller.expiresAtMs !== null && caller.expiresAtMs <= nowMs ? null : caller;
  }

  #look(text: string, key: string, remembered: Map<string, Caller>): Caller | null {
    const hash = this.#hashKey(key);
    const record = hash === null ? undefined : this.#catalogue.current.keys.get(hash);
    this.#sawStranger ||= hash !== null && record === undefined;
    if (record === undefined || record.status !== 'active') return null;
    if (this.size >= rememberedMax) this.#forget();
    // A part of a head would keep all of it in memory.
    remembered.set(detached(text), record.caller);
    return record.caller;
  }

  #forget(): void {
    this.#snapshot = this.#catalogue.current;
    this.#byBearer.clear();
    this.#byKey.clear();
  }
}

/** The same text in memory of its own. */
function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string; // A string comes back as a string.
}

function bearerToken(value: string): string | undefined {
  if (value.length < 8 || value.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return value.slice(7).trim();
}

function refusalText({ platform, header, queryKey }: Credentials, sawKey: boolean): string {
  const accepted = keyHeaders[platform].map(spelling).join(' or ');
  if (sawKey)
    return `The API key is not valid: it is mistyped, unknown, disabled, expired or revoked. Check the key sent in ${accepted}.`;
  if (queryKey !== null) return `A key in the query is not read on this path; send it in ${accepted}.`;
  const elsewhere = keyHeaders.any.find((name) => header(name) !== undefined);
  if (elsewhere !== undefined) {
    return `This endpoint does not read a key from ${spelling(elsewhere)}; send it in ${accepted}.`;
  }
  return `No API key was sent; send it in ${accepted}.`;
}

function spelling(name: KeyHeader): string {
  return name === 'authorization' ? '`Authorization: Bearer KEY`' : `the \`${name}\` header`;
}

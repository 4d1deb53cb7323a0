import { type Fault, fail, fault, type Platform, type Result, succeed } from '@headgate/protocols';
import type { Caller, Catalogue } from '../core/catalogue.ts';

type KeyHeader = 'authorization' | 'x-api-key' | 'x-neutral-api-key' | 'x-goog-api-key';

/** Where each surface reads its key, first valid one first (product.md, "Authentication"). */
const keyHeaders = {
  completions: ['authorization'],
  messages: ['authorization', 'x-api-key'],
  native: ['x-neutral-api-key', 'x-goog-api-key'],
  any: ['authorization', 'x-api-key', 'x-neutral-api-key', 'x-goog-api-key'],
} as const satisfies Record<Platform | 'any', readonly KeyHeader[]>;

/** What authentication reads of a request. */
export interface Credentials {
  /** `any` on the endpoints that serve every platform. */
  readonly platform: Platform | 'any';
  header(name: KeyHeader): string | undefined;
  /** The `key` of the query, or null. Read on native endpoints only. */
  readonly queryKey: string | null;
}

/** HMAC-SHA256 of a key under the deployment's pepper, lower-case hex; null when the key's checksum is wrong. */
export type HashKey = (key: string) => string | null;

/** Finds out who calls, from the headers alone: the body has not been read yet. */
export function authenticate(
  credentials: Credentials,
  catalogue: Catalogue,
  hashKey: HashKey,
  nowMs: number,
): Result<Caller, Fault> {
  const candidates = candidateKeys(credentials);
  for (const key of candidates) {
    const caller = findCaller(key, catalogue, hashKey, nowMs);
    if (caller !== null) return succeed(caller);
  }
  return fail(fault('invalid_api_key', { message: refusalText(credentials, candidates.length > 0) }));
}

function candidateKeys({ platform, header, queryKey }: Credentials): readonly string[] {
  const found: string[] = [];
  for (const name of keyHeaders[platform]) {
    const value = header(name);
    const key = name === 'authorization' ? bearerToken(value) : value;
    if (key !== undefined && key !== '') found.push(key);
  }
  if (platform === 'native' && queryKey !== null) found.push(queryKey);
  return found;
}

function bearerToken(value: string | undefined): string | undefined {
  if (value === undefined || value.length < 8 || value.slice(0, 7).toLowerCase() !== 'bearer ')
    return undefined;
  return value.slice(7).trim();
}

function findCaller(key: string, catalogue: Catalogue, hashKey: HashKey, nowMs: number): Caller | null {
  const hash = hashKey(key);
  const record = hash === null ? undefined : catalogue.keys.get(hash);
  if (record === undefined || record.status !== 'active') return null;
  const { expiresAtMs } = record.caller;
  return expiresAtMs !== null && expiresAtMs <= nowMs ? null : record.caller;
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

import { describe, expect, test } from 'vitest';
import { type Caller, type Catalogue, type KeyRecord, plainRouting } from '../catalogue/catalogue.ts';
import { noLimits } from '../catalogue/limits.ts';
import { Rights } from '../catalogue/rights.ts';
import { Callers, type Credentials } from './callers.ts';

const group = {
  id: 'group',
  name: 'Group',
  platform: 'completions',
  multiplierPpm: 1_000_000n,
  models: null,
  routing: plainRouting,
} as const;

function callerOf(keyId: string, expiresAtMs: number | null = null): Caller {
  return {
    keyId,
    keyName: keyId,
    accountId: 'account',
    group,
    models: null,
    strict: false,
    addressRanges: null,
    createdAtMs: 0,
    expiresAtMs,
    limits: noLimits,
    multipliers: null,
  };
}

/** A catalogue whose keys hash to themselves. */
function catalogueOf(keys: Readonly<Record<string, KeyRecord>>): Catalogue {
  return {
    revision: 1,
    keys: new Map(Object.entries(keys)),
    groups: new Map(),
    models: new Map(),
    channels: new Map(),
    served: new Map(),
    rights: new Rights([]),
  };
}

/** Authentication over a catalogue that a test may swap; `hashed` counts what was worked out. */
class Rig {
  catalogue: { current: Catalogue };
  hashed = 0;
  readonly callers: Callers;
  isInStep = true;

  constructor(keys: Readonly<Record<string, KeyRecord>>) {
    this.catalogue = { current: catalogueOf(keys) };
    this.callers = new Callers(
      this.catalogue,
      (key) => {
        this.hashed += 1;
        return key.startsWith('sk-') ? key : null;
      },
      () => this.isInStep,
    );
  }

  who(headers: Readonly<Record<string, string>>, more: Partial<Credentials> & { nowMs?: number } = {}) {
    const credentials = {
      platform: 'any',
      header: (name: string) => headers[name],
      queryKey: null,
      ...more,
    } as const;
    const found = this.callers.authenticate(credentials, more.nowMs ?? 0);
    return found.ok ? found.value.keyId : found.error.code;
  }
}

const active = (keyId: string, expiresAtMs: number | null = null): KeyRecord => ({
  caller: callerOf(keyId, expiresAtMs),
  status: 'active',
});

describe('a caller is remembered by the text that named it', () => {
  test('and hashed once', () => {
    const rig = new Rig({ 'sk-a': active('a') });
    for (let turn = 0; turn < 3; turn++) expect(rig.who({ authorization: 'Bearer sk-a' })).toBe('a');
    for (let turn = 0; turn < 3; turn++) expect(rig.who({ 'x-api-key': 'sk-a' })).toBe('a');
    expect(rig.hashed).toBe(2);
  });

  test('until the catalogue changes', () => {
    const rig = new Rig({ 'sk-a': active('a') });
    expect(rig.who({ authorization: 'Bearer sk-a' })).toBe('a');
    rig.catalogue.current = catalogueOf({ 'sk-a': { ...active('a'), status: 'revoked' } });
    expect(rig.who({ authorization: 'Bearer sk-a' })).toBe('invalid_api_key');
    rig.catalogue.current = catalogueOf({ 'sk-a': active('renamed') });
    expect(rig.who({ authorization: 'Bearer sk-a' })).toBe('renamed');
  });

  test('and expires all the same', () => {
    const rig = new Rig({ 'sk-a': active('a', 1000) });
    expect(rig.who({ authorization: 'Bearer sk-a' }, { nowMs: 999 })).toBe('a');
    expect(rig.who({ authorization: 'Bearer sk-a' }, { nowMs: 1000 })).toBe('invalid_api_key');
  });

  test('but the scheme of one header is no part of the key of another', () => {
    const rig = new Rig({ 'sk-a': active('a') });
    expect(rig.who({ authorization: 'Bearer sk-a' })).toBe('a');
    expect(rig.who({ 'x-api-key': 'Bearer sk-a' })).toBe('invalid_api_key');
    expect(rig.who({ authorization: 'sk-a' })).toBe('invalid_api_key');
  });
});

test('a key that may be new is not told that it is wrong while nobody knows', () => {
  const rig = new Rig({ 'sk-a': active('a'), 'sk-off': { ...active('off'), status: 'disabled' } });
  rig.isInStep = false;
  expect(rig.who({ authorization: 'Bearer sk-new' })).toBe('store_unavailable');
  expect(rig.who({ authorization: 'Bearer sk-new', 'x-api-key': 'sk-a' })).toBe('a');
  // What is known is said: a key that was switched off, one with a wrong letter, and none at all.
  expect(rig.who({ authorization: 'Bearer sk-off' })).toBe('invalid_api_key');
  expect(rig.who({ authorization: 'Bearer mistyped' })).toBe('invalid_api_key');
  expect(rig.who({})).toBe('invalid_api_key');
  rig.isInStep = true;
  expect(rig.who({ authorization: 'Bearer sk-new' })).toBe('invalid_api_key');
});

test('texts that name nobody are not remembered, and those that do are bounded', () => {
  const rig = new Rig({ 'sk-a': active('a') });
  for (let place = 0; place < 1000; place++) rig.who({ authorization: `Bearer sk-${place}` });
  expect(rig.callers.size).toBe(0);
  for (let blanks = 0; blanks < 30_000; blanks++)
    rig.who({ authorization: `Bearer ${' '.repeat(blanks % 200)}sk-a` });
  expect(rig.callers.size).toBeLessThanOrEqual(20_000);
});

test('the first valid key of those a surface reads is the caller', () => {
  const rig = new Rig({ 'sk-a': active('a'), 'sk-b': active('b') });
  const headers = { authorization: 'Bearer sk-wrong', 'x-api-key': 'sk-b', 'x-goog-api-key': 'sk-a' };
  expect(rig.who(headers, { platform: 'messages' })).toBe('b');
  expect(rig.who(headers, { platform: 'native' })).toBe('a');
  expect(rig.who(headers, { platform: 'completions' })).toBe('invalid_api_key');
  expect(rig.who({}, { platform: 'native', queryKey: 'sk-b' })).toBe('b');
  expect(rig.who({}, { platform: 'completions', queryKey: 'sk-b' })).toBe('invalid_api_key');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readConfigurationFile } from '../config/configuration-file.ts';
import { environmentOf } from '../config.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import { sampleKey } from '../store/contract/samples.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { declareFile } from './declare/declare-file.ts';
import { exportConfiguration } from './export-configuration.ts';
import { keyHashes } from './keys.ts';
import type { Peppers } from './owner-files.ts';

const nowMs = Date.UTC(2027, 0, 1);
const pepperOf = (letter: string): Peppers => [{ version: 1, secret: Buffer.from(letter.repeat(40)) }];
const here = keyHashes(pepperOf('a'));

const time = fc.option(fc.integer({ min: -5, max: 5 }).map((days) => nowMs + days * 86_400_000));
const keys = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/),
    status: fc.constantFrom('active' as const, 'active' as const, 'disabled' as const, 'revoked' as const),
    expiresAtMs: time,
    retiresAtMs: time,
    strict: fc.boolean(),
    hash: fc.stringMatching(/^[0-9a-f]{64}$/),
  }),
  { selector: ({ id }) => id, maxLength: 8 },
);

function storedWith(given: readonly Partial<StoredKey>[]): StoredConfiguration {
  const stored = given.map((key): StoredKey => {
    const plain = { ...sampleKey(key.id ?? ''), groupId: 'team', accountId: 'default', models: null };
    const state = { source: 'operator', createdAtMs: 0, replacedBy: null } as const;
    return { ...plain, status: 'active', retiresAtMs: null, ...state, ...key };
  });
  const routing = declaredFile('groups: { team: { platform: completions } }').groups;
  return {
    ...declaredFile('groups: {}'),
    groups: routing,
    keys: stored,
    prices: [],
    credentials: [],
    revision: 1,
  };
}

function read(text: string, { hashKey, olderHashes, fingerprints } = here) {
  const file = readConfigurationFile(text, 'exported.yaml');
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  const tools = { catalogue: openCatalogueFiles(), environment: environmentOf({}), nowMs };
  return declareFile(file.value, { ...tools, hashKey, olderHashes, fingerprints });
}

function declaredFile(text: string) {
  const declared = read(text);
  if (!declared.ok) throw new Error(JSON.stringify(declared.error));
  return declared.value;
}

test('an export declares each key that works, for as long as it does, and no other', () => {
  fc.assert(
    fc.property(keys, (given) => {
      const { keys: declared } = declaredFile(
        exportConfiguration(storedWith(given), here.fingerprints, nowMs),
      );
      const never = Number.POSITIVE_INFINITY;
      const working = given.flatMap(({ id, status, hash, strict, expiresAtMs, retiresAtMs }) => {
        const untilMs = Math.min(expiresAtMs ?? never, retiresAtMs ?? never);
        if (status !== 'active' || untilMs <= nowMs) return [];
        return [{ id, hash, strict, expiresAtMs: untilMs === never ? null : untilMs }];
      });
      expect(declared).toMatchObject(working);
      expect(declared).toHaveLength(working.length);
    }),
  );
});

test('an export names its pepper, and is refused under another one, which is no secret', () => {
  const text = exportConfiguration(
    storedWith([{ id: 'laptop', hash: 'a'.repeat(64) }]),
    here.fingerprints,
    nowMs,
  );
  expect(text).toContain(here.fingerprints[0]);
  expect(text).not.toContain('aaaa'.repeat(17));
  const elsewhere = read(text, keyHashes(pepperOf('b')));
  expect(elsewhere).toMatchObject({ ok: false, error: [{ path: 'peppers' }] });
  expect(JSON.stringify(elsewhere)).toContain('under another pepper');
  expect(read(text, keyHashes([...pepperOf('c'), ...pepperOf('a')] as unknown as Peppers)).ok).toBe(true);
});

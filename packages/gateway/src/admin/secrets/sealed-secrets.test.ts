import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  openSealed,
  openSealingKeys,
  readSealingKeys,
  type SealingKeys,
  sealSecret,
} from './sealed-secrets.ts';

const row = { id: 'cred-1', channelId: 'one' };
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-sealed-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function keysOf(path = directory): SealingKeys {
  const keys = openSealingKeys(path);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
}

test('a secret opens in its row under its key, which is made once, for its owner alone', () => {
  const sealed = { kind: 'sealed', ...row, ...sealSecret(keysOf(), row, 'sk-secret') } as const;
  expect(openSealed(keysOf(), sealed)).toEqual({ ok: true, value: 'sk-secret' });
  expect(statSync(join(directory, 'credentials-key')).mode & 0o777).toBe(0o600);
  expect(sealed.sealed).not.toBe(sealSecret(keysOf(), row, 'sk-secret').sealed);
});

test('it opens in no other row, under no other key, and not when a byte of it is another', () => {
  const keys = keysOf();
  const sealed = { kind: 'sealed', ...row, ...sealSecret(keys, row, 'sk-secret') } as const;
  const flipped = sealed.sealed.replace(/(.)$/, (last) => (last === 'A' ? 'B' : 'A'));
  const wrong = [
    { ...sealed, id: 'cred-2' },
    { ...sealed, channelId: 'two' },
    { ...sealed, sealed: sealed.sealed.slice(0, -4) },
    { ...sealed, sealed: flipped.replace(/^v1/, 'v2') },
    { ...sealed, sealed: sealed.sealed.replace(/\.([\w-]+)$/, '.AAAAAAAAAAAAAAAAAAAAAA') },
    { ...sealed, sealed: '' },
    { ...sealed, keyId: 'another' },
  ];
  for (const each of wrong) expect(openSealed(keys, each).ok).toBe(false);
  const foreign = readSealingKeys('A'.repeat(43));
  if (!foreign.ok) throw new Error(foreign.error);
  expect(openSealed(foreign.value, sealed)).toMatchObject({
    ok: false,
    error: `is sealed under the key ${sealed.keyId}, which is not in credentials-key`,
  });
});

test('the first key seals, and older ones beside it still open', () => {
  const old = sealSecret(keysOf(), row, 'sk-old');
  const path = join(directory, 'credentials-key');
  writeFileSync(path, `${'B'.repeat(42)}A\n${readFileSync(path, 'utf8')}`);
  const keys = keysOf();
  expect(sealSecret(keys, row, 'x').keyId).toBe(keys[0].id);
  expect(keys[0].id).not.toBe(old.keyId);
  expect(openSealed(keys, { kind: 'sealed', ...row, ...old })).toEqual({ ok: true, value: 'sk-old' });
});

test.each(['', 'short', `${'A'.repeat(43)}\nx`])('a damaged file %j is told from a key', (text) => {
  writeFileSync(join(directory, 'credentials-key'), text);
  expect(openSealingKeys(directory)).toMatchObject({
    ok: false,
    error: expect.stringContaining('is damaged') as string,
  });
});

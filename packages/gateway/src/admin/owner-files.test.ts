import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isWellFormedKey } from '../catalogue/key.ts';
import { generateKey, hashKey, keyHasher } from './keys.ts';
import { openOwnerTokens, openPeppers, type Peppers, readPeppers, settingsPeppers } from './owner-files.ts';

const secretA = 'a'.repeat(32);
const secretB = 'b'.repeat(40);
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-owner-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function peppersOf(text: string): Peppers {
  const peppers = readPeppers(text);
  if (!peppers.ok) throw new Error(peppers.error);
  return peppers.value;
}

describe('peppers', () => {
  test('the first start makes one, for its owner alone, and later starts read the same', () => {
    const dataDir = join(directory, 'data');
    const made = openPeppers(dataDir);
    expect(made).toMatchObject({ ok: true, value: [{ version: 1 }] });
    expect(statSync(join(dataDir, 'pepper')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir)).toEqual(['pepper']);
    expect(openPeppers(dataDir)).toEqual(made);
  });

  test('two directories never share one', () => {
    expect(openPeppers(join(directory, 'one'))).not.toEqual(openPeppers(join(directory, 'two')));
  });

  test('a damaged file is refused and left as it is', () => {
    writeFileSync(join(directory, 'pepper'), '1:short\n');
    expect(openPeppers(directory)).toMatchObject({ ok: false });
    expect(readFileSync(join(directory, 'pepper'), 'utf8')).toBe('1:short\n');
  });

  test('the environment wins and writes nothing', () => {
    expect(settingsPeppers({ pepper: secretA, dataDir: directory })).toMatchObject({ ok: true });
    expect(existsSync(join(directory, 'pepper'))).toBe(false);
    expect(settingsPeppers({ pepper: 'short', dataDir: directory })).toMatchObject({
      ok: false,
      error: [{ where: 'HEADGATE_PEPPER' }],
    });
  });

  test('several are read newest first', () => {
    expect(peppersOf(`2:${secretB},1:${secretA}`).map(({ version }) => version)).toEqual([2, 1]);
    expect(peppersOf(secretA)).toEqual(peppersOf(`1:${secretA}`));
  });

  test.each(['', 'short', `1:${secretA},1:${secretB}`, `${secretA},`, `x:${secretA}`])(
    'refuses %j',
    (text) => {
      expect(readPeppers(text).ok).toBe(false);
    },
  );
});

describe('hashes of keys', () => {
  test('a generated key is well formed and hashes to 64 hexadecimal digits that depend on the pepper', () => {
    const key = generateKey();
    expect(isWellFormedKey(key)).toBe(true);
    expect(hashKey(key, peppersOf(secretA)[0])).toMatch(/^[0-9a-f]{64}$/);
    expect(hashKey(key, peppersOf(secretA)[0])).not.toBe(hashKey(key, peppersOf(secretB)[0]));
  });

  test('HMAC-SHA256 as others compute it (RFC 4231, test case 2)', () => {
    const pepper = { version: 1, secret: new TextEncoder().encode('Jefe') };
    expect(hashKey('what do ya want for nothing?', pepper)).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  test('a key with a wrong checksum is not hashed at all', () => {
    const hash = keyHasher(peppersOf(secretA), () => true);
    expect(hash(`${generateKey().slice(0, -1)}!`)).toBeNull();
    expect(hash('')).toBeNull();
  });

  test('a key made under an older pepper is still recognised, a new one hashes under the newest', () => {
    const key = generateKey();
    const peppers = peppersOf(`2:${secretB},1:${secretA}`);
    const [newest, older] = peppers;
    if (older === undefined) throw new Error('two peppers were given');
    const old = hashKey(key, older);
    expect(keyHasher(peppers, (hash) => hash === old)(key)).toBe(old);
    expect(keyHasher(peppers, () => false)(key)).toBe(hashKey(key, newest));
  });
});

test('tokens: the first start makes them for their owner alone, later starts read the same, and no two directories share one', () => {
  const made = openOwnerTokens(directory);
  expect(made.ok && made.value.operator).toMatch(/^hgo-[\w-]{43}$/);
  expect(made.ok && made.value.scrape).toMatch(/^hgs-[\w-]{43}$/);
  for (const file of ['operator-token', 'scrape-token'])
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  expect(openOwnerTokens(directory)).toEqual(made);
  expect(openOwnerTokens(join(directory, 'other'))).not.toEqual(made);
});

describe.each(['operator-token', 'scrape-token'])('the file %s', (file) => {
  test.each(['', 'hgo-short', 'sk-abc', `hgo-${'a'.repeat(43)}\nmore`])(
    'that holds no token (%j) is refused',
    (text) => {
      writeFileSync(join(directory, file), text);
      expect(openOwnerTokens(directory)).toMatchObject({ ok: false });
    },
  );
});

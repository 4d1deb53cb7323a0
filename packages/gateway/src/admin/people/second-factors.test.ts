import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../ports/store.ts';
import { epochMs } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { SecondFactors } from './second-factors.ts';
import { totpCode, totpStep } from './totp.ts';

let directory = '';
let store: Store;
let factors: SecondFactors;
const clock = { nowMs: epochMs, now: () => clock.nowMs, monotonic: () => 0 };

beforeEach(async () => {
  clock.nowMs = epochMs;
  directory = mkdtempSync(join(tmpdir(), 'headgate-second-factors-'));
  store = await openSqliteStore({
    ...{ file: join(directory, 'headgate.sqlite'), durability: 'strict', clock, onAlarm: () => undefined },
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  const pepper = { version: 1, secret: new TextEncoder().encode('p'.repeat(32)) };
  factors = new SecondFactors({
    store,
    peppers: [pepper],
    dataDir: directory,
    deployment: () => 'Gate',
    clock,
  });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const codeNow = (secret: string, off = 0) => totpCode(secret, totpStep(clock.nowMs) + off);

async function setUp(personId = 'ann') {
  const proposed = await factors.propose(personId, `${personId}@example.com`);
  if (!proposed.ok) throw new Error(proposed.error);
  const { secret } = proposed.value;
  const confirmed = await factors.confirm(personId, codeNow(secret));
  if (!confirmed.ok) throw new Error(confirmed.error);
  return { secret, codes: confirmed.value };
}

test('an app that nobody has confirmed asks nobody for codes', async () => {
  const proposed = await factors.propose('ann', 'ann@example.com');
  expect(proposed).toMatchObject({
    ok: true,
    value: { uri: expect.stringContaining('Gate:ann%40example.com') as unknown },
  });
  expect(await factors.confirm('ann', '000000')).toMatchObject({ ok: false });
  expect(await factors.methodsOf('ann')).toEqual([]);
  expect(await factors.prove('ann', '000000')).toBeNull();
});

test('a code is good once, also the one that it was confirmed with', async () => {
  const { secret } = await setUp();
  expect(await factors.methodsOf('ann')).toEqual(['totp', 'recovery-code']);
  expect(await factors.prove('ann', codeNow(secret))).toBeNull();
  clock.nowMs += 30_000;
  const code = codeNow(secret);
  expect(await factors.prove('eve', code)).toBeNull();
  const tries = await Promise.all([1, 2, 3].map(() => factors.prove('ann', code)));
  expect(tries.filter((one) => one === 'totp')).toHaveLength(1);
});

test('a recovery code stands in for the app once, until there are new ones', async () => {
  const { codes } = await setUp();
  const [first = '', second = ''] = codes;
  expect(await factors.prove('ann', first.toUpperCase())).toBe('recovery-code');
  expect(await factors.prove('ann', first)).toBeNull();
  const renewed = await factors.renewRecoveryCodes('ann');
  expect(await factors.prove('ann', second)).toBeNull();
  expect(renewed.ok && (await factors.prove('ann', renewed.value[0] ?? ''))).toBe('recovery-code');
  expect(await factors.renewRecoveryCodes('eve')).toMatchObject({ ok: false });
});

test('one that counts is not replaced, and is gone with its codes when it is removed', async () => {
  const { secret, codes } = await setUp();
  expect(await factors.propose('ann', 'ann@example.com')).toMatchObject({ ok: false });
  await factors.remove('ann');
  clock.nowMs += 30_000;
  expect(await factors.prove('ann', codeNow(secret))).toBeNull();
  expect(await factors.prove('ann', codes[0] ?? '')).toBeNull();
  expect(await factors.methodsOf('ann')).toEqual([]);
});

test('neither the secret nor a code is in the files of the store', async () => {
  const { secret, codes } = await setUp();
  await store.close();
  const text = readFileSync(join(directory, 'headgate.sqlite'), 'latin1');
  for (const plain of [secret, ...codes, ...codes.map((code) => code.replace('-', ''))])
    expect(text).not.toContain(plain);
  store = await openSqliteStore({
    ...{ file: join(directory, 'headgate.sqlite'), durability: 'strict', clock, onAlarm: () => undefined },
    openLane: (...lane) => new SameThreadLane(...lane),
  });
});

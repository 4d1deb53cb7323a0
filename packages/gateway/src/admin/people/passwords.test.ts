import { expect, test } from 'vitest';
import { Passwords, PasswordsBusy, passwordMistake } from './passwords.ts';

const cheap = { memoryKiB: 64, passes: 1 };

test('a password is known by its hash alone, and no hash is like another', async () => {
  const passwords = new Passwords(cheap);
  const [one, other] = [
    await passwords.hash('four words make it'),
    await passwords.hash('four words make it'),
  ];
  expect(one).not.toBe(other);
  expect(await passwords.verify('four words make it', one)).toBe(true);
  expect(await passwords.verify('four words make it!', one)).toBe(false);
  // The same characters, put together in another way.
  expect(
    await passwords.verify('caf\u0065\u0301 caf\u00e9', await passwords.hash('caf\u00e9 cafe\u0301')),
  ).toBe(true);
});

test('nothing is the password of who has none, and no damaged hash opens', async () => {
  const passwords = new Passwords(cheap);
  const hash = await passwords.hash('four words make it');
  for (const stored of [
    null,
    '',
    'x',
    hash.slice(0, -1),
    hash.replace('argon2id', 'argon2i'),
    hash.replace('p=1', 'p=2'),
  ])
    expect(await passwords.verify('four words make it', stored)).toBe(false);
  // A stored hash is no password.
  expect(await passwords.verify(hash, hash)).toBe(false);
});

test('the usual work is the one that RFC 9106 recommends, and older hashes say that they are', async () => {
  const [usual, old] = [new Passwords(), new Passwords(cheap)];
  const hash = await usual.hash('four words make it');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect([usual.isOld(hash), usual.isOld(await old.hash('x'))]).toEqual([false, true]);
});

test('whoever is not there takes as long as who is', async () => {
  const passwords = new Passwords({ memoryKiB: 4096, passes: 2 });
  const hash = await passwords.hash('four words make it');
  const took = async (stored: string | null) => {
    const times: number[] = [];
    for (let at = 0; at < 9; at++) {
      const begunAt = performance.now();
      await passwords.verify('another guess', stored);
      times.push(performance.now() - begunAt);
    }
    return Math.min(...times);
  };
  let ratio = 0;
  // What else the machine does must not decide.
  for (let tries = 0; tries < 5 && !(ratio > 0.6 && ratio < 1.67); tries++)
    ratio = (await took(null)) / (await took(hash));
  expect(ratio).toBeGreaterThan(0.6);
  expect(ratio).toBeLessThan(1.67);
});

test('so many wait for their turn, and no more', async () => {
  const passwords = new Passwords(cheap);
  const waiting = Array.from({ length: 64 }, () => passwords.verify('x', null));
  await expect((async () => passwords.verify('x', null))()).rejects.toThrow(PasswordsBusy);
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => false));
  expect(await passwords.verify('x', null)).toBe(false);
});

test.each([
  ['short', 'ada', true],
  ['ten chars!', 'ada', false],
  ['密码由很多个字组成吧', 'ada', false],
  ['aaaaaaaaaaaa', 'ada', true],
  ['ADA@example.com', 'ada@EXAMPLE.com', true],
  ['x'.repeat(100).concat('abc').repeat(2), 'ada', true],
])('%.20s is a password of %s: refused %s', (text, login, isRefused) => {
  expect(passwordMistake(text, login) !== null).toBe(isRefused);
});

test('hashes are made beside the thread that asks for them, which serves calls', async () => {
  const passwords = new Passwords();
  const [allBefore, ownBefore] = [process.cpuUsage(), process.threadCpuUsage()];
  await Promise.all(Array.from({ length: 4 }, () => passwords.verify('another guess', null)));
  const [all, own] = [process.cpuUsage(allBefore), process.threadCpuUsage(ownBefore)];
  // Work is counted, not time: what else the machine does must not decide.
  expect((own.user + own.system) / (all.user + all.system)).toBeLessThan(0.3);
});

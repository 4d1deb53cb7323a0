import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '@headgate/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeFile } from '../admin/owner-files.ts';
import { newPerson } from '../admin/people/sign-in.ts';
import { environmentOf } from '../config.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { runCommandLine } from './run.ts';

let directory = '';

const openStore = () =>
  openSqliteStore({
    ...{ file: storeFile(join(directory, 'data')), durability: 'strict', onAlarm: () => undefined },
    clock: { now: () => Date.now(), monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
  });

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-console-commands-'));
  await headgate('', 'keys', 'list');
  const store = await openStore();
  const ann = { ...newPerson({ login: 'ann@example.com', name: 'Ann' }, 1), isOperator: true };
  await store.people.insert({ ...ann, id: 'person-ann' }, false);
  await store.factors.proposeTotp({ personId: 'person-ann', keyId: 'k', sealed: 's' });
  await store.factors.takeTotpStep('person-ann', 1, ['hash']);
  await store.close();
});
afterEach(() => rmSync(directory, { recursive: true }));

async function headgate(secret: string, ...words: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(words, {
    environment: environmentOf({}),
    directory,
    stopping: () => AbortSignal.abort(),
    version: '1.2.3',
    readSecret: () => Promise.resolve(succeed(secret)),
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

const reset = ['console', 'reset-password', '--person', 'ANN@example.com'];

test('people are listed, without what they sign in with', async () => {
  const listed = await headgate('', 'console', 'people');
  expect(listed).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ann@example\.com +Ann +operator/) as unknown,
  });
  expect((await headgate('', 'console', 'people', '--json')).out).not.toContain('assword');
});

test('a link leads to the configured origin, and nowhere where none is known', async () => {
  expect(await headgate('', ...reset)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--set') as unknown,
  });
  const linked = await headgate('', ...reset, '--console-origin', 'https://console.example.com');
  expect(linked).toMatchObject({ code: 0 });
  expect(linked.out).toMatch(/^https:\/\/console\.example\.com\/password#[\w-]{43}\n$/);
  const store = await openStore();
  expect(await store.audit.list({ accounts: 'all' }, 5, null)).toMatchObject([
    { action: 'person.password-link', actor: { kind: 'command-line' }, target: { id: 'person-ann' } },
  ]);
  await store.close();
});

test('a password is set from standard input, and the lost app is removed with it', async () => {
  expect(await headgate('short', ...reset, '--set')).toMatchObject({ code: 1 });
  expect(await headgate('a sentence that is long\n', ...reset, '--set', '--remove-totp')).toMatchObject({
    code: 0,
  });
  const store = await openStore();
  const ann = await store.people.findByLogin('ann@example.com');
  expect(ann?.passwordHash).toMatch(/^\$argon2id\$/);
  expect((await store.factors.factorsOf('person-ann')).hasTotp).toBe(false);
  await store.close();
});

test('nobody and no name are told so', async () => {
  expect(await headgate('', 'console', 'reset-password')).toMatchObject({ code: 2 });
  expect(await headgate('', 'console', 'reset-password', '--person', 'eve')).toMatchObject({
    code: 1,
    err: expect.stringContaining('console people') as unknown,
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuditNote } from '../ports/audit.ts';
import type { KnownPerson, PersonSession } from '../ports/people.ts';
import type { Store } from '../ports/store.ts';
import { declaration, epochMs } from './contract/samples.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import { SameThreadLane } from './sqlite/same-thread-lane.ts';

let directory = '';
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-people-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  await store.configuration.apply('import', declaration, epochMs);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function person(login: string, changes: Partial<KnownPerson> = {}): KnownPerson {
  return {
    ...{
      id: `person-${login}`,
      login,
      name: login,
      isOperator: false,
      disabledAtMs: null,
      createdAtMs: epochMs,
    },
    ...{ language: null, theme: null, passwordHash: null, memberships: [], ...changes },
  };
}

function session(id: string, personId: string, atMs = epochMs): PersonSession {
  return {
    ...{ id, personId, how: 'password', userAgent: null, address: null },
    ...{ createdAtMs: atMs, lastSeenAtMs: atMs, provenAtMs: atMs, expiresAtMs: epochMs + 1_000_000 },
  };
}

test('a person is found by a login whatever its capitals, and no two have one', async () => {
  const { people } = store;
  const ada = person('Ada@Example.com', { memberships: [{ accountId: 'account-1', role: 'admin' }] });
  expect(await people.insert(ada, true)).toBe('added');
  expect(await people.insert(person('ada@EXAMPLE.com', { id: 'other' }), false)).toBe('login-taken');
  expect(await people.insert(person('grace'), true)).toBe('not-first');
  expect(await people.insert(person('grace'), false)).toBe('added');
  expect(await people.findByLogin('ADA@example.COM')).toEqual(ada);
  expect(await people.find('nobody')).toBeNull();
  expect(await people.count()).toBe(2);
  expect(await people.amend('person-grace', { login: 'ada@example.com' })).toBe('login-taken');
  expect(await people.amend('person-grace', { login: 'GRACE', isOperator: true, theme: 'dark' })).toBe(
    'changed',
  );
  expect(await people.find('person-grace')).toMatchObject({
    login: 'GRACE',
    isOperator: true,
    theme: 'dark',
  });
  expect(await people.amend('nobody', { name: 'x' })).toBe('unknown');
});

test('people are listed by login in pages, those of some accounts alone where these are asked for', async () => {
  const { people } = store;
  for (const [login, accountId] of [
    ['c', 'account-1'],
    ['A', 'account-2'],
    ['b', 'account-1'],
  ] as const)
    await people.insert(person(login, { memberships: [{ accountId, role: 'viewer' }] }), false);
  const logins = async (...inputs: Parameters<typeof people.list>) =>
    (await people.list(...inputs)).map(({ login }) => login);
  expect(await logins('all', 2, null)).toEqual(['A', 'b']);
  expect(await logins('all', 2, 'b')).toEqual(['c']);
  expect(await logins(['account-1'], 9, null)).toEqual(['b', 'c']);
  expect(await logins([], 9, null)).toEqual([]);
});

test('a membership is set, changed and taken away, and ends with its account', async () => {
  const { people } = store;
  await people.insert(person('ada'), false);
  expect(await people.setMembership('person-ada', 'account-1', 'viewer')).toBe(true);
  expect(await people.setMembership('person-ada', 'account-1', 'admin')).toBe(true);
  expect(await people.setMembership('person-ada', 'nowhere', 'admin')).toBe(false);
  expect(await people.setMembership('nobody', 'account-1', 'admin')).toBe(false);
  expect(await people.accountsOf('person-ada')).toMatchObject([{ id: 'account-1', role: 'admin' }]);
  await store.configuration.apply('import', { ...declaration, accounts: [], groups: [], keys: [] }, epochMs);
  expect((await people.find('person-ada'))?.memberships).toEqual([]);
});

test('all that is a person’s goes with them', async () => {
  const { people } = store;
  await people.insert(person('ada', { memberships: [{ accountId: 'account-1', role: 'admin' }] }), false);
  await people.openSession(session('s', 'person-ada'), 'hash');
  expect(await people.remove('person-ada')).toBe('removed');
  expect(await people.remove('person-ada')).toBe('unknown');
  expect(await people.findSession('hash', epochMs, 0)).toBeNull();
  expect(await people.insert(person('ada'), false)).toBe('added');
  expect((await people.find('person-ada'))?.memberships).toEqual([]);
});

test('a person is signed in at fifty places, and the oldest give way', async () => {
  const { people } = store;
  await people.insert(person('ada'), false);
  for (let at = 0; at < 60; at++)
    await people.openSession(session(`s${at}`, 'person-ada', epochMs + at), `hash-${at}`);
  const found = await people.listSessions('person-ada', epochMs, 0);
  expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, at) => `s${59 - at}`));
});

test('a hundred thousand sessions make none slower to find', async () => {
  const { people } = store;
  await people.insert(person('ada'), false);
  const database = new DatabaseSync(join(directory, 'headgate.sqlite'));
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO sessions SELECT 's' || i, 'hash-' || i, 'person-ada', ${epochMs}, ${epochMs}, ${epochMs + 1000}, ${epochMs}, 'password', NULL, NULL FROM n`);
  const plan = database
    .prepare(
      "EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE secret_hash = 'x' AND expires_at_ms > 0 AND last_seen_at_ms > 0",
    )
    .all();
  database.close();
  expect(JSON.stringify(plan)).toMatch(
    /SEARCH sessions USING INDEX sqlite_autoindex_sessions_\d+ \(secret_hash=\?\)/,
  );
  const begunAt = performance.now();
  for (let at = 1; at <= 200; at++)
    expect(await people.findSession(`hash-${at * 499}`, epochMs, 0)).not.toBeNull();
  expect((performance.now() - begunAt) / 200).toBeLessThan(20);
});

test('what was changed is never changed again, nor taken away', async () => {
  await store.audit.write({
    ...{
      id: '0'.repeat(32),
      atMs: epochMs,
      actor: { kind: 'command-line', personId: null, name: 'command line' },
    },
    ...{ action: 'key.create', target: { kind: 'key', id: 'k', name: null }, accountId: 'account-1' },
    ...{ before: null, after: { name: 'k' }, address: null },
  });
  const database = new DatabaseSync(join(directory, 'headgate.sqlite'));
  for (const statement of ["UPDATE audit SET action = 'x'", 'DELETE FROM audit'])
    expect(() => database.exec(statement)).toThrow('never');
  database.close();
  expect(await store.audit.list({ accounts: ['account-2'] }, 9, null)).toEqual([]);
  expect(await store.audit.list({ accounts: ['account-1'], targetKind: 'key' }, 9, null)).toHaveLength(1);
});

test('a change and its note are there together, or neither is', async () => {
  const { people, audit, configuration } = store;
  const refusing = new DatabaseSync(join(directory, 'headgate.sqlite'));
  refusing.exec(
    "create trigger refuse before insert on audit begin select raise(abort, 'the disk says no'); end",
  );
  const note = (kind: AuditNote['target']['kind'], id: string): AuditNote => ({
    ...{ id: '0'.repeat(32), atMs: epochMs, accountId: null, before: null, after: {}, address: null },
    ...{ actor: { kind: 'nobody', personId: null, name: 'nobody' }, action: `${kind}.test` },
    ...{ target: { kind, id, name: null }, members: ['name'] },
  });
  const change = () => audit.noting([note('person', 'person-ada')]).people.insert(person('ada'), false);
  const amend = () =>
    audit
      .noting([note('account', 'account-1')])
      .configuration.amendLimits('account', 'account-1', { name: 'Renamed' });
  const nameNow = async () =>
    (await configuration.load()).accounts.find(({ id }) => id === 'account-1')?.name;
  const before = await nameNow();
  await expect(change()).rejects.toThrow('the disk says no');
  await expect(amend()).rejects.toThrow('the disk says no');
  expect(await people.find('person-ada')).toBeNull();
  expect(await nameNow()).toBe(before);
  expect(await audit.list({ accounts: 'all' }, 9, null)).toEqual([]);
  refusing.exec('drop trigger refuse');
  refusing.close();
  // What changes nothing writes nothing, and what does is written once.
  expect(await change()).toBe('added');
  expect(await change()).toBe('login-taken');
  expect(await audit.list({ accounts: 'all' }, 9, null)).toHaveLength(1);
});

test('the last operator who may sign in stays one, also for who asks at the same moment', async () => {
  const { people } = store;
  await people.insert(person('ada', { isOperator: true }), false);
  await people.insert(person('bob', { isOperator: true }), false);
  const less = { isOperator: false, roles: [], keptSession: null };
  const demoted = await Promise.all(['person-ada', 'person-bob'].map((id) => people.changeAccess(id, less)));
  expect(demoted.sort()).toEqual(['changed', 'last-operator']);
  const last = (await people.find('person-ada'))?.isOperator === true ? 'person-ada' : 'person-bob';
  expect(await people.changeAccess(last, { disabledAtMs: epochMs, roles: [], keptSession: null })).toBe(
    'last-operator',
  );
  expect(await people.remove(last)).toBe('last-operator');
});

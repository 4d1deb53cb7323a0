import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PersonActor } from '../../admin/people/actor.ts';
import type { Role } from '../../ports/people.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, sampleKey } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import type { KeyChoicesView } from './contract/keys.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { keySources } from './key-sources.fixture.ts';
import { keysApi } from './keys-api.ts';

let directory = '';
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-keys-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  await store.configuration.apply('import', declaration, epochMs);
  await store.configuration.insertKey({ ...sampleKey('mine'), accountId: 'account-1' }, epochMs);
  await store.configuration.insertKey({ ...sampleKey('theirs'), accountId: 'account-2' }, epochMs);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function person(role: Role, accountId = 'account-1'): PersonActor {
  return {
    ...{ kind: 'person', personId: 'p1', name: 'Ada', isOperator: false, sessionId: 's1' },
    ...{ memberships: [{ accountId, role }], provenAtMs: epochMs, address: '127.0.0.1' },
  };
}

function as(role: Role | 'operator') {
  const given = role === 'operator' ? {} : { actor: person(role) };
  return testApi(
    (api) =>
      keysApi(
        api,
        keySources(() => store, epochMs),
      ),
    { nowMs: epochMs, ...given },
  );
}

test('a key is made with all that a key may have, told once, and changed', async () => {
  const ask = as('operator');
  const draft = {
    ...{ name: 'CI', account: 'account-1', group: 'group-1', models: ['alpha'], strict: true },
    ...{ expires: '2027-01-31T00:00:00Z', addressRanges: ['203.0.113.0/24'] },
    ...{ budgets: { day: '2.5', alertAt: '0.5' }, limits: { concurrency: 3 } },
  };
  const made = await ask('POST', '/keys', draft);
  expect(made).toMatchObject({
    status: 201,
    json: {
      secret: expect.stringMatching(/^sk-/) as unknown,
      key: {
        ...{ name: 'CI', state: 'active', account: 'account-1', group: 'group-1', models: ['alpha'] },
        ...{ strict: true, addressRanges: ['203.0.113.0/24'], expires: '2027-01-31T00:00:00.000Z' },
        ...{
          budgets: [{ span: 'day', amount: '2.5', spent: '0' }],
          limits: { concurrency: 3 },
          alertAt: '0.5',
        },
        declared: false,
      },
    },
  });
  const { id } = made.json['key'] as { id: string };
  const shown = await ask('GET', `/keys/${id}`);
  expect(JSON.stringify(shown.json)).not.toContain(String(made.json['secret']));
  const etag = shown.headers.get('etag') ?? '';
  const patch = { name: 'CI 2', models: null, budgets: { day: null, month: '40' }, addressRanges: null };
  const changed = await ask('PATCH', `/keys/${id}`, patch, { 'if-match': etag });
  expect(changed).toMatchObject({
    status: 200,
    json: { name: 'CI 2', models: null, addressRanges: null, budgets: [{ span: 'month', amount: '40' }] },
  });
  expect(await ask('PATCH', `/keys/${id}`, { name: 'x' }, { 'if-match': etag })).toMatchObject({
    status: 412,
    json: { code: 'stale' },
  });
  const { yaml } = (await ask('GET', `/keys/${id}/declaration`)).json;
  expect(yaml).toContain('month: "40"');
  expect(yaml).toContain('environment: HEADGATE_KEY_');
});

test('it is disabled, enabled, rotated with a grace, and revoked for good', async () => {
  const ask = as('member');
  expect((await ask('POST', '/keys/mine/disable')).json['state']).toBe('disabled');
  expect((await ask('POST', '/keys/mine/enable')).json['state']).toBe('active');
  const rotated = await ask('POST', '/keys/mine/rotate', { grace: '1h' });
  expect(rotated).toMatchObject({ status: 201, json: { key: { name: 'Key mine', state: 'active' } } });
  const old = await ask('GET', '/keys/mine');
  expect(old.json).toMatchObject({ state: 'retiring', retiresAt: '2026-03-01T01:00:00.000Z' });
  expect((await ask('POST', '/keys/mine/rotate', {})).status).toBe(409);
  expect((await ask('POST', '/keys/mine/rotate', { grace: 'soon' })).json).toMatchObject({
    errors: [{ field: 'grace' }],
  });
  expect((await ask('POST', '/keys/mine/revoke')).json['state']).toBe('revoked');
  expect((await ask('POST', '/keys/mine/enable')).status).toBe(409);
  const actions = (await store.audit.list({ accounts: ['account-1'] }, 10, null)).map(({ action }) => action);
  expect(actions.sort()).toEqual(['key.disable', 'key.enable', 'key.revoke', 'key.rotate']);
});

test('a person sees and changes keys of their accounts alone', async () => {
  const ask = as('member');
  expect((await ask('GET', '/keys?sort=name')).json['items']).toMatchObject([
    { id: 'key-1' },
    { id: 'mine' },
  ]);
  expect((await ask('GET', '/keys?account=account-2')).json['items']).toEqual([]);
  for (const [method, path, body] of [
    ['GET', '/keys/theirs', undefined],
    ['PATCH', '/keys/theirs', { name: 'x' }],
    ['GET', '/keys/theirs/usage', undefined],
    ['GET', '/keys/theirs/declaration', undefined],
    ['POST', '/keys/theirs/rotate', {}],
    ['POST', '/keys/theirs/revoke', undefined],
  ] as const)
    expect([path, (await ask(method, path, body)).status]).toEqual([path, 404]);
  expect((await ask('POST', '/keys', { account: 'account-2' })).json).toMatchObject({
    errors: [{ field: 'account' }],
  });
  expect(await store.keys.find('all', 'theirs')).toMatchObject({ state: 'active', name: 'Key theirs' });
});

test('a viewer reads and changes nothing', async () => {
  const ask = as('viewer');
  expect((await ask('GET', '/keys/mine')).status).toBe(200);
  for (const [method, path] of [
    ['POST', '/keys'],
    ['PATCH', '/keys/mine'],
    ['POST', '/keys/mine/revoke'],
  ] as const)
    expect([403, 404]).toContain((await ask(method, path, { name: 'x' })).status);
  expect(await store.keys.find('all', 'mine')).toMatchObject({ state: 'active', name: 'Key mine' });
});

test('the bounds of a member are those of the account; its administrator goes beyond, and its groups are the operator’s', async () => {
  const limits = { budgets: { month: '10' }, limits: { requestsPerMinute: 60 } };
  await store.configuration.amendLimits('account', 'account-1', { budgets: null, limits: null });
  await store.configuration.amendLimits('account', 'account-1', limits);
  const [group] = declaration.groups;
  if (group === undefined) throw new Error('there is one');
  await store.configuration.insertGroup({ ...group, id: 'cheap' });
  const above = { group: 'group-1', budgets: { month: '10.01' }, limits: { requestsPerMinute: 61 } };
  expect((await as('member')('POST', '/keys', above)).json).toMatchObject({
    code: 'invalid_request',
    errors: [{ field: 'budgets.month' }, { field: 'limits.requestsPerMinute' }],
  });
  const within = { group: 'group-1', budgets: { month: '10' }, limits: { requestsPerMinute: 60 } };
  expect((await as('member')('POST', '/keys', within)).status).toBe(201);
  expect((await as('member')('PATCH', '/keys/mine', { budgets: { month: '11' } })).json).toMatchObject({
    errors: [{ field: 'budgets.month' }],
  });
  expect((await as('admin')('PATCH', '/keys/mine', { budgets: { month: '11' } })).status).toBe(200);
  for (const role of ['member', 'admin'] as const)
    expect((await as(role)('POST', '/keys', { group: 'cheap' })).json).toMatchObject({
      errors: [{ field: 'group' }],
    });
  expect((await as('operator')('POST', '/keys', { account: 'account-1', group: 'cheap' })).status).toBe(201);
  await store.configuration.amendLimits('account', 'account-1', { groups: ['group-1'] });
  expect((await as('member')('POST', '/keys', { group: 'cheap' })).status).toBe(400);
  expect((await as('member')('GET', '/keys/choices')).json).toMatchObject({
    accounts: [{ id: 'account-1', groups: ['group-1'], mayMake: true }],
  });
  // An operator may make keys in all groups of all accounts, which are not named one by one.
  const ofOperator = (await as('operator')('GET', '/keys/choices')).json as KeyChoicesView;
  expect(ofOperator.accounts.find(({ id }) => id === 'account-1')).toMatchObject({
    ...{ groups: null, mayMake: true },
  });
});

test.each([
  ['a member that is none', { owner: 'x' }, 'owner'],
  ['its own secret', { hash: 'x' }, 'hash'],
  ['a status', { status: 'active' }, 'status'],
  ['a model that is none', { models: ['gamma'] }, 'models.0'],
  ['a time that is over', { expires: '2020-01-01T00:00:00Z' }, 'expires'],
  ['no time', { expires: 'soon' }, 'expires'],
  ['no address', { addressRanges: ['here'] }, 'addressRanges.0'],
  ['an amount that is a float', { budgets: { day: 1.5 } }, 'budgets.day'],
  ['a name of two lines', { name: 'a\nb' }, 'name'],
])('%s is refused by its name', async (_, draft, field) => {
  const refused = await as('operator')('POST', '/keys', { account: 'account-1', group: 'group-1', ...draft });
  expect(refused).toMatchObject({ status: 400, json: { errors: [{ field }] } });
});

test('a key that a file declares is changed there', async () => {
  await store.configuration.apply('import', { ...declaration, keys: [], groups: [], accounts: [] }, epochMs);
  await store.configuration.apply('file', declaration, epochMs);
  const ask = as('operator');
  expect((await ask('GET', '/keys/key-1')).json['declared']).toBe(true);
  expect(await ask('PATCH', '/keys/key-1', { name: 'x' })).toMatchObject({
    status: 409,
    json: { code: 'conflict', detail: expect.stringContaining('change keys.key-1 there') as unknown },
  });
});

test('pages go on where the one before ended, and a cursor of another list is refused', async () => {
  for (let at = 0; at < 5; at++) await store.configuration.insertKey(sampleKey(`k${at}`), epochMs + at);
  const ask = as('operator');
  const seen: unknown[] = [];
  for (let cursor: unknown = ''; cursor !== null; ) {
    const { json } = await ask(
      'GET',
      `/keys?limit=2&sort=name${cursor === '' ? '' : `&cursor=${String(cursor)}`}`,
    );
    seen.push(...(json['items'] as { id: string }[]).map(({ id }) => id));
    cursor = json['next'];
  }
  expect(new Set(seen).size).toBe(8);
  expect(seen).toHaveLength(8);
  expect((await ask('GET', '/keys?cursor=e30')).json).toMatchObject({ errors: [{ field: 'cursor' }] });
});

test('the days of a key are all there, with nothing where nothing was', async () => {
  const { json } = await as('viewer')('GET', '/keys/mine/usage?days=3');
  expect(json).toEqual({
    days: ['2026-02-27', '2026-02-28', '2026-03-01'].map((day) => ({
      ...{ day, calls: 0, charge: '0', inputTokens: 0, outputTokens: 0 },
    })),
    models: [],
  });
});

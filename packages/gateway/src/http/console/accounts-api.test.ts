import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Actor } from '../../admin/people/actor.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, sampleKey } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { accountsApi } from './accounts-api.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { groupsApi } from './groups-api.ts';
import { keySources } from './key-sources.fixture.ts';
import { keysApi } from './keys-api.ts';

let directory = '';
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-accounts-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  await store.configuration.apply('import', declaration, epochMs);
  await store.configuration.insertKey(sampleKey('key-9'), epochMs);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const ask = testApi((api) => {
  const tools = (actor: Actor) => ({ store, actor, nowMs: epochMs });
  accountsApi(api, { accounts: tools });
  groupsApi(api, { groups: tools });
  keysApi(
    api,
    keySources(() => store, epochMs),
  );
});

test('an account is made, credited once, limited and shown', async () => {
  const made = await ask('POST', '/accounts', {
    ...{ id: 'partner', name: 'Partner', prepaid: true, creditLimit: '5' },
    budgets: { day: '20.5' },
  });
  expect(made).toMatchObject({
    status: 201,
    json: { id: 'partner', account: { money: { prepaid: true, creditLimit: '5', balance: '0' } } },
  });
  const credit = { amount: '10.25', reason: 'Invoice', reference: 'pay-1' };
  expect(await ask('POST', '/accounts/partner/credit', credit)).toMatchObject({
    status: 201,
    json: { amount: '10.25', balance: '10.25', isNew: true, madeBy: 'operator token' },
  });
  expect(await ask('POST', '/accounts/partner/credit', credit)).toMatchObject({
    status: 200,
    json: { balance: '10.25', isNew: false },
  });
  expect(await ask('POST', '/accounts/partner/credit', { ...credit, amount: '11' })).toMatchObject({
    status: 409,
    json: { code: 'conflict', errors: [{ field: 'reference' }] },
  });
  expect(await ask('POST', '/accounts/partner/debit', { amount: '20', reason: 'x' })).toMatchObject({
    status: 409,
    json: { errors: [{ field: 'force' }] },
  });
  const forced = { amount: '20', reason: 'x', force: true };
  expect(await ask('POST', '/accounts/partner/debit', forced)).toMatchObject({
    status: 201,
    json: { amount: '-20', balance: '-9.75' },
  });
  expect((await ask('GET', '/accounts/partner/postings?limit=1')).json['items']).toMatchObject([
    { amount: '-20', reason: 'x' },
  ]);
  expect((await ask('GET', '/accounts')).json['items']).toMatchObject([
    { id: 'account-1' },
    { id: 'account-2' },
    { id: 'partner', balance: '-9.75', leased: '0', keys: 0, source: 'operator' },
  ]);
  expect(await store.verify()).toMatchObject({ findings: [] });
});

test('an account says how many of its keys may be used, and none of them: they are a list of their own', async () => {
  for (let at = 0; at < 101; at++)
    await store.configuration.insertKey({ ...sampleKey(`many-${at}`), accountId: 'account-2' }, epochMs);
  await store.configuration.setKeyStatus('many-0', 'disabled');
  const { json } = await ask('GET', '/accounts/account-2');
  expect(json).toMatchObject({ keyCount: 100, keys: [] });
});

test('an account has a name, people’s groups and a page of postings', async () => {
  const patch = { name: 'Second', showKeys: true, groups: ['group-1'] };
  expect(await ask('PATCH', '/accounts/account-2', patch)).toMatchObject({
    status: 200,
    json: { name: 'Second', account: { showKeys: true, groups: ['group-1'] } },
  });
  expect(await ask('PATCH', '/accounts/account-2', { groups: ['none'] })).toMatchObject({
    json: { errors: [{ field: 'groups.0' }] },
  });
  for (const amount of ['1', '2', '3'])
    await ask('POST', '/accounts/account-2/credit', { amount, reason: `n ${amount}` });
  const first = await ask('GET', '/accounts/account-2/postings?limit=2');
  expect(first.json['items']).toMatchObject([{ amount: '3' }, { amount: '2' }]);
  const next = await ask('GET', `/accounts/account-2/postings?limit=2&cursor=${String(first.json['next'])}`);
  expect(next.json).toMatchObject({ items: [{ amount: '1' }], next: null });
  expect((await ask('GET', '/accounts/account-2/usage?days=2')).json['days']).toHaveLength(2);
  expect((await ask('GET', '/accounts/account-2/declaration')).json['yaml']).toContain('name: Second');
});

test('a group is made, changed whole, exported and taken away', async () => {
  const draft = { id: 'cheap', platform: 'messages', multiplier: '1.15', routing: { preset: 'cost' } };
  const made = await ask('POST', '/groups', draft);
  expect(made).toMatchObject({
    status: 201,
    json: { ...draft, routing: { preset: 'cost', channels: null }, keys: 0, declared: false },
  });
  const patch = { name: 'Cheap', multiplier: '0.9', models: ['alpha'], routing: { channels: ['channel-1'] } };
  expect((await ask('PATCH', '/groups/cheap', patch)).json).toMatchObject({
    ...{ name: 'Cheap', multiplier: '0.9', models: ['alpha'] },
    routing: { preset: 'cost', channels: ['channel-1'] },
  });
  for (const [wrong, field] of [
    [{ multiplier: '1e3' }, 'multiplier'],
    [{ routing: { channels: ['none'] } }, 'routing.channels.0'],
    [{ platform: 'native' }, 'platform'],
  ] as const)
    expect(await ask('PATCH', '/groups/cheap', wrong)).toMatchObject({
      status: 400,
      json: { errors: [{ field }] },
    });
  expect((await ask('GET', '/groups/cheap/declaration')).json['yaml']).toContain('preset: cost');
  expect((await ask('GET', '/groups')).json['items']).toMatchObject([{ id: 'cheap' }, { id: 'group-1' }]);
  expect((await ask('DELETE', '/groups/group-1')).status).toBe(409);
  expect((await ask('DELETE', '/groups/cheap')).status).toBe(204);
  expect((await ask('GET', '/groups/cheap')).status).toBe(404);
});

test.each(['viewer', 'member', 'admin'] as const)(
  'a %s sees their own account and changes none',
  async (role) => {
    const memberships = [{ accountId: 'account-2', role }];
    const actor: Actor = {
      kind: 'person',
      ...{ personId: 'p', name: 'Ada', isOperator: false, memberships, sessionId: 's' },
      ...{ provenAtMs: epochMs, address: null },
    };
    const theirs = testApi(
      (api) => {
        accountsApi(api, { accounts: (asking) => ({ store, actor: asking, nowMs: epochMs }) });
        groupsApi(api, { groups: (asking) => ({ store, actor: asking, nowMs: epochMs }) });
      },
      { actor, nowMs: epochMs },
    );
    expect((await theirs('GET', '/accounts')).json['items']).toMatchObject([{ id: 'account-2' }]);
    expect((await theirs('GET', '/accounts/account-2')).status).toBe(200);
    for (const path of ['', '/postings', '/usage', '/declaration'])
      expect((await theirs('GET', `/accounts/account-1${path}`)).status).toBe(404);
    const credit = { amount: '1', reason: 'x' };
    expect((await theirs('POST', '/accounts/account-2/credit', credit)).status).toBe(403);
    expect((await theirs('PATCH', '/accounts/account-2', { prepaid: false })).status).toBe(403);
    expect((await theirs('POST', '/accounts', { id: 'mine' })).status).toBe(403);
    expect((await theirs('GET', '/groups')).status).toBe(403);
  },
);

test('limits are merged into those that are there', async () => {
  for (const path of ['/accounts/account-2', '/groups/group-1', '/keys/key-9']) {
    await ask('PATCH', path, { budgets: null, limits: null });
    const patch = {
      budgets: { month: '7' },
      limits: { concurrency: 3, models: { alpha: { tokensPerMinute: 9 } } },
    };
    expect(await ask('PATCH', path, patch)).toMatchObject({ status: 200, json: { limits: patch.limits } });
    const { json } = await ask('PATCH', path, { limits: { concurrency: null } });
    expect(json).toMatchObject({ budgets: [{ span: 'month', amount: '7', remaining: '7' }] });
    expect(json['limits']).toEqual({ models: { alpha: { tokensPerMinute: 9 } } });
  }
});

test('a discount is set by a patch, replaced whole and taken away', async () => {
  const discounts = ['12.5', [{ percent: '20', models: ['alpha'] }, { percent: '1.25' }], null];
  for (const discount of discounts) {
    const { status, json } = await ask('PATCH', '/accounts/account-1', { discount });
    expect({ status, json }).toMatchObject({ status: 200, json: { account: { discount } } });
  }
  const made = await ask('POST', '/accounts', { id: 'partner', discount: '100' });
  expect(made).toMatchObject({ status: 201, json: { account: { discount: '100' } } });
});

const mistakes: readonly (readonly [path: string, body: unknown, param: string, said: string])[] = [
  ['POST /accounts', { id: 'Bad' }, 'id', 'lower-case'],
  ['POST /accounts', { id: 'a', balance: '5' }, 'balance', 'no such member'],
  ['POST /accounts', { id: 'a', creditLimit: '5' }, 'creditLimit', 'only beside prepaid'],
  ['POST /accounts/account-1/credit', { amount: 5, reason: 'x' }, 'amount', 'must be text'],
  ['POST /accounts/account-1/credit', { amount: '1e3', reason: 'x' }, 'amount', 'not a plain decimal'],
  ['POST /accounts/account-1/credit', { amount: '-1', reason: 'x' }, 'amount', 'not a plain decimal'],
  ['POST /accounts/account-1/credit', { amount: '1' }, 'reason', 'must be text'],
  ['POST /accounts/account-1/credit', { amount: '1', reason: 'x', force: true }, 'force', 'only for a debit'],
  ['PATCH /keys/key-9', { prepaid: true }, 'prepaid', 'no such member'],
  ['PATCH /keys/key-9', { budgets: { day: 5 } }, 'budgets.day', 'must be text'],
  ['PATCH /keys/key-9', { budgets: [] }, 'budgets', 'must be an object'],
  ['PATCH /keys/key-9', { limits: { concurrency: 0 } }, 'limits.concurrency', '1 or more'],
  [
    'PATCH /keys/key-9',
    { limits: { models: { gamma: { concurrency: 1 } } } },
    'limits.models.gamma',
    'no model',
  ],
  ['PATCH /accounts/account-1', { discount: 12.5 }, 'discount', 'as text'],
  ['PATCH /accounts/account-1', { discount: '100.5' }, 'discount', 'more than 100'],
  ['PATCH /accounts/account-1', { discount: [{ percent: '-5' }] }, 'discount.0.percent', 'plain decimal'],
  [
    'PATCH /accounts/account-1',
    { discount: [{ percent: '5', models: ['gamma'] }] },
    'discount.0.models.0',
    'no model',
  ],
  ['PATCH /groups/group-1', { discount: '5' }, 'discount', 'no such member'],
  ['PATCH /groups/group-1', { timezone: null }, 'timezone', 'must be an IANA name'],
  ['PATCH /groups/group-1', { timezone: 'Nowhere' }, 'timezone', 'IANA'],
];

test.each(mistakes)('%s %j is a 400 that names %s', async (path, body, param, said) => {
  const [method = '', where = ''] = path.split(' ');
  const { status, json } = await ask(method, where, body);
  expect({ status, json }).toMatchObject({
    status: 400,
    json: { code: 'invalid_request', errors: [{ field: param }] },
  });
  expect(JSON.stringify(json)).toContain(said);
});

test('what is not there is a 404, and what a file declares a 409', async () => {
  for (const path of ['/accounts/nobody', '/groups/nobody', '/keys/nobody']) {
    expect(await ask('GET', path)).toMatchObject({ status: 404 });
    expect(await ask('PATCH', path, { budgets: { day: '1' } })).toMatchObject({ status: 404 });
  }
  expect(await ask('GET', '/accounts/nobody/postings')).toMatchObject({ status: 404 });
  await store.configuration.apply('import', { ...declaration, accounts: [], groups: [], keys: [] }, epochMs);
  await store.configuration.apply('file', declaration, epochMs);
  expect(await ask('PATCH', '/accounts/account-1', { budgets: { day: '1' } })).toMatchObject({
    status: 409,
    json: { detail: expect.stringContaining('change accounts.account-1 there') as unknown },
  });
});

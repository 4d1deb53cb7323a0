import { afterEach, beforeEach, expect, test } from 'vitest';
import { nanoUsd } from '../../money/money.ts';
import type { KeyFilter, KeyOrder, KeyPlace } from '../../ports/key-directory.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, sampleEntry, sampleKey, settle } from './samples.ts';
import type { StoreSite } from './store-site.ts';

/** Stores of the suite have the wall's clock. */
const nowMs = Date.now();
const nothing = { providers: {}, accounts: [], groups: [], models: [], channels: [], keys: [] };

/** The part of the suite about keys as people look for them. */
export function describeKeys(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
    await store.configuration.apply('import', declaration, nowMs);
  });
  afterEach(async () => {
    await site.dispose();
  });

  const names = async (filter: KeyFilter, order: KeyOrder = 'name', scope: 'all' | string[] = 'all') =>
    (await store.keys.list(scope, filter, order, 100, null)).map(({ name }) => name);
  const add = (id: string, more: object = {}) =>
    store.configuration.insertKey({ ...sampleKey(id), name: id, ...more }, nowMs);

  test('keys are found by a part of their name, whatever signs are in it', async () => {
    await add('a_b', { name: '100%' });
    await add('a-b', { name: 'under_score' });
    expect(await names({ text: '100%' })).toEqual(['100%']);
    expect(await names({ text: '%' })).toEqual(['100%']);
    expect(await names({ text: '_' })).toEqual(['under_score']);
    expect(await names({ text: "' or 1=1 --" })).toEqual([]);
  });

  test('and no key of an account that is not in the scope', async () => {
    await add('mine', { accountId: 'account-1' });
    await add('theirs', { accountId: 'account-2' });
    expect(await names({}, 'name', ['account-2'])).toEqual(['theirs']);
    expect(await names({ accountId: 'account-1' }, 'name', ['account-2'])).toEqual([]);
    expect(await names({}, 'name', [])).toEqual([]);
    expect(await store.keys.find(['account-2'], 'mine')).toBeNull();
    expect(await store.keys.find('all', 'mine')).toMatchObject({ id: 'mine', accountId: 'account-1' });
    expect((await store.keys.choices(['account-2'])).accounts.map(({ id }) => id)).toEqual(['account-2']);
  });

  test('the state of a key is that of now, and revoked ones are shown only where they are asked for', async () => {
    for (const id of ['on', 'off', 'gone', 'old', 'over']) await add(id);
    await add('late', { expiresAtMs: nowMs - 1 });
    await store.configuration.setKeyStatus('off', 'disabled');
    await store.configuration.setKeyStatus('gone', 'revoked');
    await store.configuration.rotateKey(
      'old',
      { ...sampleKey('new'), name: 'new' },
      nowMs + 3_600_000,
      nowMs,
    );
    await store.configuration.rotateKey('over', { ...sampleKey('next'), name: 'next' }, nowMs - 1, nowMs);
    const listed = await store.keys.list('all', { accountId: 'account-1' }, 'name', 100, null);
    const states = Object.fromEntries(listed.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({ on: 'active', off: 'disabled', old: 'retiring', late: 'expired' });
    expect(states).toMatchObject({ over: 'replaced', new: 'active' });
    expect(states).not.toHaveProperty('gone');
    expect(await names({ state: 'revoked' })).toContain('gone');
    expect(await names({ state: 'retiring' })).toEqual(['old']);
  });

  test.each(['-created', 'name', '-lastUsed', '-spend30d'] as const)(
    'pages in the order %s have every key once',
    async (order) => {
      for (let at = 0; at < 25; at++) await add(`page-${at}`, { name: `same ${at % 3}` });
      const seen: string[] = [];
      for (let after: KeyPlace | null = null; ; ) {
        const page = await store.keys.list('all', {}, order, 7, after);
        seen.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.place;
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => id.startsWith('page-'))).toHaveLength(25);
    },
  );

  test('sums of a key are those of its calls, and its hash is not told', async () => {
    await add('used', {
      budgets: { day: null, month: null, total: nanoUsd(5_000_000_000n), alertAtPpm: 800_000 },
    });
    const startMs = nowMs - 3_600_000;
    const entry = sampleEntry({ keyId: 'used', startedAtMs: startMs });
    await settle(store.ledger, entry);
    await store.catchUp();
    const { chargeNanoUsd } = entry;
    const key = await store.keys.find('all', 'used');
    expect(key).toMatchObject({
      ...{
        spentDayNanoUsd: chargeNanoUsd,
        spentMonthNanoUsd: chargeNanoUsd,
        lastUsedAtMs: startMs - (startMs % 900_000),
      },
      budgetsSpent: [{ span: 'total', amountNanoUsd: 5_000_000_000n, spentNanoUsd: chargeNanoUsd }],
    });
    expect(key).not.toHaveProperty('hash');
    expect(await store.keys.days('key:used', 0)).toEqual([
      { startMs: startMs - (startMs % 86_400_000), chargeNanoUsd },
    ]);
    const [first] = await store.keys.list('all', {}, '-lastUsed', 1, null);
    expect(first?.id).toBe('used');
  });

  test('a group is made once, changed whole, and taken away when no key belongs to it', async () => {
    const [group] = declaration.groups;
    if (group === undefined) throw new Error('there is one');
    const made = { ...group, id: 'extra', name: 'Extra' };
    expect(await store.configuration.insertGroup(made)).toBe(true);
    expect(await store.configuration.insertGroup(made)).toBe(false);
    const patch = {
      multiplier: '1.25',
      routing: { preset: 'cost', channels: ['channel-1'] },
      models: ['alpha'],
    };
    expect(await store.configuration.amendLimits('group', 'extra', patch)).toMatchObject({
      ok: true,
      value: { name: 'Extra', accountId: null, after: patch },
    });
    const { groups } = await store.keys.choices('all');
    expect(groups.find(({ id }) => id === 'extra')).toMatchObject({
      ...{ multiplierPpm: 1_250_000n, models: ['alpha'] },
      routing: { preset: 'cost', channels: ['channel-1'] },
    });
    await add('member', { groupId: 'extra' });
    expect(await store.configuration.removeGroup('extra')).toEqual({ ok: false, error: 'in-use' });
    await store.configuration.setKeyStatus('member', 'revoked');
    expect(await store.configuration.removeGroup('extra')).toEqual({ ok: true, value: null });
    expect(await store.configuration.removeGroup('extra')).toEqual({ ok: false, error: 'unknown' });
    expect(await store.configuration.insertGroup(made)).toBe(true);
    await store.configuration.apply('import', nothing, nowMs);
    await store.configuration.apply('file', declaration, nowMs);
    expect(await store.configuration.removeGroup(group.id)).toEqual({ ok: false, error: 'declared' });
  });
}

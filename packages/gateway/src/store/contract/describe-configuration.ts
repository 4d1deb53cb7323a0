import { afterEach, beforeEach, expect, test } from 'vitest';
import { accountFields } from '../../catalogue/entities.ts';
import { declare } from '../../catalogue/fields.ts';
import type { PriceOrigin } from '../../catalogue/price-book.ts';
import { picoUsd } from '../../money/money.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, sampleKey, tiers } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const fromFile = <Row>(row: Row) => ({ ...row, source: 'file' });
const later = epochMs + 60_000;
const nothing = { providers: {}, accounts: [], groups: [], models: [], channels: [], keys: [] };

/** The part of the suite about configuration. */
export function describeConfiguration(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
  });
  afterEach(async () => {
    await site.dispose();
  });

  const apply = (source: 'demo' | 'file', declared: typeof declaration, nowMs = epochMs) =>
    store.configuration.apply(source, declared, nowMs);

  const statusOf = async (id: string) =>
    (await store.configuration.load()).keys.find((key) => key.id === id)?.status;

  test('loads what was declared', async () => {
    const changes = await apply('file', declaration);
    expect(changes.every((change) => change.change === 'added')).toBe(true);
    const { keys, prices, revision, credentials, settings, signingSecrets, ...loaded } =
      await store.configuration.load();
    expect([credentials, settings, signingSecrets]).toEqual([[], [], []]);
    const { keys: declaredKeys, ...declared } = declaration;
    const rows = {
      ...{ accounts: declared.accounts.map(fromFile), groups: declared.groups.map(fromFile) },
      ...{ channels: declared.channels.map(fromFile), models: declared.models.map(fromFile) },
      webhooks: declared.webhooks?.map(fromFile),
    };
    expect(loaded).toEqual({ ...declared, ...rows });
    expect(keys).toEqual([
      {
        ...declaredKeys[0],
        status: 'active',
        source: 'file',
        createdAtMs: epochMs,
        retiresAtMs: null,
        replacedBy: null,
      },
    ]);
    expect(prices.map((price) => price.version)).toEqual([
      'channel:channel-1/alpha@1',
      'model:alpha@1',
      'model:beta@1',
    ]);
    expect(revision).toBe(await store.configuration.revision());
  });

  test('changes nothing, not even the revision, when the same is declared again', async () => {
    await apply('file', declaration);
    const before = await store.configuration.load();
    expect(await apply('file', declaration, later)).toEqual([]);
    expect(await store.configuration.load()).toEqual(before);
  });

  test('raises the revision with every change, seen by other processes', async () => {
    const other = await site.open();
    const before = await other.configuration.revision();
    await apply('file', declaration);
    await store.configuration.setKeyStatus('key-1', 'disabled');
    expect(await other.configuration.revision()).toBe(before + 2);
  });

  test('keeps sealed credentials of channels, exchanges them and lets go of them', async () => {
    const { configuration } = store;
    const one = { id: 'cred-1', channelId: 'channel-1', name: 'One', keyId: 'a', sealed: 'v1.x' };
    const before = await configuration.revision();
    await configuration.addCredential(one, epochMs);
    await configuration.addCredential({ ...one, id: 'cred-0' }, later);
    expect(await configuration.rotateCredential('cred-1', { keyId: 'b', sealed: 'v1.y' }, later)).toBe(true);
    expect(await configuration.revision()).toBe(before + 3);
    const times = { createdAtMs: epochMs, rotatedAtMs: later };
    expect((await configuration.load()).credentials).toEqual([
      { ...one, kind: 'sealed', keyId: 'b', sealed: 'v1.y', ...times },
      { ...one, kind: 'sealed', id: 'cred-0', createdAtMs: later, rotatedAtMs: null },
    ]);
    expect(await configuration.removeCredential('cred-1')).toBe(true);
    expect((await configuration.load()).credentials.map(({ id }) => id)).toEqual(['cred-0']);
    expect(await configuration.revision()).toBe(before + 4);
    const gone = [
      await configuration.removeCredential('cred-1'),
      await configuration.rotateCredential('cred-1', { keyId: 'b', sealed: '' }, later),
    ];
    expect([...gone, await configuration.revision()]).toEqual([false, false, before + 4]);
  });

  test('keeps webhooks of the console with what they sign with, and changes nothing that was configured since', async () => {
    const { configuration } = store;
    const own = { url: 'https://a.example', description: null, secret: null, kinds: null } as const;
    const webhook = { id: 'own', ...own, severity: 'info', enabled: true, allowPrivate: false } as const;
    const secret = (id: string) => ({ id, webhook: 'own', keyId: 'a', sealed: `v1.${id}` });
    const now = () => configuration.revision();
    const before = await now();
    expect(await configuration.insertWebhook(webhook, secret('s0'), before, epochMs)).toBe(true);
    const stale = [
      await configuration.insertWebhook({ ...webhook, id: 'b' }, secret('s9'), before, epochMs),
      await configuration.putWebhook({ ...webhook, enabled: false }, before),
      await configuration.rotateSigningSecret(secret('s8'), later, before, epochMs),
      await configuration.removeWebhook('own', before),
    ];
    expect([...stale, await now()]).toEqual([false, false, false, false, before + 1]);
    expect(await configuration.load()).toMatchObject({
      webhooks: [{ ...webhook, source: 'console' }],
      signingSecrets: [{ ...secret('s0'), kind: 'signing', createdAtMs: epochMs, retiresAtMs: null }],
    });
    // Of those before, the newest go on, each until its own time or the new one, whichever is first.
    for (const [at, until] of [later + 9, later, later + 5, later, later].entries())
      await configuration.rotateSigningSecret(secret(`s${at + 1}`), until, await now(), epochMs + at + 1);
    const kept = (await configuration.load()).signingSecrets ?? [];
    expect(kept.map(({ id, retiresAtMs }) => [id, retiresAtMs])).toEqual([
      ...[['s5', null] as const, ['s4', later] as const, ['s3', later] as const, ['s2', later] as const],
    ]);
    expect(await configuration.rotateSigningSecret(secret('s6'), later + 1, await now(), later + 1)).toBe(
      true,
    );
    expect((await configuration.load()).signingSecrets?.map(({ id }) => id)).toEqual(['s6']);
    expect(await configuration.putWebhook({ ...webhook, enabled: false }, await now())).toBe(true);
    expect((await configuration.load()).webhooks).toMatchObject([{ enabled: false }]);
    expect(await apply('file', { ...declaration, webhooks: [webhook] })).toContainEqual({
      ...{ kind: 'webhook', id: 'own', change: 'refused' },
    });
    expect(await configuration.removeWebhook('own', await now())).toBe(true);
    expect(await configuration.load()).toMatchObject({ webhooks: [], signingSecrets: [] });
  });

  test('leaves what another source declares alone', async () => {
    await apply('file', declaration);
    const account = declare(accountFields, 'account', {});
    const changes = await apply('demo', {
      ...nothing,
      accounts: [
        { ...account, id: 'account-1', name: 'Taken over' },
        { ...account, id: 'account-9', name: 'New' },
      ],
    });
    expect(changes).toEqual([
      { kind: 'account', id: 'account-1', change: 'refused' },
      { kind: 'account', id: 'account-9', change: 'added' },
    ]);
    expect((await store.configuration.load()).accounts[0]).toMatchObject({ id: 'account-1', name: 'First' });
  });

  test('hides what is no longer declared, and revokes its keys', async () => {
    await apply('file', declaration);
    const changes = await apply('file', nothing, later);
    expect(new Set(changes.map((change) => change.change))).toEqual(new Set(['removed']));
    const loaded = await store.configuration.load();
    expect(loaded).toMatchObject({ providers: {}, accounts: [], groups: [], models: [], channels: [] });
    expect(loaded.keys).toMatchObject([{ id: 'key-1', status: 'revoked' }]);
    await apply('file', declaration, later);
    expect(await statusOf('key-1')).toBe('active');
  });

  test("does not undo the operator's word on a declared key", async () => {
    await apply('file', declaration);
    expect(await store.configuration.setKeyStatus('key-1', 'revoked')).toBe(true);
    await apply('file', { ...declaration, keys: [{ ...sampleKey('key-1'), name: 'Renamed' }] });
    expect((await store.configuration.load()).keys).toMatchObject([{ name: 'Renamed', status: 'revoked' }]);
  });

  test('a new price is a new version, and the old one stays', async () => {
    await apply('file', declaration);
    const dearer = tiers.map((tier) => ({ ...tier, classes: { ...tier.classes, output: picoUsd(9n) } }));
    const [alpha, beta] = declaration.models;
    if (alpha === undefined || beta === undefined) throw new Error('the sample has two models');
    const models = [
      { ...alpha, price: dearer },
      { ...beta, price: null },
    ];
    expect(await apply('file', { ...declaration, models }, later)).toEqual([
      { kind: 'price', id: 'model:alpha', change: 'changed' },
      { kind: 'price', id: 'model:beta', change: 'removed' },
    ]);
    const { prices } = await store.configuration.load();
    const ofAlpha = prices.filter((price) => price.subject === 'model:alpha');
    const said = { subject: 'model:alpha', origin: alpha.priceOrigin, source: 'file' };
    expect(ofAlpha).toEqual([
      { version: 'model:alpha@1', effectiveFromMs: epochMs, writtenAtMs: epochMs, tiers, ...said },
      { version: 'model:alpha@2', effectiveFromMs: later, writtenAtMs: later, tiers: dearer, ...said },
    ]);
    expect(prices.find((price) => price.version === 'model:beta@2')?.tiers).toEqual([]);
  });

  test('a price that another one says is a new version, and a later day of its list none', async () => {
    const said = (origin: PriceOrigin) => ({
      ...declaration,
      models: declaration.models.map((model) => ({ ...model, priceOrigin: origin })),
    });
    await apply('file', said({ by: 'catalogue', list: 'acme', asOf: '2026-01-01' }));
    expect(await apply('file', said({ by: 'catalogue', list: 'acme', asOf: '2026-06-01' }), later)).toEqual(
      [],
    );
    const changes = await apply('file', said({ by: 'operator', list: null, asOf: null }), later);
    expect(changes).toMatchObject([{ id: 'model:alpha' }, { id: 'model:beta' }]);
    const { prices } = await store.configuration.load();
    expect(prices.find(({ version }) => version === 'model:alpha@2')?.origin).toMatchObject({
      by: 'operator',
    });
  });

  test('the newest price holds even when the clock has gone back', async () => {
    await apply('file', declaration, later);
    const models = declaration.models.map((model) => ({ ...model, price: null }));
    await apply('file', { ...declaration, models }, epochMs);
    const { prices } = await store.configuration.load();
    const ofAlpha = prices.filter(({ subject }) => subject === 'model:alpha');
    expect(ofAlpha).toMatchObject([
      { version: 'model:alpha@1', effectiveFromMs: later },
      { version: 'model:alpha@2', effectiveFromMs: epochMs, tiers: [] },
    ]);
    expect((await store.configuration.load()).models[0]).toMatchObject({ id: 'alpha', price: null });
  });

  test('changes which models a channel serves', async () => {
    await apply('file', declaration);
    const channels = declaration.channels.map((channel) => ({
      ...channel,
      models: [
        {
          modelId: 'alpha',
          upstreamModel: 'alpha-2027',
          cost: null,
          costOrigin: null,
          contextWindow: null,
          lacks: [],
        },
      ],
    }));
    expect(await apply('file', { ...declaration, channels }, later)).toEqual([
      { kind: 'channel', id: 'channel-1', change: 'changed' },
      { kind: 'price', id: 'channel:channel-1/alpha', change: 'removed' },
    ]);
    expect((await store.configuration.load()).channels).toEqual(channels.map(fromFile));
  });

  test('refuses two keys with one hash', async () => {
    await apply('file', declaration);
    const twin = { ...sampleKey('key-2'), hash: sampleKey('key-1').hash };
    await expect(store.configuration.insertKey(twin, later)).rejects.toThrow();
    expect(await store.configuration.load()).toMatchObject({ keys: [{ id: 'key-1' }] });
  });

  test('a key may be declared under another id', async () => {
    await apply('file', declaration);
    const renamed = { ...sampleKey('key-1'), id: 'key-2' };
    expect(await apply('file', { ...declaration, keys: [renamed] }, later)).toEqual([
      { kind: 'key', id: 'key-1', change: 'removed' },
      { kind: 'key', id: 'key-2', change: 'added' },
    ]);
    const { keys } = await store.configuration.load();
    expect(keys.filter((key) => key.hash === renamed.hash)).toMatchObject([
      { id: 'key-2', status: 'active' },
    ]);
  });

  test.each([
    ['is kept under another id beside its successor', { 'key-old': 'a', 'key-1': 'b' }],
    ['swaps with another', { 'key-1': 'c', 'key-3': 'a' }],
    ['moves on to the next', { 'key-1': 'd', 'key-2': 'a', 'key-3': 'c' }],
  ])('a declared key %s', async (_name, after: Readonly<Record<string, string>>) => {
    const keysOf = (secrets: Readonly<Record<string, string>>) =>
      Object.entries(secrets).map(([id, secret]) => ({ ...sampleKey(id), hash: secret.repeat(64) }));
    await apply('file', { ...declaration, keys: keysOf({ 'key-1': 'a', 'key-3': 'c' }) });
    await apply('file', { ...declaration, keys: keysOf(after) }, later);
    const { keys } = await store.configuration.load();
    const active = keys.filter(({ status }) => status === 'active').map(({ id, hash }) => [id, hash[0]]);
    expect(Object.fromEntries(active)).toEqual(after);
  });

  test("a key that is another source's already is refused, by name, and the rest applied", async () => {
    await apply('file', declaration);
    await store.configuration.insertKey(sampleKey('key-2'), later);
    const twin = { ...sampleKey('key-1'), hash: sampleKey('key-2').hash };
    expect(await apply('file', { ...declaration, keys: [twin, sampleKey('key-3')] }, later)).toEqual([
      { kind: 'key', id: 'key-1', change: 'removed' },
      { kind: 'key', id: 'key-1', change: 'refused' },
      { kind: 'key', id: 'key-3', change: 'added' },
    ]);
    expect((await store.configuration.load()).keys).toMatchObject([
      { id: 'key-1', status: 'revoked' },
      { id: 'key-2', status: 'active', hash: twin.hash },
      { id: 'key-3', status: 'active' },
    ]);
  });

  test('says what a source would take away, and changes nothing', async () => {
    await apply('file', { ...declaration, keys: ['a', 'b', 'c'].map((id) => sampleKey(id)) });
    await store.configuration.insertKey(sampleKey('by-hand'), epochMs);
    await store.configuration.setKeyStatus('c', 'revoked');
    const before = await store.configuration.load();
    const removals = (declared: typeof declaration) => store.configuration.removals('file', declared);
    const channels = declaration.channels.length;
    expect(await removals(nothing)).toEqual([
      { kind: 'channel', removed: channels, added: 0, inForce: channels },
      { kind: 'key', removed: 2, added: 0, inForce: 3 },
    ]);
    const renamed = { ...sampleKey('renamed'), hash: sampleKey('a').hash };
    expect(await removals({ ...declaration, keys: [renamed, sampleKey('d')] })).toEqual([
      { kind: 'channel', removed: 0, added: 0, inForce: channels },
      { kind: 'key', removed: 1, added: 1, inForce: 3 },
    ]);
    expect(await store.configuration.removals('import', nothing, ['file'])).toEqual([
      { kind: 'channel', removed: 0, added: 0, inForce: 0 },
      { kind: 'key', removed: 0, added: 0, inForce: 1 },
    ]);
    expect(await store.configuration.load()).toEqual(before);
  });

  test('takes the place of other sources in one transaction, or not at all', async () => {
    await apply('demo', { ...declaration, channels: [], models: [] });
    const before = await store.configuration.load();
    const keys = [sampleKey('key-1'), { ...sampleKey('key-2'), hash: sampleKey('key-1').hash }];
    const replace = (declared: typeof declaration) =>
      store.configuration.apply('file', declared, later, ['demo']);
    await expect(replace({ ...declaration, keys })).rejects.toThrow();
    expect(await store.configuration.load()).toEqual(before);
    await replace({ ...nothing, keys: [{ ...sampleKey('key-2'), hash: sampleKey('key-1').hash }] });
    const after = await store.configuration.load();
    expect(after).toMatchObject({ accounts: [], groups: [] });
    expect(after.keys).toMatchObject([
      { id: 'key-1', status: 'revoked' },
      { id: 'key-2', status: 'active', source: 'file' },
    ]);
  });

  test('an inserted key belongs to the operator and outlives every declaration', async () => {
    await apply('file', declaration);
    await store.configuration.insertKey(sampleKey('key-2'), later);
    await apply('file', declaration, later);
    expect((await store.configuration.load()).keys).toMatchObject([
      { id: 'key-1', source: 'file' },
      { id: 'key-2', source: 'operator', status: 'active', createdAtMs: later },
    ]);
  });

  test('rotation lets the old key work until its time, once', async () => {
    await apply('file', declaration);
    expect(await store.configuration.rotateKey('key-1', sampleKey('key-2'), later + 10, later)).toBe(true);
    expect(await store.configuration.rotateKey('key-1', sampleKey('key-3'), later + 20, later)).toBe(false);
    expect(await store.configuration.rotateKey('nobody', sampleKey('key-4'), later, later)).toBe(false);
    expect((await store.configuration.load()).keys).toMatchObject([
      { id: 'key-1', status: 'active', retiresAtMs: later + 10, replacedBy: 'key-2' },
      { id: 'key-2', status: 'active', retiresAtMs: null, replacedBy: null },
    ]);
  });

  test('a key is revoked for good', async () => {
    await apply('file', declaration);
    expect(await store.configuration.setKeyStatus('key-1', 'disabled')).toBe(true);
    expect(await store.configuration.setKeyStatus('key-1', 'active')).toBe(true);
    expect(await store.configuration.setKeyStatus('key-1', 'revoked')).toBe(true);
    const revision = await store.configuration.revision();
    expect(await store.configuration.setKeyStatus('key-1', 'active')).toBe(false);
    expect(await statusOf('key-1')).toBe('revoked');
    expect(await store.configuration.revision()).toBe(revision);
  });

  test('a revoked secret stays dead, whatever id it is declared under, and by whom', async () => {
    await apply('file', declaration);
    const { hash } = sampleKey('key-1');
    await store.configuration.setKeyStatus('key-1', 'revoked');
    expect(await apply('file', declaration, later)).toEqual([]);
    const renamed = { ...sampleKey('key-2'), hash };
    expect(await apply('file', { ...declaration, keys: [renamed] }, later)).toEqual([
      { kind: 'key', id: 'key-1', change: 'removed' },
      { kind: 'key', id: 'key-2', change: 'refused' },
    ]);
    const elsewhere = { ...nothing, keys: [{ ...sampleKey('key-3'), hash }] };
    expect(await apply('demo', elsewhere, later)).toEqual([{ kind: 'key', id: 'key-3', change: 'refused' }]);
    const repeppered = { ...sampleKey('key-4'), olderHashes: [hash] };
    expect(await apply('file', { ...declaration, keys: [repeppered] }, later)).toEqual([
      { kind: 'key', id: 'key-4', change: 'refused' },
    ]);
    expect((await store.configuration.load()).keys.filter(({ status }) => status === 'active')).toEqual([]);
    await apply('file', { ...declaration, keys: [sampleKey('key-5')] }, later);
    expect(await statusOf('key-5')).toBe('active');
  });

  test('says so when there is no such key', async () => {
    expect(await store.configuration.setKeyStatus('nobody', 'disabled')).toBe(false);
  });
}

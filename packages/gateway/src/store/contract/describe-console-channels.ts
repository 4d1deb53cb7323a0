import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DeclaredChannel } from '../../catalogue/entities.ts';
import { pricesInForce } from '../../catalogue/price-timeline.ts';
import type { ChannelWish } from '../../ports/configuration-store.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, tiers } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const [sample] = declaration.channels;
const [alpha] = declaration.models;
if (sample === undefined || alpha === undefined) throw new Error('there are samples');

/** A channel of the console's that serves these models. */
function channelOf(id: string, models: readonly string[]): DeclaredChannel {
  const served = models.map((modelId) => ({
    ...{ modelId, upstreamModel: modelId, contextWindow: null, lacks: [] },
    ...{ cost: tiers, costOrigin: null },
  }));
  return { ...sample, ...{ id, alias: id, models: served } } as DeclaredChannel;
}

const modelOf = (id: string) => ({ ...alpha, id, displayName: id }) as ChannelWish['models'][number];

/** The part of the suite about channels that are made and changed by the piece, in the console. */
export function describeConsoleChannels(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
  });
  afterEach(async () => {
    await site.dispose();
  });

  const put = async (channel: DeclaredChannel, newModels: readonly string[] = []) =>
    store.configuration.putChannel(
      { channel, models: newModels.map(modelOf) },
      await store.configuration.revision(),
      epochMs,
    );
  const remove = async (id: string) =>
    store.configuration.removeChannel(id, await store.configuration.revision());
  const sourcesOf = async (kind: 'channels' | 'models') => {
    const stored = await store.configuration.load();
    return Object.fromEntries(stored[kind].map(({ id, source }) => [id, source]));
  };

  test('one is put, changed and taken away, with its models, costs and secrets', async () => {
    expect(await put(channelOf('mine', ['gamma', 'delta']), ['gamma', 'delta'])).toBe(true);
    expect(await sourcesOf('channels')).toEqual({ mine: 'console' });
    expect(await sourcesOf('models')).toEqual({ gamma: 'console', delta: 'console' });
    const { channels, prices } = await store.configuration.load();
    expect(channels).toMatchObject([{ ...channelOf('mine', ['gamma', 'delta']), source: 'console' }]);
    expect([...pricesInForce(prices, epochMs).keys()].sort()).toEqual(
      ['channel:mine/delta', 'channel:mine/gamma', 'model:delta', 'model:gamma'].sort(),
    );
    await put({ ...channelOf('mine', ['gamma']), priority: 7, drain: true });
    expect((await store.configuration.load()).channels).toMatchObject([{ priority: 7, drain: true }]);
    expect(await sourcesOf('models')).toEqual({ gamma: 'console' });
    const sealed = { id: 'cred-1', channelId: 'mine', name: 'one', keyId: 'k', sealed: 's' };
    await store.configuration.addCredential(sealed, epochMs);
    expect(await remove('mine')).toBe(true);
    const after = await store.configuration.load();
    expect([after.channels, after.models, after.credentials]).toEqual([[], [], []]);
    // A channel that comes back under its name begins anew.
    expect(await put(channelOf('mine', ['gamma']), ['gamma'])).toBe(true);
    expect((await store.configuration.load()).channels).toMatchObject([
      { id: 'mine', priority: sample?.priority },
    ]);
  });

  test('whoever looked before something else was configured must look again', async () => {
    const revision = await store.configuration.revision();
    await put(channelOf('mine', ['gamma']), ['gamma']);
    const late = { channel: channelOf('other', ['gamma']), models: [] };
    expect(await store.configuration.putChannel(late, revision, epochMs)).toBe(false);
    expect(await store.configuration.removeChannel('mine', revision)).toBe(false);
    expect(await sourcesOf('channels')).toEqual({ mine: 'console' });
  });

  test('a file and the console leave the rows of each other alone', async () => {
    await put(channelOf('mine', ['alpha', 'gamma']), ['alpha', 'gamma']);
    const changes = await store.configuration.apply('file', declaration, epochMs);
    expect(changes.filter(({ change }) => change === 'refused')).toEqual([]);
    expect(await sourcesOf('channels')).toEqual({ 'channel-1': 'file', mine: 'console' });
    // A file that names a model says what it is.
    expect(await sourcesOf('models')).toEqual({ alpha: 'file', beta: 'file', gamma: 'console' });
    const taken = await store.configuration.apply(
      'file',
      { ...declaration, channels: [...declaration.channels, channelOf('mine', ['alpha'])] },
      epochMs,
    );
    expect(taken).toContainEqual({ kind: 'channel', id: 'mine', change: 'refused' });
    // A model that the file names no more is still served by the console's channel.
    const nothing = { providers: {}, accounts: [], groups: [], models: [], channels: [], keys: [] };
    await store.configuration.apply('file', nothing, epochMs);
    expect(await sourcesOf('channels')).toEqual({ mine: 'console' });
    expect(await sourcesOf('models')).toEqual({ alpha: 'console', gamma: 'console' });
  });
}

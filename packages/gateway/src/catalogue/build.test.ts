import { defaultDialect, fail, succeed } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import type { PriceTier } from '../money/price.ts';
import { readPriceTiers } from '../money/price-terms.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import { buildCatalogue, type CatalogueSources } from './build.ts';
import { type Provider, plainRouting } from './catalogue.ts';
import { accountFields, groupFields } from './entities.ts';
import { declare } from './fields.ts';
import { ModelBook } from './model-facts.ts';
import { describeSource } from './secret-source.ts';

const provider: Provider = {
  id: 'acme',
  name: 'Acme',
  baseUrl: 'https://{region}.acme.example/v1',
  protocols: { 'chat-completions': '/chat/completions' },
  credential: { scheme: 'bearer' },
  dialect: defaultDialect,
  modelsPath: null,
  environment: [],
  documentation: null,
  simulated: false,
};

function price(input: string): readonly PriceTier[] {
  const tiers = readPriceTiers([{ aboveInputTokens: 0, prices: { input } }]);
  if (!tiers.ok) throw new Error(tiers.error.reason);
  return tiers.value;
}

const key: StoredKey = {
  id: 'k',
  name: 'Key',
  accountId: 'a',
  groupId: 'g',
  hash: 'ff',
  hint: 'sk-…',
  models: ['m'],
  expiresAtMs: null,
  strict: false,
  addressRanges: null,
  budgets: null,
  limits: null,
  status: 'active',
  source: 'operator',
  createdAtMs: 1,
  retiresAtMs: null,
  replacedBy: null,
};

/** All were written at the beginning of time, and planned if they hold later. */
const declared = { origin: null, source: 'file', writtenAtMs: 0 } as const;

const stored: StoredConfiguration = {
  revision: 7,
  providers: {},
  accounts: [{ id: 'a', source: 'file', ...declare(accountFields, 'a', {}) }],
  groups: [
    {
      id: 'g',
      source: 'file',
      ...declare(groupFields, 'g', { platform: 'completions' }),
      routing: plainRouting,
    },
  ],
  models: [
    {
      id: 'm',
      source: 'file',
      displayName: 'M',
      ownedBy: 'acme',
      created: null,
      contextWindow: null,
      maxOutputTokens: null,
      inputModalities: null,
      outputModalities: null,
      capabilities: null,
      reasoning: null,
      pricedAs: null,
      listed: true,
      price: null,
      priceOrigin: null,
    },
  ],
  channels: ['one', 'two'].map((id) => ({
    id,
    source: 'file' as const,
    alias: id,
    listed: null,
    providerId: 'acme',
    baseUrl: null,
    credentials: [{ kind: 'environment', name: 'ACME_KEY' }] as const,
    priority: 0,
    enabled: true,
    drain: false,
    maxConcurrency: null,
    headers: [],
    proxy: null,
    timeouts: { connectMs: null, firstContentMs: null, stallMs: null, totalMs: null },
    allowPrivate: false,
    hangUp: null,
    models: [
      {
        modelId: 'm',
        upstreamModel: `m-at-${id}`,
        cost: null,
        costOrigin: null,
        contextWindow: null,
        lacks: [],
      },
    ],
  })),
  keys: [key],
  credentials: [],
  prices: [
    { subject: 'model:m', version: 'v1', effectiveFromMs: 0, tiers: price('1'), ...declared },
    { subject: 'model:m', version: 'v2', effectiveFromMs: 100, tiers: price('2'), ...declared },
    { subject: 'model:m', version: 'v3', effectiveFromMs: 900, tiers: price('3'), ...declared },
    { subject: 'channel:one/m', version: 'c1', effectiveFromMs: 0, tiers: price('0.5'), ...declared },
  ],
};

function build(changes: Partial<CatalogueSources> = {}) {
  return buildCatalogue({
    stored,
    provider: (id) => (id === 'acme' ? provider : null),
    book: new ModelBook([]),
    secret: (source) =>
      describeSource(source) === 'ACME_KEY' ? succeed('the secret') : fail('it is not there'),
    proxyFor: () => null,
    variable: (name) => (name === 'region' ? 'eu' : undefined),
    nowMs: 500,
    unpricedModels: 'refuse',
    ...changes,
  });
}

describe('the snapshot', () => {
  test('knows of a model alone on its target whether another one has that beside others', () => {
    const [m] = stored.models;
    const [first, second] = stored.channels;
    if (m === undefined || first === undefined || second === undefined)
      throw new Error('a model, two channels');
    const on = (modelId: string, upstreamModel: string) => ({ ...first.models[0], modelId, upstreamModel });
    const models = [
      ...first.models,
      on('shares', 'm-at-one'),
      on('alone', 'elsewhere'),
    ] as typeof first.models;
    const { catalogue } = build({
      stored: {
        ...stored,
        models: [m, { ...m, id: 'shares' }, { ...m, id: 'alone' }],
        channels: [{ ...first, models }, second],
      },
    });
    expect([...catalogue.models.values()].map(({ id, hasChoice }) => [id, hasChoice])).toEqual([
      ['m', true],
      ['shares', true],
      ['alone', false],
    ]);
  });

  test('joins models, channels, secrets and prices', () => {
    const { catalogue, problems } = build();
    expect(problems).toEqual([]);
    expect(catalogue.revision).toBe(7);
    expect(catalogue.channels.get('one')).toMatchObject({
      baseUrl: 'https://eu.acme.example/v1',
      credentials: [{ id: 'ACME_KEY', secret: 'the secret' }],
      enabled: true,
    });
    expect(
      catalogue.models
        .get('m')
        ?.targets.map(({ channel, upstreamModel, cost }) => [channel.id, upstreamModel, cost?.id ?? null]),
    ).toEqual([
      ['one', 'm-at-one', 'c1'],
      ['two', 'm-at-two', null],
    ]);
    expect(catalogue.models.get('m')?.hasChoice).toBe(true);
    expect(catalogue.keys.get('ff')).toMatchObject({
      status: 'active',
      caller: { keyId: 'k', group: { id: 'g' }, models: new Set(['m']) },
    });
  });

  test('the newest price whose time has come holds, and the next change is announced', () => {
    expect(build().catalogue.models.get('m')?.price?.id).toBe('v2');
    expect(build().steady).toEqual({ fromMs: 100, untilMs: 900 });
    expect(build({ nowMs: 99 }).catalogue.models.get('m')?.price?.id).toBe('v1');
    expect(build({ nowMs: 900 }).catalogue.models.get('m')?.price?.id).toBe('v3');
    expect(build({ nowMs: 900 }).steady).toEqual({ fromMs: 900, untilMs: null });
  });

  test.each([
    ['refuse', false],
    ['bill-zero', true],
    ['serve', true],
  ] as const)(
    'a model without a price, where the operator says %s: offered is %s',
    (unpricedModels, isOffered) => {
      const built = build({ stored: { ...stored, prices: [] }, unpricedModels });
      expect(built.catalogue.models.get('m')).toMatchObject({ price: null, isOffered });
      expect(built.problems).toMatchObject([{ kind: 'unpriced-model', subject: 'm' }]);
    },
  );

  test('a withdrawn price leaves the model unpriced, and says so', () => {
    const withdrawn = { subject: 'model:m', version: 'v4', effectiveFromMs: 200, tiers: [], ...declared };
    const built = build({ stored: { ...stored, prices: [...stored.prices.slice(0, 2), withdrawn] } });
    expect(built.catalogue.models.get('m')?.price).toBeNull();
    expect(built.problems).toMatchObject([{ kind: 'unpriced-model', subject: 'm' }]);
  });

  test('a model is as the catalogue knows it at each provider, and the word of the operator stands before that', () => {
    const reasoning = { mode: 'always', efforts: ['low', 'high'] } as const;
    const known = {
      name: 'M',
      contextWindow: 9000,
      maxOutputTokens: 700,
      released: '2026-01-02',
      tools: true,
    };
    const book = new ModelBook([
      {
        asOf: '2026-11-22',
        vendor: true,
        providers: ['acme'],
        sources: {},
        models: {
          'm-at-one': { ...known, reasoning: { ...reasoning, efforts: [...reasoning.efforts] } },
        },
      },
    ]);
    const [model] = stored.models;
    if (model === undefined) throw new Error('no model');
    const built = (changes: Partial<typeof model>) => {
      const { catalogue } = build({ book, stored: { ...stored, models: [{ ...model, ...changes }] } });
      return catalogue.models.get('m');
    };
    const asKnown = built({});
    expect(asKnown).toMatchObject({
      contextWindow: 9000,
      maxOutputTokens: 700,
      created: Date.parse('2026-01-02') / 1000,
      capabilities: ['tools', 'reasoning'],
    });
    const [one, two] = asKnown?.targets ?? [];
    expect(one).toMatchObject({ contextWindow: 9000, facts: { reasoning } });
    expect(two?.facts.reasoning.mode).toBe('unknown');
    const seeing = built({ inputModalities: ['text', 'image'] })?.targets[0]?.facts.inputModalities;
    expect(seeing).toEqual(['text', 'image']);
    const declared = built({ reasoning: false, maxOutputTokens: 5, contextWindow: 100, created: 7 });
    expect(declared).toMatchObject({
      contextWindow: 100,
      maxOutputTokens: 5,
      created: 7,
      capabilities: ['tools'],
    });
    for (const target of declared?.targets ?? [])
      expect(target).toMatchObject({
        contextWindow: 100,
        facts: { reasoning: { mode: 'none' }, maxOutputTokens: 5 },
      });
    const thinks = built({ reasoning: true })?.targets.map(({ facts }) => facts.reasoning);
    expect(thinks).toMatchObject([reasoning, { mode: 'optional', efforts: null }]);
  });

  test('a target known not to read pictures gets none where another one is known to read them', () => {
    const book = (second: readonly ('text' | 'image')[] | null) => {
      const recordOf = (inputModalities: readonly ('text' | 'image')[] | null) => ({
        name: 'M',
        reasoning: { mode: 'none' as const },
        inputModalities: inputModalities === null ? null : [...inputModalities],
      });
      const models = { 'm-at-one': recordOf(['text']), 'm-at-two': recordOf(second) };
      const file = { asOf: '2026-11-22', vendor: true, providers: ['acme'], sources: {}, models };
      return new ModelBook([file]);
    };
    const [channel] = stored.channels;
    if (channel === undefined) throw new Error('no channel');
    const two = {
      ...channel,
      id: 'other',
      models: [
        {
          modelId: 'm',
          upstreamModel: 'm-at-two',
          cost: null,
          costOrigin: null,
          contextWindow: null,
          lacks: [],
        },
      ],
    };
    const lacksOf = (second: readonly ('text' | 'image')[] | null) => {
      const { catalogue } = build({ book: book(second), stored: { ...stored, channels: [channel, two] } });
      return catalogue.models.get('m')?.targets.map(({ lacks }) => [...lacks]);
    };
    expect(lacksOf(['text', 'image'])).toEqual([['image-input'], []]);
    // With no better one, or none that is known, nothing is kept from it.
    expect(lacksOf(['text'])).toEqual([[], []]);
    expect(lacksOf(null)).toEqual([[], []]);
  });

  test('a channel without its secret or its address is off, with the reason', () => {
    const noSecret = build({ secret: () => fail('it is not there') });
    expect(noSecret.catalogue.channels.get('one')).toMatchObject({ enabled: false, credentials: [] });
    expect(noSecret.problems.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['missing-credential', 'one'],
      ['missing-credential', 'two'],
    ]);
    const noAddress = build({ variable: () => undefined });
    expect(noAddress.catalogue.channels.get('one')?.enabled).toBe(false);
    expect(noAddress.problems[0]).toMatchObject({
      kind: 'incomplete-address',
      detail: 'its base URL lacks {region}',
    });
  });

  test('a channel goes on with those of its credentials that are there, and the others are reported', () => {
    const channels = stored.channels.map((each) => ({
      ...each,
      credentials: ['NONE', 'ACME_KEY'].map((name) => ({ kind: 'environment', name }) as const),
    }));
    const { catalogue, problems } = build({ stored: { ...stored, channels: channels.slice(0, 1) } });
    expect(catalogue.channels.get('one')).toMatchObject({
      enabled: true,
      credentials: [{ id: 'ACME_KEY', secret: 'the secret' }],
    });
    expect(problems).toEqual([
      {
        kind: 'missing-credential',
        subject: 'one',
        detail: 'it is not there',
      },
    ]);
  });

  test('a channel has what the store keeps for it beside what it names, and two of one name are told apart', () => {
    const [first] = stored.channels;
    if (first === undefined) throw new Error('a channel');
    const command = { kind: 'command', words: ['/bin/vault', 'one'], refreshMs: null } as const;
    const channel = { ...first, credentials: [command, { ...command, words: ['vault', 'two'] }] };
    const sealed = { kind: 'sealed', keyId: 'k', sealed: '', createdAtMs: 0, rotatedAtMs: null } as const;
    const credentials = [
      { ...sealed, id: 'cred-1', name: 'mine', channelId: 'one' },
      { ...sealed, id: 'cred-2', name: 'of another', channelId: 'two' },
    ];
    const { catalogue } = build({
      stored: { ...stored, channels: [channel], credentials },
      secret: (source) => succeed(source.kind),
    });
    expect(catalogue.channels.get('one')?.credentials).toEqual([
      { id: 'command vault', secret: 'command' },
      { id: 'command vault #2', secret: 'command' },
      { id: 'cred-1', secret: 'sealed' },
    ]);
  });

  test('a channel that names no credential has the first of its provider that is set', () => {
    const channels = stored.channels.slice(0, 1).map((each) => ({ ...each, credentials: [] }));
    const usual = { ...provider, environment: ['ACME_TOKEN', 'ACME_KEY', 'ACME_KEY_OLD'] };
    const { catalogue, problems } = build({
      stored: { ...stored, channels },
      provider: () => usual,
      secret: (source) => (describeSource(source).startsWith('ACME_KEY') ? succeed('sk') : fail('no')),
    });
    expect(catalogue.channels.get('one')?.credentials.map(({ id }) => id)).toEqual(['ACME_KEY']);
    expect(problems).toEqual([]);
  });

  test('a channel that names no credential says all the ways to give it one', () => {
    const channels = stored.channels.slice(0, 1).map((each) => ({ ...each, credentials: [] }));
    const usual = { ...provider, environment: ['ACME_MAIN', 'ACME_TOKEN'] };
    expect(build({ stored: { ...stored, channels }, provider: () => usual }).problems).toMatchObject([
      {
        kind: 'missing-credential',
        detail:
          'it has no credential; set ACME_MAIN or ACME_TOKEN, or say in the file where it is, or headgate credentials add one',
      },
    ]);
  });

  test('secrets of headers and of a proxy are read and kept apart; one that is missing turns the channel off', () => {
    const [first] = stored.channels;
    if (first === undefined) throw new Error('a channel');
    const place = { kind: 'file', path: '/secret' } as const;
    const channel = {
      ...first,
      headers: [
        { name: 'x-team', value: 'house' },
        { name: 'x-token', value: place },
      ],
      proxy: { url: 'http://proxy.example:3128', user: 'u', password: place },
    };
    const changes = { stored: { ...stored, channels: [channel] } };
    const { catalogue } = build({ ...changes, secret: (source) => succeed(`of ${describeSource(source)}`) });
    const authorization = `Basic ${Buffer.from('u:of /secret').toString('base64')}`;
    expect(catalogue.channels.get('one')).toMatchObject({
      headers: ['x-team', 'house', 'x-token', 'of /secret'],
      proxy: { url: 'http://proxy.example:3128', authorization },
      secrets: ['of /secret', 'of /secret', authorization.slice(6)],
      enabled: true,
    });
    const lacking = build(changes);
    expect(lacking.catalogue.channels.get('one')?.enabled).toBe(false);
    expect(lacking.problems.map(({ detail }) => detail)).toEqual([
      'its header x-token is missing: it is not there',
      'the password of its proxy is missing: it is not there',
    ]);
  });

  test.each([
    [{}, 'http://usual.example'],
    [{ proxy: 'none' }, null],
    [{ allowPrivate: true }, null],
    [
      { allowPrivate: true, proxy: { url: 'http://own.example', user: null, password: null } },
      'http://own.example',
    ],
  ] as const)('a channel that says %o goes through %s', (members, url) => {
    const channels = stored.channels.map((each) => ({ ...each, ...members }));
    const proxyFor = () => ({ url: 'http://usual.example', authorization: null });
    const { catalogue } = build({ stored: { ...stored, channels }, proxyFor });
    expect(catalogue.channels.get('one')?.proxy?.url ?? null).toBe(url);
  });

  test('what a channel takes and lacks, and how a group is routed, is as declared', () => {
    const channels = stored.channels.map((each, place) => ({
      ...each,
      ...(place === 0 ? { drain: true, maxConcurrency: 7 } : {}),
      models: each.models.map((model) =>
        place === 0 ? { ...model, contextWindow: 32_000, lacks: ['tools'] as const } : model,
      ),
    }));
    const routing = { preset: 'cost', channels: ['two'], hedging: true, rescue: 'none' } as const;
    const groups = stored.groups.map((group) => ({ ...group, routing }));
    const models = stored.models.map((model) => ({ ...model, contextWindow: 100_000 }));
    const { catalogue } = build({ stored: { ...stored, channels, groups, models } });
    expect(catalogue.models.get('m')?.targets).toMatchObject([
      { contextWindow: 32_000, lacks: new Set(['tools']), channel: { drain: true, maxConcurrency: 7 } },
      { contextWindow: 100_000, lacks: new Set(), channel: { drain: false, maxConcurrency: null } },
    ]);
    expect(catalogue.groups.get('g')?.routing).toEqual({ ...routing, channels: new Set(['two']) });
  });

  test('a channel of an unknown provider is left out and its model keeps the other targets', () => {
    const channels = stored.channels.map((channel) =>
      channel.id === 'one' ? { ...channel, providerId: 'gone' } : channel,
    );
    const { catalogue, problems } = build({ stored: { ...stored, channels } });
    expect([...catalogue.channels.keys()]).toEqual(['two']);
    expect(catalogue.models.get('m')?.targets).toHaveLength(1);
    expect(problems).toMatchObject([{ kind: 'unknown-provider', subject: 'one' }]);
  });

  test('no credential is read for a provider that takes none', () => {
    const open: Provider = { ...provider, credential: { scheme: 'none' } };
    expect(
      build({ provider: () => open, secret: () => succeed('unasked') }).catalogue.channels.get('one'),
    ).toMatchObject({ credentials: [], enabled: true });
  });

  test('a simulated provider makes its channels simulated and lets them reach this machine', () => {
    const simulated: Provider = { ...provider, simulated: true };
    expect(build({ provider: () => simulated }).catalogue.channels.get('one')).toMatchObject({
      simulated: true,
      allowPrivate: true,
      hangUp: null,
    });
  });

  test.each([
    [null, null, null],
    [50, null, 50],
    [null, 60, 60],
    [50, 60, 50],
    [70, 60, 60],
  ])('a key that expires at %s and retires at %s ends at %s', (expiresAtMs, retiresAtMs, end) => {
    const { catalogue } = build({ stored: { ...stored, keys: [{ ...key, expiresAtMs, retiresAtMs }] } });
    expect(catalogue.keys.get('ff')?.caller.expiresAtMs).toBe(end);
  });

  test.each([{ groupId: 'gone' }, { accountId: 'gone' }])(
    'a key whose group or account is gone does not work, and says so: %o',
    (changes) => {
      const { catalogue, problems } = build({ stored: { ...stored, keys: [{ ...key, ...changes }] } });
      expect(catalogue.keys.size).toBe(0);
      expect(problems).toMatchObject([{ kind: 'orphan-key', subject: 'k' }]);
    },
  );
});

import {
  concatBytes,
  isRecord,
  noTerms,
  noUsage,
  type ProtocolId,
  protocols,
  splice,
} from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { modelOf, targetOf } from '../../catalogue/catalogue.fixture.ts';
import { nanoUsd } from '../../money/money.ts';
import type { PriceVersion } from '../../money/price.ts';
import { type PriceTierText, readPriceTiers } from '../../money/price-terms.ts';
import { completeEntry } from '../../telemetry/testing.ts';
import { caller, Rig } from '../call.fixture.ts';
import { Call } from '../request.ts';
import { alertDrift, alertUnpriced, sentTerms, withholdUnpriced } from './unpriced.ts';

const paths = Object.fromEntries(Object.values(protocols).map(({ id, usualPath }) => [id, usualPath]));

function priceOf(...texts: readonly PriceTierText[]): PriceVersion {
  const read = readPriceTiers(texts);
  if (!read.ok) throw new Error(read.error.reason);
  return { id: 'model:m@1', effectiveFromMs: 0, tiers: read.value };
}

const plain: PriceTierText = { aboveInputTokens: 0, prices: { input: '1', output: '2' } };
const bare = priceOf(plain);
const whole = priceOf(
  {
    ...plain,
    prices: {
      ...plain.prices,
      perWebSearch: '0',
      perFileSearch: '0',
      perCodeSession: '0',
      perGrounding: '0',
      perPage: '0',
    },
    regions: { us: '1.1' },
  },
  ...['priority', 'flex', 'fast'].map((service) => ({ ...plain, service })),
);

function withheldOf(
  surface: ProtocolId,
  body: object,
  price: PriceVersion,
  { speaks = paths, strict = false } = {},
): string {
  const rig = new Rig();
  const protocol = protocols[surface];
  const inbound = {
    ...rig.inbound(false),
    body: new TextEncoder().encode(JSON.stringify({ model: 'm', ...body })),
    params: surface === 'generate-content' ? { model: 'm', action: 'generateContent' } : {},
  };
  const call = new Call(rig.gateway, inbound, { ...caller, strict }, protocol, rig.reply, null);
  const read = protocol.readRequest(inbound);
  if (!read.ok) throw new Error(read.error.message);
  call.request = read.value;
  const model = modelOf([targetOf({ id: 'c1', protocols: speaks })], 'm');
  const withheld = withholdUnpriced(call, model, price);
  if (!withheld.ok || withheld.value.losses.length > 0) expect(rig.alerts).toEqual(['unpriced-term']);
  if (!withheld.ok) return `${withheld.error.status} ${withheld.error.param}`;
  const { edits, losses } = withheld.value;
  if (losses.length === 0) return 'allowed';
  const sent: unknown = JSON.parse(new TextDecoder().decode(concatBytes(splice(inbound.body, edits))));
  return `without ${losses.map(({ field }) => field)}: ${JSON.stringify(isRecord(sent) && sent['tools'])}`;
}

const messages = [{ role: 'user', content: 'hi' }];
const search = { type: 'web_search' };
const named = { name: 'x', input_schema: {} };
const own = { type: 'function', name: 'f', parameters: { type: 'web_search' } };

const ownChat = { type: 'function', function: { name: 'web_search', parameters: { type: 'web_search' } } };
const builtin = { type: 'builtin_function', function: { name: '$web_search' } };

const asked: readonly [ProtocolId, object, string][] = [
  ['chat-completions', { messages, service_tier: 'priority' }, 'service_tier'],
  ['chat-completions', { messages, service_tier: 'flex' }, 'service_tier'],
  ['chat-completions', { messages, web_search_options: {} }, 'web_search_options'],
  ['chat-completions', { messages, enable_search: true }, 'enable_search'],
  ['chat-completions', { messages, search_parameters: { mode: 'auto' } }, 'search_parameters'],
  ['chat-completions', { messages, search_parameters: {} }, 'search_parameters'],
  ['chat-completions', { messages, web_search: { enable: true } }, 'web_search'],
  ['chat-completions', { messages, plugins: [{ id: 'file-parser' }, { id: 'web' }] }, 'plugins'],
  ['chat-completions', { messages, plugins: [{ id: 'web' }], tools: [ownChat, search] }, 'plugins'],
  [
    'chat-completions',
    { messages, plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] },
    'plugins',
  ],
  ['chat-completions', { messages, plugins: [{ id: 'web-fetch' }] }, 'plugins'],
  ['chat-completions', { messages, plugins: [{ id: 'web_fetch', engine: 'exa' }] }, 'plugins'],
  ['chat-completions', { messages, tools: [{ type: 'router:web_fetch' }] }, 'tools[0].type'],
  ['responses', { input: 'hi', plugins: [{ id: 'web' }] }, 'plugins'],
  ['responses', { input: 'hi', plugins: [{ id: 'web', x: 'x'.repeat(70_000) }] }, 'plugins'],
  ['messages', { messages, plugins: [{ id: 'web-fetch', engine: 'auto' }] }, 'plugins'],
  [
    'chat-completions',
    { messages, search_parameters: { mode: 'on', x: 'x'.repeat(70_000) } },
    'search_parameters',
  ],
  ['chat-completions', { messages, tools: [search] }, 'tools[0].type'],
  ['chat-completions', { messages, tools: [{ type: 'browser_search' }] }, 'tools[0].type'],
  ['chat-completions', { messages, tools: [{ type: 'router:web_search' }] }, 'tools[0].type'],
  ['chat-completions', { messages, tools: [ownChat, builtin], tool_choice: 'required' }, 'tools[1].type'],
  ['chat-completions', { messages, tools: [{ type: 'code_interpreter' }] }, 'tools[0].type'],
  ['responses', { input: 'hi', service_tier: 'fast' }, 'service_tier'],
  ['responses', { input: 'hi', tools: [own, search], tool_choice: 'required' }, 'tools[1].type'],
  ['responses', { input: 'hi', tools: [own, search], tool_choice: search }, 'tools[1].type'],
  ['responses', { input: 'hi', tools: [own, search], service_tier: 'flex' }, 'service_tier'],
  ['responses', { input: 'hi', tools: [{ type: 'web_search_preview_2025_03_11' }] }, 'tools[0].type'],
  ['responses', { input: 'hi', tools: [{ type: 'file_search' }] }, 'tools[0].type'],
  ['responses', { input: 'hi', tools: [{ type: 'code_interpreter' }] }, 'tools[0].type'],
  ['messages', { messages, speed: 'fast' }, 'speed'],
  ['messages', { messages, inference_geo: 'us' }, 'inference_geo'],
  [
    'messages',
    { messages, tools: [named, { type: 'web_search_20250305' }], tool_choice: { type: 'any' } },
    'tools[1].type',
  ],
  ['generate-content', { contents: [], serviceTier: 'flex' }, 'serviceTier'],
  ['generate-content', { contents: [], tools: [{ googleSearch: {} }] }, 'tools[0].googleSearch'],
  ['generate-content', { contents: [], tools: [{ google_maps: {} }] }, 'tools[0].google_maps'],
];

describe('a request that asks for what has no price', () => {
  test.each(asked)('is refused by name: %s %j', (surface, body, field) => {
    expect(withheldOf(surface, body, bare)).toBe(`400 ${field}`);
    expect(withheldOf(surface, body, whole)).toBe('allowed');
  });

  test.each<[ProtocolId, object]>([
    ['chat-completions', { messages, service_tier: 'auto', tools: [{ type: 'function', function: own }] }],
    ['chat-completions', { messages, enable_search: false, search_parameters: { mode: 'off' } }],
    ['chat-completions', { messages, plugins: [{ id: 'web', enabled: false }, { id: 'response-healing' }] }],
    ['chat-completions', { messages, enable_search: null, web_search_options: null, plugins: 'web' }],
    ['chat-completions', { messages, web_search: { enable: false }, tools: [ownChat] }],
    [
      'chat-completions',
      {
        messages,
        plugins: [
          { id: 'file-parser', pdf: { engine: 'pdf-text' } },
          { id: 'file-parser' },
          { id: 'web-fetch', engine: 'native' },
          { id: 'context-compression' },
          { id: 'web-fetch', enabled: false },
          7,
        ],
      },
    ],
    ['responses', { input: 'hi', plugins: [{ id: 'response-healing' }] }],
    ['messages', { messages, plugins: [{ id: 'moderation' }] }],
    ['responses', { input: 'hi', service_tier: 'default', tools: [own] }],
    ['messages', { messages, service_tier: 'standard_only', inference_geo: 'global', speed: 'standard' }],
    ['generate-content', { contents: [], tools: [{ functionDeclarations: [] }, { codeExecution: {} }] }],
  ])('is another one than what is usual: %s %j', (surface, body) => {
    expect(withheldOf(surface, body, bare)).toBe('allowed');
  });

  test.each<[ProtocolId, object, string]>([
    ['responses', { input: 'hi', tools: [own, search] }, `tools[].web_search: ${JSON.stringify([own])}`],
    [
      'chat-completions',
      { messages, tools: [builtin, ownChat, { type: 'browser_search' }], tool_choice: 'auto' },
      `tools[].builtin_function,tools[].browser_search: ${JSON.stringify([ownChat])}`,
    ],
    [
      'responses',
      { input: 'hi', tools: [search, own, { type: 'file_search' }, own], tool_choice: 'auto' },
      `tools[].web_search,tools[].file_search: ${JSON.stringify([own, own])}`,
    ],
    [
      'messages',
      { messages, tools: [{ type: 'web_search_20250305' }, named], tool_choice: { type: 'auto' } },
      `tools[].web_search_20250305: ${JSON.stringify([named])}`,
    ],
  ])('goes without tools that are offered beside others: %s %j', (surface, body, without) => {
    expect(withheldOf(surface, body, bare)).toBe(`without ${without}`);
    expect(withheldOf(surface, body, bare, { strict: true })).toMatch(/^400 tools/);
    expect(withheldOf(surface, body, whole)).toBe('allowed');
  });

  test('may offer tools that no channel is told of', () => {
    const foreign = { messages: paths['messages'] ?? '' };
    expect(
      withheldOf('responses', { input: 'hi', tools: [{ type: 'web_search' }] }, bare, { speaks: foreign }),
    ).toBe('allowed');
  });
});

describe('a service tier that translation leaves out, or no answer names', () => {
  const body = { model: 'm', messages, service_tier: 'flex', seed: 1 };
  const read = protocols['chat-completions'].readRequest({
    ...new Rig().inbound(false),
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  if (!read.ok) throw new Error(read.error.message);
  const losing = (field: string) => [{ field, action: 'dropped', note: null } as const];

  test('is not charged for, unless the answer names it', () => {
    const serviceOf = (losses: Parameters<typeof sentTerms>[1]) =>
      sentTerms(read.value, losses, undefined, null).service;
    expect(serviceOf([])).toBe('flex');
    expect(serviceOf(losing('seed'))).toBe('flex');
    expect(serviceOf(losing('service_tier'))).toBeNull();
  });

  test('or that would be cheaper, and a dearer one is', () => {
    const tier = (input: string, output: string) =>
      priceOf(plain, { aboveInputTokens: 0, service: 'flex', prices: { input, output } });
    const serviceOf = (price: PriceVersion, said: string | null) =>
      sentTerms(read.value, [], { ...noTerms, service: said }, price).service;
    expect(serviceOf(tier('0.5', '1'), null)).toBeNull();
    expect(serviceOf(tier('1', '1'), null)).toBeNull();
    expect(serviceOf(tier('2', '4'), null)).toBe('flex');
    expect(serviceOf(tier('0.5', '1'), 'flex')).toBe('flex');
  });
});

describe('an answer with what has no price', () => {
  const alertsOf = (entry: object, price: PriceVersion) => {
    const rig = new Rig();
    alertUnpriced({ ...completeEntry, ...entry }, price, rig.gateway.observer);
    return rig.alerts;
  };
  const terms = { ...noTerms, service: 'scale', region: 'eu' };

  test('is an alert', () => {
    expect(alertsOf({ terms, usage: { ...noUsage, webSearches: 1, pages: 3 } }, bare)).toEqual([
      'unpriced-term',
    ]);
  });

  test('is none where all of it has one', () => {
    const usage = { ...noUsage, webSearches: 1, codeSessions: 1, groundings: 1 };
    expect(alertsOf({ terms: { ...noTerms, service: 'flex', region: 'us' }, usage }, whole)).toEqual([]);
  });
});

describe('a cost that the upstream states', () => {
  test.each<[bigint, bigint | null, number]>([
    [1_000_000n, 1_000_000n, 0],
    [1_010_000n, 1_000_000n, 0],
    [1_010_001n, 1_000_000n, 1],
    [989_999n, 1_000_000n, 1],
    // A difference of less than a millionth of a dollar is rounding.
    [500n, 1_000n, 0],
    [0n, 5_000_000n, 1],
    [5_000_000n, null, 0],
  ])('ours %s, theirs %s: %i alerts', (ours, stated, alerts) => {
    const rig = new Rig();
    const [attempt] = completeEntry.attempts;
    if (attempt === undefined) throw new Error('the sample has an attempt');
    const statedCostNanoUsd = stated === null ? null : nanoUsd(stated);
    alertDrift({ ...attempt, costNanoUsd: nanoUsd(ours), statedCostNanoUsd }, rig.gateway.observer);
    expect(rig.alerts).toEqual(Array(alerts).fill('cost-drift'));
  });
});

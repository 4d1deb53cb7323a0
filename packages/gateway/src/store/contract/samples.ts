import { noTerms, noUsage, type Usage } from '@headgate/protocols';
import fc from 'fast-check';
import { accountFields, type DeclaredKey, groupFields } from '../../catalogue/entities.ts';
import { declare } from '../../catalogue/fields.ts';
import { nanoUsd, picoUsd } from '../../money/money.ts';
import { type PriceTier, type PriceVersion, priceUsage } from '../../money/price.ts';
import type { Declaration } from '../../ports/configuration-store.ts';
import type { AttemptEntry, CallEntry, CallOpening, Ledger, Settlement } from '../../ports/ledger.ts';

/** 2026-03-01T00:00:00Z. */
export const epochMs = Date.UTC(2026, 2, 1);

const free = picoUsd(0n);

export const tiers: readonly PriceTier[] = [
  {
    aboveInputTokens: 0,
    classes: {
      input: picoUsd(2_500_000n),
      cacheRead: picoUsd(1_250_000n),
      cacheWrite5m: picoUsd(3_125_000n),
      cacheWrite1h: picoUsd(5_000_000n),
      output: picoUsd(10_000_001n),
      audioInput: free,
      audioOutput: free,
      imageInput: free,
      imageOutput: free,
      perImage: picoUsd(40_000_000_000n),
      perCall: free,
    },
    images: [
      { size: '1024x1024', quality: 'high', price: picoUsd(167_000_000_001n) },
      { size: null, quality: 'medium', price: picoUsd(42_000_000_000n) },
    ],
    fees: { perWebSearch: picoUsd(10_000_000_000n), perPage: picoUsd(1_000_000_001n) },
    searches: [{ context: 'low', perCall: picoUsd(5_000_000_000n) }],
    regions: { us: 1_100_000n },
  },
];

/** The first version of the price of `alpha` and of `beta`, as the store numbers it. */
function priceVersionOf(model: string): PriceVersion {
  return { id: `model:${model}@1`, effectiveFromMs: epochMs, tiers };
}

export const declaration: Declaration = {
  providers: { acme: '{"id":"acme"}' },
  webhooks: [
    {
      ...{
        id: 'ops',
        url: 'https://ops.example.com/x?y=1',
        kinds: ['bug'],
        severity: 'warning',
        allowPrivate: true,
        description: 'The room of operators',
        enabled: false,
      },
      secret: { kind: 'file', path: '/run/secrets/ops' },
    },
  ],
  accounts: [
    {
      id: 'account-1',
      ...declare(accountFields, 'account-1', {
        name: 'First',
        showBalance: true,
        showKeys: true,
        prepaid: true,
        creditLimit: '12.5',
        timezone: 'Europe/Berlin',
        budgets: { day: '0', month: '100.000000001', alertAt: '0.5' },
        limits: { tokensPerMinute: 1_000_000, models: { alpha: { concurrency: 2 } } },
      }),
    },
    { id: 'account-2', ...declare(accountFields, 'account-2', { name: 'Second' }) },
  ],
  groups: [
    {
      id: 'group-1',
      ...declare(groupFields, 'group-1', {
        name: 'Group',
        platform: 'completions',
        models: ['alpha'],
        timezone: 'Asia/Tokyo',
        budgets: { total: '5' },
      }),
      multiplierPpm: 1_500_000n,
      routing: { preset: 'latency', channels: ['channel-1'], hedging: true, rescue: 'continue' },
    },
  ],
  models: ['alpha', 'beta'].map((id) => ({
    id,
    displayName: id.toUpperCase(),
    ownedBy: 'acme',
    contextWindow: 128_000,
    maxOutputTokens: null,
    // The other one leaves all it can to the catalogue.
    ...(id === 'alpha'
      ? {
          created: 1_700_000_000,
          inputModalities: ['text'],
          outputModalities: ['text'],
          capabilities: ['tools'],
          reasoning: false,
        }
      : {
          created: null,
          inputModalities: null,
          outputModalities: null,
          capabilities: null,
          reasoning: null,
        }),
    pricedAs: null,
    listed: true,
    price: tiers,
    priceOrigin: { by: 'both', list: 'acme', asOf: '2026-11-22' },
  })),
  channels: [
    {
      id: 'channel-1',
      alias: 'One',
      listed: null,
      providerId: 'acme',
      baseUrl: null,
      credentials: [
        { kind: 'environment', name: 'ACME_KEY' },
        { kind: 'file', path: '/run/secrets/acme' },
        { kind: 'command', words: ['vault', 'read', '-field=key'], refreshMs: 60_000 },
      ],
      priority: 0,
      enabled: true,
      drain: true,
      maxConcurrency: 20,
      allowPrivate: false,
      hangUp: 'estimate',
      headers: [
        { name: 'x-team', value: 'house' },
        { name: 'x-token', value: { kind: 'file', path: '/run/secrets/token' } },
      ],
      proxy: {
        url: 'http://proxy.acme.example:3128',
        user: 'house',
        password: { kind: 'environment', name: 'P' },
      },
      timeouts: { connectMs: 2000, firstContentMs: null, stallMs: 15_000, totalMs: 600_000 },
      models: [
        {
          modelId: 'beta',
          upstreamModel: 'beta-2026',
          cost: null,
          costOrigin: null,
          contextWindow: 32_000,
          lacks: ['tools'],
        },
        {
          modelId: 'alpha',
          upstreamModel: 'alpha-2026',
          cost: tiers,
          costOrigin: {
            by: 'both',
            list: 'acme',
            asOf: '2026-11-22',
            own: [{ aboveInputTokens: 0, prices: { output: '2' } }],
          },
          contextWindow: null,
          lacks: [],
        },
      ],
    },
  ],
  keys: [sampleKey('key-1')],
};

export function sampleKey(id: string): DeclaredKey {
  return {
    id,
    name: `Key ${id}`,
    accountId: 'account-1',
    groupId: 'group-1',
    hash: Buffer.from(id).toString('hex').padEnd(64, '0'),
    hint: 'sk-a…z',
    models: null,
    expiresAtMs: null,
    strict: false,
    addressRanges: null,
    budgets: null,
    limits: { requestsPerMinute: 60 },
  };
}

/** A trace id by number; they sort as the numbers do. */
export function traceId(number: number): string {
  return number.toString(16).padStart(32, '0');
}

/** Settles an entry and waits for it. */
export function settle(ledger: Ledger, entry: CallEntry): Promise<Settlement> {
  return new Promise((done) => ledger.settle(entry, done));
}

export function openingOf(entry: CallEntry): CallOpening {
  return entry;
}

/** A billed call, priced as it should be, unless told otherwise. */
export function sampleEntry(changes: Partial<CallEntry> = {}): CallEntry {
  const entry: CallEntry = {
    traceId: traceId(1),
    accountId: 'account-1',
    keyId: 'key-1',
    groupId: 'group-1',
    surface: 'chat-completions',
    modelRequested: 'alpha',
    stream: true,
    startedAtMs: epochMs,
    priceVersion: `model:${changes.modelRequested ?? 'alpha'}@1`,
    multiplierPpm: 1_000_000n,
    clientRequestId: null,
    parentTrace: null,
    userAgent: 'client/1.0',
    tag: null,
    status: 'complete',
    unbilledReason: null,
    channelId: 'channel-1',
    modelServed: 'alpha-2026',
    usage: { ...noUsage, inputFresh: 1_201, output: 307 },
    usageSource: 'upstream',
    parts: null,
    terms: null,
    chargeNanoUsd: nanoUsd(0n),
    leased: 0,
    finishReason: 'stop',
    finishReasonRaw: 'stop',
    httpStatus: 200,
    errorCode: null,
    losses: [],
    ttftMs: 120.5,
    durationMs: 900.25,
    overheadUs: 310,
    finishedAtMs: epochMs + 900,
    attempts: [sampleAttempt()],
    route: '[[0,"score","channel-1",1,["channel-1","alpha-2026",0,1240000,9970,10000],[]]]',
    ...changes,
  };
  return changes.chargeNanoUsd === undefined ? priced(entry) : entry;
}

function priced(entry: CallEntry): CallEntry {
  if (entry.unbilledReason !== null) return entry;
  const version = priceVersionOf(entry.modelRequested);
  return {
    ...entry,
    chargeNanoUsd: priceUsage(
      entry.usage,
      version,
      entry.multiplierPpm,
      entry.terms ?? noTerms,
      entry.parts?.map(({ usage }) => ({ price: version, usage })) ?? null,
    ),
  };
}

export function sampleAttempt(changes: Partial<AttemptEntry> = {}): AttemptEntry {
  return {
    n: 1,
    channelId: 'channel-1',
    upstreamModel: 'alpha-2026',
    upstreamRequestId: 'req-1',
    result: 'answered',
    detail: null,
    httpStatus: 200,
    ttftMs: 118.75,
    durationMs: 890,
    usage: { ...noUsage, inputFresh: 1_201, output: 307 },
    costNanoUsd: nanoUsd(5_000_000n),
    lane: 'passthrough',
    edits: ['model'],
    statedCostNanoUsd: null,
    ...changes,
  };
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const tokens = fc.oneof(fc.constant(0), fc.nat(3_000_000));
const duration = fc.double({ min: 0, max: 600_000, noNaN: true });

const usage: fc.Arbitrary<Usage> = fc.record({
  inputFresh: tokens,
  inputCacheRead: tokens,
  inputCacheWrite5m: tokens,
  inputCacheWrite1h: tokens,
  inputAudio: tokens,
  inputImage: tokens,
  output: tokens,
  outputReasoning: tokens,
  outputAudio: tokens,
  outputImage: tokens,
  images: fc.nat(10),
  inputCacheReadAudio: tokens,
  citation: tokens,
  webSearches: fc.nat(10),
  fileSearches: fc.nat(10),
  codeSessions: fc.nat(10),
  groundings: fc.nat(1),
  pages: fc.nat(100),
});

const attempt: fc.Arbitrary<AttemptEntry> = fc.record({
  n: fc.integer({ min: 1, max: 3 }),
  channelId: fc.constantFrom('channel-1', 'channel-2'),
  upstreamModel: text,
  upstreamRequestId: optional(text),
  result: fc.constantFrom(
    'answered',
    'refused',
    'unreachable',
    'cut_after_content',
    'caller_gone',
    'limit_reached',
  ),
  detail: optional(text),
  httpStatus: optional(fc.integer({ min: 100, max: 599 })),
  ttftMs: optional(duration),
  durationMs: duration,
  usage: optional(usage),
  costNanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }).map(nanoUsd),
  lane: fc.constantFrom('passthrough', 'translate'),
  edits: fc.array(text, { maxLength: 3 }),
  statedCostNanoUsd: optional(fc.bigInt({ min: 0n, max: 10n ** 12n }).map(nanoUsd)),
});

const ending = fc.constantFrom(
  { status: 'complete', unbilledReason: null } as const,
  { status: 'caller_gone', unbilledReason: null } as const,
  { status: 'limit_reached', unbilledReason: null } as const,
  { status: 'complete', unbilledReason: 'unpriced_model' } as const,
  { status: 'failed', unbilledReason: 'zero_completion' } as const,
  { status: 'timed_out', unbilledReason: 'timed_out' } as const,
  { status: 'caller_gone', unbilledReason: 'caller_gone_before_content' } as const,
  { status: 'failed', unbilledReason: 'refused_by_gateway' } as const,
);

/** A call that was refused may have asked for any word. */
function refused(model: string): Partial<CallEntry> {
  return { modelRequested: `made-up ${model}`, priceVersion: null, attempts: [] };
}

/** Any sound call of one of two keys, within a day and a bit. */
export const anyEntry: fc.Arbitrary<CallEntry> = fc
  .record({
    ending,
    usage,
    traceId: fc.nat(0xffff_ffff).map(traceId),
    keyId: fc.constantFrom('key-1', 'key-2'),
    accountId: fc.constantFrom('account-1', 'account-2'),
    modelRequested: fc.constantFrom('alpha', 'beta'),
    stream: fc.boolean(),
    startedAtMs: fc.nat(100_000_000).map((offset) => epochMs + offset),
    multiplierPpm: fc.bigInt({ min: 0n, max: 3_000_000n }),
    clientRequestId: optional(text),
    parentTrace: optional(text),
    userAgent: optional(text),
    tag: fc.constantFrom(null, null, 'red', 'blue'),
    channelId: optional(fc.constantFrom('channel-1', 'channel-2')),
    modelServed: optional(text),
    usageSource: fc.constantFrom('upstream', 'estimated', 'none'),
    parts: optional(
      fc.array(fc.record({ priceVersion: fc.constantFrom('model:alpha@1', 'model:beta@1'), usage }), {
        minLength: 1,
        maxLength: 3,
      }),
    ),
    terms: optional(
      fc.record({
        size: optional(fc.constantFrom('1024x1024', '512x512')),
        quality: optional(fc.constantFrom('high', 'medium')),
        service: fc.constantFrom('priority', 'flex'),
        region: optional(fc.constantFrom('us', 'eu')),
        searchContext: optional(fc.constantFrom('low', 'high')),
        promptTokens: optional(tokens),
      }),
    ),
    finishReason: optional(fc.constantFrom('stop', 'length', 'tool-calls')),
    finishReasonRaw: optional(text),
    httpStatus: optional(fc.integer({ min: 100, max: 599 })),
    errorCode: optional(text),
    losses: fc.array(text, { maxLength: 2 }),
    ttftMs: optional(duration),
    durationMs: duration,
    overheadUs: fc.nat(1_000_000),
    attempts: fc.array(attempt, { maxLength: 3 }),
    route: optional(text.map((channel) => JSON.stringify([[0, 'score', channel, 0, [], []]]))),
  })
  .map(({ ending, ...call }) =>
    sampleEntry({
      ...call,
      ...ending,
      ...(ending.unbilledReason === 'refused_by_gateway' ? refused(call.modelRequested) : {}),
      finishedAtMs: call.startedAtMs + Math.round(call.durationMs),
    }),
  );

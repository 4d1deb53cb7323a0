import { noTerms, noUsage, type Reading } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../../catalogue/catalogue.fixture.ts';
import type { Model } from '../../catalogue/catalogue.ts';
import { servedByChannel } from '../../catalogue/served.ts';
import { type PricedPart, type PriceTier, priceUsage } from '../../money/price.ts';
import { caller, chatCompletions, Rig } from '../call.fixture.ts';
import { entryOf } from '../entry.ts';
import { Call } from '../request.ts';

const usage = { ...noUsage, inputFresh: 10, output: 10 };

function modelAt(id: string, upstreamModel: string, price: bigint | null, cost = price): Model {
  const target = { ...targetOf({ id: 'c1', cost: cost === null ? null : priceOf(cost) }), upstreamModel };
  return { ...modelOf([target], id), price: price === null ? null : priceOf(price) };
}

const small = modelAt('small', 'vendor-small-2', 1_000_000n);
const large = modelAt('large', 'vendor-large-2', 10_000_000n);
const unpriced = modelAt('huge', 'vendor-huge', null);

function entryFor(reading: Partial<Reading>, models: readonly Model[] = [small, large, unpriced]) {
  const rig = new Rig();
  const call = new Call(rig.gateway, rig.inbound(true), caller, chatCompletions(), rig.reply, null);
  const [target] = small.targets;
  if (target === undefined) throw new Error('it has a target');
  call.request = {
    facts: {
      model: 'small',
      stream: true,
      maxOutputTokens: null,
      inputTokensEstimate: 1,
      choices: 1,
      needs: new Set(),
    },
    wantsUsageFrame: false,
    framing: 'sse',
    passThrough: () => {
      throw new Error('nothing is sent');
    },
  };
  call.price = models[0]?.price ?? null;
  call.served = servedByChannel(models);
  const whole: Reading = {
    usage,
    finishReason: 'stop',
    finishReasonRaw: 'stop',
    modelServed: null,
    hasOutput: true,
    outputBytes: 20,
    usageAtOutputBytes: 20,
    ...reading,
  };
  const outcome = { kind: 'answered', reading: whole } as const;
  const times = { startedAt: 0, ttftMs: 1, durationMs: 2 };
  const sent = { upstreamRequestId: null, httpStatus: 200, lane: 'passthrough', isSending: false } as const;
  call.attempts.push({ target, outcome, ...times, ...sent, edits: [], losses: [] });
  return entryOf(call, { kind: 'answered', headers: [], bytes: new Uint8Array(0) });
}

describe('the price is that of the model that served', () => {
  test.each([
    [null, 20_000n, 'at-1000000'],
    ['vendor-small-2', 20_000n, 'at-1000000'],
    ['VENDOR-SMALL-2', 20_000n, 'at-1000000'],
    ['vendor-small-2-20260801', 20_000n, 'at-1000000'],
    ['never-heard-of', 20_000n, 'at-1000000'],
    ['vendor-large-2', 200_000n, 'at-10000000'],
    ['Vendor-Large-2', 200_000n, 'at-10000000'],
    ['models/vendor-large-2', 200_000n, 'at-10000000'],
    ['vendor-large-2-2026-08-01', 200_000n, 'at-10000000'],
    ['vendor-huge', 20_000n, 'at-1000000'],
  ])('an answer that says %s', (modelServed, charge, priceVersion) => {
    const entry = entryFor({ modelServed });
    expect(entry).toMatchObject({ chargeNanoUsd: charge, priceVersion, parts: null, usage });
    expect(entry.attempts[0]?.costNanoUsd).toBe(charge);
  });

  test('one of several public ids for it is chosen by its letters, whatever comes first', () => {
    const twins = ['b-large', 'a-large'].map((id, at) =>
      modelAt(id, 'vendor-large-2', BigInt(at + 3) * 1_000_000n),
    );
    const named = modelAt('vendor-large-2', 'vendor-large-2', 7_000_000n);
    for (const models of [
      [small, ...twins],
      [small, ...twins.toReversed()],
    ])
      expect(entryFor({ modelServed: 'vendor-large-2' }, models)).toMatchObject({ chargeNanoUsd: 80_000n });
    expect(entryFor({ modelServed: 'vendor-large-2' }, [small, ...twins, named]).chargeNanoUsd).toBe(
      140_000n,
    );
  });

  test('each of several requests at the price of its own model', () => {
    const iterations = [
      { model: null, usage: { ...noUsage, inputFresh: 3, output: 2 } },
      { model: 'vendor-large-2', usage: { ...noUsage, inputFresh: 5, output: 4 } },
      { model: 'vendor-small-2', usage: { ...noUsage, inputFresh: 2, output: 4 } },
    ];
    const entry = entryFor({ modelServed: 'vendor-small-2', iterations });
    expect(entry).toMatchObject({ chargeNanoUsd: 11_000n + 90_000n, priceVersion: 'at-1000000', usage });
    expect(entry.parts).toEqual([
      { priceVersion: 'at-1000000', usage: iterations[0]?.usage },
      { priceVersion: 'at-10000000', usage: iterations[1]?.usage },
      { priceVersion: 'at-1000000', usage: iterations[2]?.usage },
    ]);
    expect(entry.attempts[0]?.costNanoUsd).toBe(101_000n);
  });

  test('requests of one model at one price are no parts', () => {
    const half = { ...noUsage, inputFresh: 5, output: 5 };
    const iterations = [
      { model: null, usage: half },
      { model: 'vendor-small-2', usage: half },
    ];
    expect(entryFor({ iterations })).toMatchObject({ parts: null, chargeNanoUsd: 20_000n });
  });
});

test('an answer of one other model in several requests goes by the prompt of each, as its entry can be priced again', () => {
  const cheap = priceOf(1_000_000n);
  const [first] = cheap.tiers;
  const [dear] = priceOf(10_000_000n).tiers;
  if (first === undefined || dear === undefined) throw new Error('it has a tier');
  const price = { id: 'tiered', effectiveFromMs: 0, tiers: [first, { ...dear, aboveInputTokens: 8 }] };
  const [target] = large.targets;
  if (target === undefined) throw new Error('it has a target');
  const tiered = { ...large, price, targets: [{ ...target, cost: price }] };
  const terms = { ...noTerms, promptTokens: 5 };
  const entry = entryFor({ modelServed: 'vendor-large-2', terms }, [small, tiered]);
  expect(entry).toMatchObject({ parts: null, priceVersion: 'tiered', terms, chargeNanoUsd: 20_000n });
  expect(entry.chargeNanoUsd).toBe(
    priceUsage(entry.usage, price, entry.multiplierPpm, entry.terms ?? noTerms),
  );
  expect(entry.attempts[0]?.costNanoUsd).toBe(20_000n);
});

test('each request is in its own tier of context, and the price per call is one', () => {
  const [first] = priceOf(1_000n).tiers;
  if (first === undefined) throw new Error('it has a tier');
  const classes = { ...first.classes, perCall: first.classes.input };
  const tiers: PriceTier[] = [
    { aboveInputTokens: 0, classes },
    { aboveInputTokens: 100, classes: priceOf(5_000n).tiers[0]?.classes ?? classes },
  ];
  const price = { id: 'tiered', effectiveFromMs: 0, tiers };
  const part = (inputFresh: number) => ({ price, usage: { ...noUsage, inputFresh } });
  const priceParts = (...parts: readonly PricedPart[]) =>
    priceUsage(noUsage, price, 1_000_000n, noTerms, parts);
  expect(priceParts(part(80))).toBe(81n);
  expect(priceParts(part(80), part(80))).toBe(161n);
  expect(priceParts(part(80), part(120))).toBe(81n + 600n);
});

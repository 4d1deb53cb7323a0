import { type Facts, noTerms, noUsage } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { priceOf } from '../../catalogue/catalogue.fixture.ts';
import { type Asking, expectedUsage, takenBy } from './demand.ts';

const facts: Facts = {
  model: 'm',
  stream: true,
  maxOutputTokens: null,
  inputTokensEstimate: 1_001,
  choices: 1,
  needs: new Set(),
};

function expected(more: Partial<Facts>, asking: Partial<Asking> = {}) {
  const model = { maxOutputTokens: null, price: null };
  return expectedUsage({
    request: { facts: { ...facts, ...more } },
    work: 'answer',
    model,
    usualMax: null,
    ...asking,
  });
}

test('input is held with a twentieth more', () => {
  expect(expected({}).inputFresh).toBe(1_052);
});

describe('output', () => {
  test('is what such answers hardly ever exceed, or what the caller allows, if that is less', () => {
    expect(expected({ maxOutputTokens: 900 }, { usualMax: 700 }).output).toBe(700);
    expect(expected({ maxOutputTokens: 100 }, { usualMax: 700 }).output).toBe(100);
    expect(expected({}, { usualMax: 700 }).output).toBe(700);
  });

  test('is all that is allowed while nothing is known of a whole answer, and of a stream a beginning', () => {
    expect(expected({ stream: false, maxOutputTokens: 50_000 }).output).toBe(50_000);
    expect(expected({ maxOutputTokens: 50_000 }).output).toBe(1_024);
    expect(expected({ stream: false }).output).toBe(4_096);
    expect(expected({}, { model: { maxOutputTokens: 300, price: null } }).output).toBe(300);
  });

  test('is never more than the model can write', () => {
    const asking = { model: { maxOutputTokens: 8_000, price: null } };
    expect(expected({ stream: false, maxOutputTokens: 2_000_000_000 }, asking).output).toBe(8_000);
    expect(expected({ maxOutputTokens: 2_000_000_000 }, { ...asking, usualMax: 9_000 }).output).toBe(8_000);
  });

  test('is for each choice', () => {
    expect(expected({ choices: 3, maxOutputTokens: 100 }).output).toBe(300);
  });

  test('is sound where that may come: it is dearer', () => {
    expect(expected({ needs: new Set(['audio-output']), maxOutputTokens: 9 })).toMatchObject({
      output: 0,
      outputAudio: 9,
    });
  });

  test('is none of vectors', () => {
    expect(expected({ maxOutputTokens: 0 }, { work: 'embed' })).toEqual({ ...noUsage, inputFresh: 1_052 });
  });
});

test.each([
  ['low', '1024x1024', 272],
  ['medium', '1024x1024', 1_056],
  ['high', '1536x1024', 6_240],
  [null, null, 1_056],
])('images of quality %s and size %s are held as %d tokens each', (quality, size, tokens) => {
  const terms = { ...noTerms, quality, size };
  const held = expected({ makesImages: true, choices: 2, terms });
  expect(held).toMatchObject({ images: 2, outputImage: 2 * tokens, output: 0 });
});

test('a tool with a fee is expected to be used once', () => {
  const price = priceOf(1_000_000n);
  const withFee = { ...price, tiers: price.tiers.map((tier) => ({ ...tier, fees: {} })) };
  const request = {
    facts: { ...facts, needs: new Set(['tools'] as const) },
    asks: () => [{ term: 'webSearches', field: 'tools[0]' } as const],
  };
  const asking = { request, work: 'answer', usualMax: null } as const;
  expect(expectedUsage({ ...asking, model: { maxOutputTokens: 1, price: withFee } }).webSearches).toBe(1);
  expect(expectedUsage({ ...asking, model: { maxOutputTokens: 1, price } }).webSearches).toBe(0);
});

test('tokens count whatever they cost, and nothing is charged without a price', () => {
  const usage = { ...noUsage, inputFresh: 10, inputCacheRead: 5, output: 3, outputImage: 2, images: 1 };
  expect(takenBy(usage, null, 1_000_000n, noTerms)).toEqual({ chargeNanoUsd: 0n, tokens: 20, images: 1 });
});

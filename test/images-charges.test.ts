import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelEach, openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, request } from './support/raw-http.ts';

/** Failures after which nobody knows whether the image was made. */
const unknown = ['500', 'reset-before-head', 'html', 'empty', 'reset-before-content', 'end-before-content'];
/** Failures that say it was not. */
const refusals = ['429', '503', '401', 'error-before-content'];

const modes = ['json', 'stream'] as const;
const modelsOf = (faults: readonly string[]) =>
  faults.flatMap((fault) => modes.map((mode) => `${fault}.${mode}`));
const upstreamOf = (model: string) => `sim+fault=${model.split('.')[0]}`;

const byKind = {
  perImage: '0.02',
  images: [
    { size: '1024x1024', quality: 'high', price: '0.167' },
    { size: '1024x1536', quality: 'high', price: '0.25' },
    { quality: 'medium', price: '0.0420000001' },
  ],
};
const byToken = { input: '5', imageInput: '10', imageOutput: '40', output: '20' };

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  const failing = modelsOf([...unknown, ...refusals]);
  const pieces = { kinds: 'sim', silent: 'sim+usage=never', free: 'sim+tokens=0' };
  gateway = await openTestGateway({
    multiplier: '1.5',
    channels: [
      { id: 'own', origin, models: { ...pieces, tokens: 'sim' } },
      ...channelEach(origin, Object.fromEntries(failing.map((model) => [model, upstreamOf(model)]))),
      { id: 'good', origin, models: Object.fromEntries(failing.map((model) => [model, 'well'])) },
    ],
    prices: {
      ...Object.fromEntries(Object.keys(pieces).map((id) => [id, byKind])),
      ...Object.fromEntries(['tokens', ...failing].map((id) => [id, byToken])),
    },
  });
});
// Closing verifies the ledger, which works out every charge again from what the entries keep.
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function generate(body: object, operation = 'generations') {
  const headers = [`authorization: Bearer ${gateway.keys.completions}`, 'content-type: application/json'];
  const text = JSON.stringify({ prompt: 'one two three', ...body });
  const answer = await exchange(gateway.apiOrigin, request(`POST /v1/images/${operation}`, headers, text));
  return { answer, entry: await entryOf(gateway, answer.headers.get('x-trace-id')) };
}

describe('by token classes', () => {
  test.each([false, true])('every class has its price (stream: %s)', async (stream) => {
    const images = [{ image_url: 'x' }, { image_url: 'y' }];
    const { entry } = await generate({ model: 'tokens', n: 2, quality: 'medium', images, stream }, 'edits');
    expect(entry).toMatchObject({
      surface: 'images',
      usageSource: 'upstream',
      usage: { inputFresh: 3, inputImage: 200, output: 0, outputImage: 2_048, images: 2 },
      terms: { size: '1024x1024', quality: 'medium' },
      chargeNanoUsd: BigInt((3 * 5_000 + 200 * 10_000 + 2_048 * 40_000) * 1.5),
    });
  });
});

describe('by size and quality', () => {
  test.each([
    [{ quality: 'high', n: 3 }, { size: '1024x1024', quality: 'high' }, 3n * 250_500_000n],
    [{ quality: 'hd', size: '1024x1536' }, { size: '1024x1536', quality: 'high' }, 375_000_000n],
    // Half a nano-dollar is rounded to the even one: 0.0420000001 · 1.5 is 63,000,000.15.
    [{ quality: 'medium', size: '64x64' }, { size: '64x64', quality: 'medium' }, 63_000_000n],
    [{}, { size: '1024x1024', quality: 'low' }, 30_000_000n],
    [{ quality: 'high', stream: true, n: 2 }, { size: '1024x1024', quality: 'high' }, 501_000_000n],
  ])('%j is what the answer says it is', async (wishes, terms, chargeNanoUsd) => {
    const { entry } = await generate({ model: 'kinds', ...wishes });
    expect(entry).toMatchObject({ status: 'complete', terms, chargeNanoUsd });
  });

  test('images are counted where the upstream reports no usage', async () => {
    const { entry } = await generate({ model: 'silent', quality: 'high', n: 2 });
    expect(entry).toMatchObject({
      usageSource: 'estimated',
      usage: { images: 2 },
      chargeNanoUsd: 501_000_000n,
    });
  });

  test('an answer without an image costs nothing', async () => {
    const { answer, entry } = await generate({ model: 'free' });
    expect(answer.status).toBe(502);
    expect(entry).toMatchObject({ status: 'failed', unbilledReason: 'zero_completion', chargeNanoUsd: 0n });
  });
});

describe('a failure', () => {
  test.each(modelsOf(unknown))('%s is not tried elsewhere', async (model) => {
    const { answer, entry } = await generate({ model, stream: model.endsWith('stream') });
    expect(answer.status).toBe(502);
    expect(entry).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
    expect(entry.attempts.map(({ channelId }) => channelId)).toEqual([model]);
  });

  test.each(modelsOf(refusals))('%s is a refusal, and rescued', async (model) => {
    const { answer, entry } = await generate({ model, stream: model.endsWith('stream'), partial_images: 1 });
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    expect(entry).toMatchObject({
      status: 'complete',
      chargeNanoUsd: BigInt((3 * 5_000 + 256 * 40_000) * 1.5),
    });
    expect(entry.attempts.map(({ channelId }) => channelId)).toEqual([model, 'good']);
  });
});

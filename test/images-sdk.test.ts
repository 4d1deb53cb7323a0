import { type Simulator, startSimulator } from '@headgate/simulator';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf, entryOfModel } from './support/ledger.ts';

const models = {
  plain: 'sim',
  refused: 'sim+refusal',
  limited: 'sim+fault=429',
  broken: 'sim+fault=error-mid-stream,at=1',
  cut: 'sim+fault=reset-mid-stream,at=1',
  slow: 'sim+fault=stall-mid-stream,at=1',
  'slow-json': 'sim+fault=stall-before-head',
};

let simulator: Simulator;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({ channels: [{ id: 'only', origin: simulator.origin, models }] });
  client = new OpenAI({
    apiKey: gateway.keys.completions,
    baseURL: `${gateway.apiOrigin}/v1`,
    maxRetries: 0,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const prompt = 'a lighthouse at dusk';
const pngStart = 'iVBORw0KGgo';

async function picture(name: string) {
  const bytes = Uint8Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256);
  return toFile(bytes, name, { type: 'image/png' });
}

describe('the official SDK', () => {
  test('generates', async () => {
    const { data = [], ...answer } = await client.images.generate({
      model: 'plain',
      prompt,
      n: 2,
      size: '1536x1024',
      quality: 'high',
    });
    expect(data.map(({ b64_json }) => b64_json?.startsWith(pngStart))).toEqual([true, true]);
    expect(answer).toMatchObject({
      size: '1536x1024',
      quality: 'high',
      usage: { input_tokens: 4, output_tokens: 2 * 6_144 },
    });
  });

  test('edits several files under a mask', async () => {
    const answer = await client.images.edit({
      model: 'plain',
      prompt,
      image: [await picture('a.png'), await picture('b.png')],
      mask: await picture('mask.png'),
    });
    expect(answer.data?.[0]?.b64_json?.startsWith(pngStart)).toBe(true);
    expect(answer.usage?.input_tokens_details).toEqual({ text_tokens: 4, image_tokens: 300 });
  });

  test('streams drafts and the image, of generations and of edits', async () => {
    const params = { model: 'plain', prompt, stream: true, partial_images: 2 } as const;
    const generation = await Array.fromAsync(await client.images.generate(params), ({ type }) => type);
    expect(generation).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    const edit = await client.images.edit({ ...params, image: await picture('a.png') });
    expect(await Array.fromAsync(edit, ({ type }) => type)).toEqual([
      'image_edit.partial_image',
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
  });

  test('streams several images', async () => {
    const stream = await client.images.generate({ model: 'plain', prompt, stream: true, n: 3 });
    const images = await Array.fromAsync(stream, ({ b64_json }) => b64_json);
    expect(new Set(images).size).toBe(3);
  });

  test.each([
    ['refused', OpenAI.BadRequestError, 'moderation_blocked'],
    ['limited', OpenAI.RateLimitError, 'upstream_rate_limited'],
    ['no-such', OpenAI.NotFoundError, 'model_not_found'],
  ])('knows the error of %s', async (model, type, code) => {
    const error: unknown = await client.images.generate({ model, prompt }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code });
  });

  test.each(['broken', 'cut'])('throws when a stream is %s, after the drafts that came', async (model) => {
    const params = { model, prompt, stream: true, partial_images: 3 } as const;
    const seen: string[] = [];
    const iterate = async () => {
      for await (const { type } of await client.images.generate(params)) seen.push(type);
    };
    await expect(iterate()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(seen).toEqual(['image_generation.partial_image']);
    expect(await entryOfModel(gateway, model)).toMatchObject({
      status: 'failed',
      unbilledReason: 'cut_after_content',
      chargeNanoUsd: 0n,
    });
  });

  test('hangs up: a draft that was seen is paid for, a wait is not', async () => {
    const stream = await client.images.generate({ model: 'slow', prompt, stream: true, partial_images: 3 });
    for await (const _ of stream) stream.controller.abort();
    expect(await entryOfModel(gateway, 'slow')).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
      usageSource: 'estimated',
      usage: { outputImage: 100, images: 0 },
    });

    const hangUp = new AbortController();
    const waiting = client.images.generate({ model: 'slow-json', prompt }, { signal: hangUp.signal });
    await simulator.until(({ body }) => Buffer.from(body).includes('stall-before-head'));
    hangUp.abort();
    await expect(waiting).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    expect(await entryOfModel(gateway, 'slow-json')).toMatchObject({
      status: 'caller_gone',
      unbilledReason: 'caller_gone_before_content',
      chargeNanoUsd: 0n,
    });
    await simulator.until(
      ({ body, outcome }) => outcome === 'client-gone' && Buffer.from(body).includes('before-head'),
    );
  });

  test('is told the trace id where it looks for it', async () => {
    const { request_id } = await client.images.generate({ model: 'plain', prompt }).withResponse();
    expect(await entryOf(gateway, request_id ?? undefined)).toMatchObject({
      surface: 'images',
      status: 'complete',
    });
  });
});

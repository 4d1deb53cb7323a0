import { Buffer } from 'node:buffer';
import { crc32, inflateSync } from 'node:zlib';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, openRaw, postRequest } from '../raw-exchange.fixture.ts';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  client = new OpenAI({ apiKey: 'sk-any', baseURL: `${simulator.origin}/v1`, maxRetries: 0 });
});
afterAll(async () => simulator.close());

const prompt = 'a lighthouse at dusk';

/** Takes a PNG apart, checking every sum in it; the lines are those of one bit per pixel. */
function decodePng(base64: string | undefined) {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const dataEnd = at + 8 + bytes.readUInt32BE(at);
    expect(bytes.readUInt32BE(dataEnd)).toBe(crc32(bytes.subarray(at + 4, dataEnd)));
    chunks.set(bytes.toString('latin1', at + 4, at + 8), bytes.subarray(at + 8, dataEnd));
    at = dataEnd + 4;
  }
  const header = chunks.get('IHDR') ?? expect.fail('no header');
  const size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4) };
  const lines = inflateSync(chunks.get('IDAT') ?? '');
  expect(lines).toHaveLength((1 + Math.ceil(size.width / 8)) * size.height);
  return { ...size, isTransparent: chunks.has('tRNS') };
}

async function image(name: string) {
  return toFile(Buffer.from([0x89, 0x50, 0x0d, 0x0a, 0x0d, 0x0a, 0x2d, 0x2d, 0xff]), name, {
    type: 'image/png',
  });
}

async function events(stream: AsyncIterable<OpenAI.ImageGenStreamEvent | OpenAI.ImageEditStreamEvent>) {
  return Array.fromAsync(stream);
}

describe('a generation', () => {
  test('has every member of the protocol and an image that can be decoded', async () => {
    const {
      data = [],
      created,
      ...answer
    } = await client.images.generate({
      model: 'm',
      prompt,
      size: '1536x1024',
      quality: 'medium',
      background: 'transparent',
    });
    expect(created).toBeGreaterThan(1_700_000_000);
    expect(answer).toEqual({
      background: 'transparent',
      output_format: 'png',
      quality: 'medium',
      size: '1536x1024',
      usage: {
        input_tokens: 4,
        input_tokens_details: { text_tokens: 4, image_tokens: 0 },
        output_tokens: 1_536,
        output_tokens_details: { image_tokens: 1_536, text_tokens: 0 },
        total_tokens: 1_540,
      },
    });
    expect(data.map((each) => decodePng(each.b64_json))).toEqual([
      { width: 1_536, height: 1_024, isTransparent: true },
    ]);
  });

  test.each([
    ['low', 256],
    ['medium', 1_024],
    ['high', 4_096],
    ['hd', 4_096],
    ['auto', 256],
  ] as const)('in %s quality costs %i tokens', async (quality, tokens) => {
    const { usage } = await client.images.generate({ model: 'm', prompt, quality, n: 3 });
    expect(usage?.output_tokens).toBe(3 * tokens);
  });

  test('gives several images, the same ones each time', async () => {
    const ask = async () => (await client.images.generate({ model: 'm', prompt, n: 3 })).data;
    const data = await ask();
    expect(new Set(data?.map(({ b64_json }) => b64_json)).size).toBe(3);
    expect(await ask()).toEqual(data);
  });

  test('gives addresses when they are asked for', async () => {
    const { data } = await client.images.generate({ model: 'm', prompt, response_format: 'url' });
    expect(data?.[0]?.url).toMatch(/^https:.*\.png$/);
    expect(data).toMatchObject([{ revised_prompt: prompt }]);
  });

  test.each([
    ['m+tokens=40', { n: 2, usage: 80 }],
    ['m+tokens=0', { n: 0, usage: 0 }],
    ['m+usage=never', { n: 2, usage: undefined }],
  ])('%s is obeyed', async (model, expected) => {
    const answer = await client.images.generate({ model, prompt, n: 2 });
    expect({ n: answer.data?.length, usage: answer.usage?.output_tokens }).toEqual(expected);
  });
});

describe('an edit', () => {
  test('is read from a form with files', async () => {
    const answer = await client.images.edit({
      model: 'm',
      prompt,
      image: [await image('a.png'), await image('b.png')],
      mask: await image('mask.png'),
      n: 2,
      size: '256x256',
    });
    expect(answer.data).toHaveLength(2);
    expect(answer.usage?.input_tokens_details).toEqual({ text_tokens: 4, image_tokens: 300 });
  });

  test('is read from JSON', async () => {
    const images = [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }];
    const request = postRequest('/v1/images/edits', { model: 'm', prompt, images });
    const { status, body } = await exchange(simulator.origin, request);
    expect([status, body]).toEqual([200, expect.stringContaining('"image_tokens":100')]);
  });

  test('is streamed, with events of its own', async () => {
    const stream = await client.images.edit({
      model: 'm',
      prompt,
      image: await image('a.png'),
      stream: true,
      partial_images: 1,
    });
    expect((await events(stream)).map(({ type }) => type)).toEqual([
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
  });
});

describe('a stream', () => {
  test('shows drafts before each image, whose outputs add up', async () => {
    const params = { model: 'm', prompt, n: 2, partial_images: 2 };
    const all = await events(await client.images.generate({ ...params, stream: true }));
    expect(all.map((event) => ('partial_image_index' in event ? event.partial_image_index : 'done'))).toEqual(
      [0, 1, 'done', 0, 1, 'done'],
    );
    expect(new Set(all.map(({ b64_json }) => b64_json)).size).toBe(6);
    const outputs = all.flatMap((event) => ('usage' in event ? event.usage.output_tokens : []));
    expect(outputs).toEqual([256, 256]);
    expect(decodePng(all.at(-1)?.b64_json)).toMatchObject({ width: 1_024, height: 1_024 });
  });

  test('throws the error within it', async () => {
    const stream = await client.images.generate({
      model: 'm+fault=error-mid-stream,at=1',
      prompt,
      stream: true,
      partial_images: 3,
    });
    await expect(events(stream)).rejects.toThrow(/overloaded/);
  });

  test.each([
    ['before-content', 'content-type', 'partial_image'],
    ['mid-stream', 'partial_image', 'completed'],
    ['before-done', 'partial_image', 'completed'],
  ])('a reset %s comes after %s', async (place, seen, unseen) => {
    const raw = openRaw(simulator.origin);
    const members = { model: `m+fault=reset-${place}`, prompt, stream: true, partial_images: 2 };
    raw.send(postRequest('/v1/images/generations', members));
    expect(await raw.farewell).toBe('RST');
    expect(raw.received.toString()).toContain(seen);
    expect(raw.received.toString()).not.toContain(unseen);
    raw.close();
  });
});

describe('errors', () => {
  test.each([
    ['m+fault=401', 401, 'invalid_request_error', 'invalid_api_key'],
    ['m+fault=429', 429, 'requests', 'rate_limit_exceeded'],
    ['m+refusal', 400, 'image_generation_user_error', 'moderation_blocked'],
    [
      'm+fault=400,code=content_policy_violation',
      400,
      'image_generation_user_error',
      'content_policy_violation',
    ],
  ])('%s is a %i', async (model, status, type, code) => {
    const error: unknown = await client.images.generate({ model, prompt }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status, type, code });
  });

  test.each([
    ['/v1/images/generations', {}, 'prompt'],
    ['/v1/images/generations', { prompt, n: 11 }, 'n'],
    ['/v1/images/generations', { prompt, size: '0x9' }, 'size'],
    ['/v1/images/edits', { prompt }, 'image'],
  ])('%s with %j names what is wrong', async (path, members, param) => {
    const { status, body } = await exchange(simulator.origin, postRequest(path, { model: 'm', ...members }));
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: { param } });
  });

  test('a form that is cut off is refused', async () => {
    const type = 'content-type: multipart/form-data; boundary=x';
    const lines = [
      'POST /v1/images/edits HTTP/1.1',
      'host: simulator',
      type,
      'content-length: 5',
      '',
      '--x\r\n',
    ];
    expect(await exchange(simulator.origin, lines.join('\r\n'))).toMatchObject({ status: 400 });
  });
});

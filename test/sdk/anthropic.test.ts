import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { entryOf, entryOfModel } from '../support/ledger.ts';
import {
  bodiesOf,
  type Feature,
  modelOf,
  openProtocolSite,
  type ProtocolSite,
  upstreams,
} from '../support/protocol-site.ts';

let site: ProtocolSite;
let client: Anthropic;

beforeAll(async () => {
  site = await openProtocolSite();
  client = new Anthropic({
    apiKey: site.gateway.keys.messages,
    baseURL: site.gateway.apiOrigin,
    maxRetries: 0,
  });
});
afterAll(async () => site[Symbol.asyncDispose]());

const messages = [{ role: 'user' as const, content: 'How far is the moon?' }];
const thinking = { type: 'enabled' as const, budget_tokens: 1024, display: 'summarized' as const };

const tools = [
  betaZodTool({
    name: 'weather',
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    run: ({ city }) => `sun over ${city}`,
  }),
  betaZodTool({
    name: 'clock',
    description: 'Tells the time.',
    inputSchema: z.object({ zone: z.string() }),
    run: ({ zone }) => [{ type: 'text', text: `noon in ${zone}` }],
  }),
];

const blocks = z.array(z.object({ type: z.string(), thinking: z.string().optional() }));

/** The kinds of blocks, without thoughts that have no words: they are there for the state of what stands before them. */
function typesOf(content: unknown): readonly string[] {
  const spoken = blocks.safeParse(content).data?.filter(({ thinking }) => thinking !== '') ?? [];
  return spoken.map(({ type }) => type);
}

describe.each(upstreams)('on %s', (upstream) => {
  const asked = (feature: Feature) => ({
    model: modelOf(feature, upstream),
    max_tokens: 2000,
    messages,
  });

  test('has text, whole and streamed', async () => {
    const whole = await client.messages.create({ ...asked('plain'), system: 'Be brief.' });
    expect(whole).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'This is a simulated' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 4 },
    });
    const stream = client.messages.stream({ ...asked('plain'), system: 'Be brief.' });
    const pieces: string[] = [];
    stream.on('text', (piece) => pieces.push(piece));
    const { content, usage } = await stream.finalMessage();
    expect(content).toMatchObject([{ type: 'text', text: 'This is a simulated' }]);
    expect(usage).toMatchObject({ input_tokens: 7, output_tokens: 4 });
    expect(pieces).toEqual(['This', ' is', ' a', ' simulated']);
    const entry = await entryOf(site.gateway, stream.request_id ?? '');
    expect(entry).toMatchObject({ surface: 'messages', chargeNanoUsd: 15_000n });
  });

  test.each([
    ['tools', false],
    ['tools', true],
    ['thinking-tools', false],
    ['thinking-tools', true],
  ] as const)('runs tools in a loop of parallel calls (%s, stream: %s)', async (feature, stream) => {
    const params = { ...asked(feature), tools, thinking };
    const before = bodiesOf(site.simulator).length;
    const runner = client.beta.messages.toolRunner({ ...params, stream });
    const last = await runner.runUntilDone();
    const turns = runner.params.messages.map(({ content }) => typesOf(content));
    const thoughts = feature === 'tools' ? [] : ['thinking'];
    expect(turns.slice(1, 3)).toEqual([
      [...thoughts, 'tool_use', 'tool_use'],
      ['tool_result', 'tool_result'],
    ]);
    expect(JSON.stringify(last.content)).toMatch(/The tool returned: “.*noon in sample zone”/);
    // The thread the SDK asks for first is refused in the way that makes it go on without.
    const bodies = bodiesOf(site.simulator).slice(before);
    expect(bodies).toHaveLength(2);
    expect(bodies.filter((body) => body.includes('"thread"'))).toEqual([]);
    expect(bodies[1]).toContain('sun over sample city');
    expect(last.stop_reason).toBe('end_turn');
  });

  test('shows a picture', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const;
    const content = [{ type: 'text', text: 'What is this?' } as const, { type: 'image', source } as const];
    const { usage } = await client.messages.create({
      ...asked('vision'),
      messages: [{ role: 'user', content }],
    });
    expect(usage.input_tokens).toBe(103);
  });

  test('has structured output, whole and streamed', async () => {
    const schema = z.object({ far: z.boolean(), unit: z.enum(['km', 'mi']) });
    const params = { ...asked('schema'), output_config: { format: zodOutputFormat(schema) } };
    const expected = { far: true, unit: 'km' };
    expect((await client.messages.parse(params)).parsed_output).toEqual(expected);
    expect((await client.messages.stream(params).finalMessage()).parsed_output).toEqual(expected);
  });

  test('sees thoughts, signed', async () => {
    const params = { ...asked('thinking'), thinking };
    const whole = await client.messages.create(params);
    const streamed = await client.messages.stream(params).finalMessage();
    for (const { content } of [whole, streamed]) {
      expect(typesOf(content)).toEqual(['thinking', 'text']);
      expect(content.slice(0, 2)).toMatchObject([
        { thinking: 'This is simulated', signature: expect.stringMatching(/./) as unknown },
        { text: 'This is' },
      ]);
    }
  });

  test.each([
    ['short', 16, 'max_tokens'],
    ['refused', 500, 'refusal'],
  ] as const)('knows why %s stopped', async (feature, max_tokens, reason) => {
    const params = { ...asked(feature), max_tokens };
    expect((await client.messages.create(params)).stop_reason).toBe(reason);
    expect((await client.messages.stream(params).finalMessage()).stop_reason).toBe(reason);
  });

  test('counts tokens, which nobody pays for', async () => {
    const model = modelOf('schema', upstream);
    const { data, response } = await client.messages.countTokens({ model, messages }).withResponse();
    const isOwn = upstream === 'messages';
    expect(response.headers.get('x-headgate-token-count')).toBe(isOwn ? null : 'estimated');
    expect(data.input_tokens).toBeGreaterThan(4);
    expect(data.input_tokens).toBeLessThan(isOwn ? 6 : 40);
    const traceId = response.headers.get('request-id') ?? '';
    expect((await entryOf(site.gateway, traceId)).chargeNanoUsd).toBe(0n);
  });

  test.each([
    ['error-400', Anthropic.BadRequestError, 'invalid_request_error'],
    ['error-429', Anthropic.RateLimitError, 'rate_limit_error'],
    ['error-503', Anthropic.InternalServerError, 'api_error'],
  ] as const)('knows the error of %s', async (feature, type, word) => {
    for (const stream of [false, true]) {
      const call = client.messages.create({ ...asked(feature), stream });
      const thrown: unknown = await call.catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(type);
      expect(thrown).toMatchObject({
        type: word,
        requestID: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
      });
    }
  });

  test('throws when a stream breaks off, after what had come', async () => {
    const stream = client.messages.stream(asked('cut'));
    let words = 0;
    stream.on('text', () => words++);
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
    expect(words).toBe(3);
  });

  test('hangs up in the middle', async () => {
    const stream = await client.messages.create({ ...asked('slow'), stream: true });
    for await (const event of stream) if (event.type === 'content_block_delta') stream.controller.abort();
    expect(await entryOfModel(site.gateway, modelOf('slow', upstream))).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
    });
  });
});

test('lists and retrieves models', async () => {
  const ids = await Array.fromAsync(client.models.list({ limit: 5 }), ({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(upstreams.map((upstream) => modelOf('plain', upstream))));
  const model = modelOf('plain', 'messages');
  expect(await client.models.retrieve(model)).toMatchObject({
    id: model,
    type: 'model',
    display_name: model,
  });
  await expect(client.models.retrieve('no/such')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
});

test('knows a wrong key and an unknown model', async () => {
  const params = { model: 'no-such', max_tokens: 5, messages };
  await expect(client.messages.create(params)).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  const wrong = client.withOptions({ apiKey: 'wrong' });
  await expect(wrong.messages.create(params)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
});

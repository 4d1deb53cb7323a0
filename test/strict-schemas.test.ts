import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entryOf } from './support/ledger.ts';
import { modelOf, openProtocolSite, type ProtocolSite } from './support/protocol-site.ts';

let site: ProtocolSite;
beforeAll(async () => {
  site = await openProtocolSite();
});
afterAll(() => site[Symbol.asyncDispose]());

/** A map, which one vendor holds to as an empty object, and older models of another do as well. */
const schema = {
  type: 'object',
  properties: { counts: { type: 'object', additionalProperties: { type: 'integer' } } },
};

const callers = {
  'chat-completions': (model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${site.gateway.keys.completions}` },
    body: {
      model,
      stream,
      messages: [{ role: 'user', content: 'Count.' }],
      response_format: { type: 'json_schema', json_schema: { name: 'counts', strict: true, schema } },
    },
  }),
  responses: (model: string, stream: boolean) => ({
    path: '/v1/responses',
    headers: { authorization: `Bearer ${site.gateway.keys.completions}` },
    body: {
      model,
      stream,
      input: 'Count.',
      text: { format: { type: 'json_schema', name: 'counts', strict: true, schema } },
    },
  }),
  'generate-content': (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: { 'x-goog-api-key': site.gateway.keys.native },
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Count.' }] }],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    },
  }),
};

async function ask(surface: keyof typeof callers, model: string, stream: boolean) {
  const { path, headers, body } = callers[surface](model, stream);
  const answer = await fetch(`${site.gateway.apiOrigin}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { answer, text: await answer.text() };
}

describe.each(Object.keys(callers) as (keyof typeof callers)[])(
  'a schema with a map, of a caller of %s',
  (surface) => {
    test.each([false, true])(
      'is answered by a tool of ours at messages, as text (streamed: %s)',
      async (stream) => {
        const { answer, text } = await ask(surface, modelOf('schema', 'messages'), stream);
        expect(answer.status, text).toBe(200);
        const sent = JSON.parse(Buffer.from(site.simulator.requests.at(-1)?.body ?? []).toString()) as object;
        expect(sent).toMatchObject({
          tools: [{ name: 'answer', input_schema: schema }],
          tool_choice: { type: 'tool', name: 'answer' },
        });
        expect(answer.headers.get('x-headgate-losses')).not.toBeNull();
        expect(text).not.toMatch(/"tool_calls":|"function_call"|"functionCall"|"answer"/);
        expect(text).toMatch(/"finish_reason":"stop"|"status":"completed"|"finishReason":"STOP"/);
        const entry = await entryOf(site.gateway, answer.headers.get('x-trace-id') ?? '');
        expect(entry).toMatchObject({ status: 'complete', usageSource: 'upstream', unbilledReason: null });
        expect(entry.usage.output).toBeGreaterThan(0);
      },
    );
  },
);

test('what no channel of a model can be held to is refused by its place', async () => {
  const tree = { type: 'object', properties: { of: { $ref: '#' } }, required: ['of'] };
  const answer = await fetch(`${site.gateway.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.gateway.keys.completions}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: modelOf('schema', 'generate-content'),
      messages: [{ role: 'user', content: 'Count.' }],
      response_format: { type: 'json_schema', json_schema: { name: 'tree', strict: true, schema: tree } },
    }),
  });
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as {
    readonly error: { readonly param: string; readonly message: string };
  };
  expect(error.param).toMatch(/^response_format/);
  expect(error.message).toContain('`properties.of.$ref');
});

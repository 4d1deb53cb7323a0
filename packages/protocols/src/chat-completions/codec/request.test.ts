import { describe, expect, test } from 'vitest';
import type { TranslationTarget } from '../../codec.ts';
import { defaultDialect } from '../../inbound-request.ts';
import type { Turn } from '../../turn.ts';
import { chatCompletionsCodec } from './index.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const target: TranslationTarget = {
  upstreamModel: 'up',
  path: '/v1/chat/completions',
  dialect: defaultDialect,
  origin: 'me',
  maxOutputTokens: null,
  reasoning: true,
};
const ownTarget: TranslationTarget = { ...target, dialect: { ...defaultDialect, chatVocabulary: 'own' } };

function read(body: object) {
  const input = {
    header: () => undefined,
    path: '/v1/chat/completions',
    params: {},
    search: '',
    work: 'answer',
  } as const;
  return chatCompletionsCodec.readTurn({ ...input, body: encoder.encode(JSON.stringify(body)) });
}

function turnOf(body: object): Turn {
  const turn = read({ model: 'm', messages: [], ...body });
  if (!turn.ok) throw new Error(turn.error.message);
  return turn.value;
}

function write(turn: Turn, to = target) {
  const written = chatCompletionsCodec.writeTurn(turn, to);
  if (!written.ok) throw new Error(written.error.message);
  const { request, losses, names } = written.value;
  const body: Record<string, unknown> = JSON.parse(decoder.decode(request.body[0]));
  return { body, losses, names, request };
}

/** The same turn as if it had come from a caller of another protocol. */
function foreign(body: object): Turn {
  return { ...turnOf(body), surface: 'messages', spelling: {} };
}

const look = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
};

describe('a request in this protocol on both sides', () => {
  test('keeps everything that has a place in a turn', () => {
    const body = {
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
            { id: 'c2', type: 'custom', custom: { name: 'run', input: 'ls' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'found' },
        { role: 'tool', tool_call_id: 'c2', content: 'files' },
        { role: 'system', content: 'Now in French.' },
        { role: 'user', content: 'And?' },
        { role: 'assistant', content: null, refusal: 'No.' },
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
            { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
          ],
        },
      ],
      tools: [
        look,
        {
          type: 'custom',
          custom: { name: 'run', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'auto',
          tools: [
            { type: 'function', function: { name: 'look' } },
            { type: 'custom', custom: { name: 'run' } },
          ],
        },
      },
      parallel_tool_calls: false,
      max_completion_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      stop: ['a', 'b', 'c', 'd', 'e'],
      logprobs: true,
      top_logprobs: 2,
      n: 2,
      reasoning_effort: 'low',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { type: 'object' }, strict: true },
      },
      verbosity: 'low',
      user: 'u',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
    };
    const { body: written, losses, names, request } = write(turnOf(body));
    expect(written).toEqual({ ...body, model: 'up', stream_options: { include_usage: true } });
    expect(losses).toEqual([]);
    expect([...names.keys()]).toEqual(['run']);
    expect(request).toMatchObject({
      path: '/v1/chat/completions',
      contentType: 'application/json',
      headers: [],
      edits: [],
    });
  });
});

test('smoke', () => {
  expect(write(foreign({ messages: [{ role: 'user', content: 'hi' }], max_tokens: 3 })).body).toEqual({
    model: 'up',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 3,
  });
  expect(ownTarget.reasoning).toBe(true);
});

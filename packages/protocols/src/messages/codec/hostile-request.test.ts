import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestInput } from '../../request/request-input.fixture.ts';
import { listOf } from '../../wire-values.ts';
import { targetOf } from './codec.fixture.ts';
import { messagesCodec } from './index.ts';

const valid = {
  model: 'alias',
  max_tokens: 100,
  system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'b' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'c' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'd', signature: 'gw1.here.e' },
        { type: 'tool_use', id: 'f', name: 'clock', input: { g: 1 } },
        { type: 'web_search_tool_result', content: [{ title: 'h', url: 'i' }] },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'f', content: [{ type: 'text', text: 'j' }] }],
    },
  ],
  tools: [{ name: 'clock', input_schema: { type: 'object', properties: { k: { $ref: '#' } }, anyOf: [{}] } }],
  tool_choice: { type: 'tool', name: 'clock' },
  thinking: { type: 'enabled', budget_tokens: 2000 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
  stop_sequences: ['l'],
  metadata: { user_id: 'm' },
};

/** The paths of every value in it. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function withValue(value: unknown, [name, ...rest]: readonly string[], patch: unknown): unknown {
  if (name === undefined) return patch;
  if (Array.isArray(value))
    return listOf(value).map((inner, at) => (String(at) === name ? withValue(inner, rest, patch) : inner));
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          key === name ? withValue(inner, rest, patch) : inner,
        ]),
      )
    : value;
}

const mutation = fc.tuple(fc.constantFrom(...pathsOf(valid)), fc.jsonValue());

test('whatever stands in the place of any value, the request is read and written or refused', () => {
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const request = mutations.reduce<unknown>(
        (value, [path, patch]) => withValue(value, path, patch),
        valid,
      );
      const turn = messagesCodec.readTurn(requestInput(JSON.stringify(request)));
      const written = turn.ok ? messagesCodec.writeTurn(turn.value, targetOf()) : turn;
      if (written.ok) {
        const length = written.value.request.body.reduce((sum, piece) => sum + piece.length, 0);
        expect(length).toBeLessThan(3 * JSON.stringify(request).length + 2_000);
      } else expect(written.error.code).toBe('invalid_request');
    }),
    { numRuns: 1_000 },
  );
});

test.each(['', '[]', '7', '{', '{"model":"\\ud800"}', '{"messages":{}}'])('%j is read or refused', (text) => {
  const turn = messagesCodec.readTurn(requestInput(text));
  expect(turn.ok ? turn.value.messages : turn.error.code).toEqual(turn.ok ? [] : 'invalid_request');
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutRuns, promptText } from './count-prompt.ts';

describe('what a model reads', () => {
  test('of messages', () => {
    const data = 'iVBORw0K'.repeat(200);
    const request = {
      model: 'm',
      max_tokens: 5,
      system: [{ type: 'text', text: 'rules', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'tool_use', id: 't', name: 'clock', input: { zone: 'UTC' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'noon' }] },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
            { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
          ],
        },
      ],
      tools: [{ name: 'clock', input_schema: {} }],
      metadata: { user_id: 'nobody' },
    };
    expect(promptText(request)).toEqual({
      texts: ['rules', 'hi', 'hm', 'clock', '{"zone":"UTC"}', 'noon', '{"name":"clock","input_schema":{}}'],
      media: 2,
      messages: 3,
    });
  });

  test('of contents, wherever they stand', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'hi' }, { fileData: { fileUri: 'u', mimeType: 'image/png' } }] },
      { role: 'model', parts: [{ functionCall: { name: 'clock', args: { a: 1 } } }] },
    ];
    const read = { texts: ['hi', 'clock', '{"a":1}'], media: 1, messages: 2 };
    expect(promptText({ contents })).toEqual(read);
    expect(promptText({ generateContentRequest: { model: 'm', contents } })).toEqual(read);
  });

  test.each([null, 7, 'x', [], { messages: 7, tools: 'x' }])('of %j is next to nothing', (request) => {
    expect(promptText(request)).toMatchObject({ media: 0, messages: 0 });
  });
});

test('cut into pieces a text is the same, and has no long runs', () => {
  const run = fc.tuple(fc.constantFrom('a', ' ', 'é', '\n'), fc.nat(600));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 5 }), (runs) => {
      const text = runs.map(([unit, times]) => unit.repeat(times)).join('');
      const pieces = cutRuns(text);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) expect(piece).not.toMatch(/\S{257}|\s{257}/);
    }),
  );
  expect(cutRuns('plain words')).toEqual(['plain words']);
});

import { describe, expect, test } from 'vitest';
import { messagesSurface } from '../messages/wire.ts';
import { defaultDialect } from '../request.ts';
import type { Block, Message, TurnSettings } from '../turn.ts';
import { listOf, recordOf } from '../wire-values.ts';
import {
  assistant,
  call,
  media,
  ownTarget,
  readBody,
  refusedField,
  result,
  targetOf,
  text,
  turnOf,
  user,
  written,
} from './codec.fixture.ts';

const messagesOf = (messages: readonly Message[], target = targetOf()) =>
  written(turnOf({ messages }), target).body['messages'];

describe('the conversation', () => {
  test('the system is one message, whatever it is made of', () => {
    const { body } = written(turnOf({ system: [text('One.'), text('Two.')] }));
    expect(body['messages']).toEqual([
      { role: 'system', content: 'One.\n\nTwo.' },
      { role: 'user', content: 'hi' },
    ]);
  });

  test('instructions stay in place, and are a developer’s where models think by the inventors’ rules', () => {
    const messages = [user(text('a')), { role: 'system', content: [text('b')], name: null } as const];
    expect(messagesOf(messages)).toEqual([
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
    ]);
    const turn = turnOf({ system: [text('s')], messages });
    expect(written(turn, ownTarget).body['messages']).toMatchObject([
      { role: 'developer' },
      { role: 'user' },
      { role: 'developer' },
    ]);
    expect(written(turn, { ...ownTarget, reasoning: false }).body['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'system' },
    ]);
  });

  test('every result is a message of its own, in the order of the calls, before all else the user says', () => {
    const messages = [
      user(text('go')),
      assistant(text('Let me'), text(' see.'), call('a'), call('b')),
      user(text('Well?'), result('b', text('2')), result('a', text('1'), text('one'))),
    ];
    expect(messagesOf(messages)).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: ['a', 'b'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'look', arguments: '{}' },
        })),
      },
      { role: 'tool', tool_call_id: 'a', content: '1\none' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'user', content: 'Well?' },
    ]);
  });

  test('a missing result is made up, one without its call becomes text', () => {
    expect(messagesOf([assistant(call('a')), user(result('z', text('stray')))])).toEqual([
      expect.objectContaining({ role: 'assistant', content: null }),
      { role: 'tool', tool_call_id: 'a', content: 'Error: No result was returned for this call.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[Result of a tool call that is not part of this conversation]' },
          { type: 'text', text: 'stray' },
        ],
      },
    ]);
  });

  test('calls of one turn that come in several messages are one message', () => {
    const messages = [assistant(call('a')), assistant(call('b')), user(result('a'), result('b'))];
    expect(messagesOf(messages)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a' },
      { role: 'tool', tool_call_id: 'b' },
    ]);
  });

  test('images in a result follow in what the user says next', () => {
    const messages = [
      assistant(call('a'), call('b')),
      user(result('a', text('see'), media({})), result('b', text('2')), text('And?')),
    ];
    expect(messagesOf(messages)).toEqual([
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'a', content: 'see' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[From the result of the tool call a]' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  test('an error says so', () => {
    expect(
      messagesOf([assistant(call('a')), user({ ...result('a', text('no file')), isError: true })]),
    ).toMatchObject([{}, { role: 'tool', content: 'Error: no file' }]);
  });

  test('ids that are too long are shortened alike in call and result, and stay the same', () => {
    const id = `toolu_${'x'.repeat(60)}`;
    const other = `${id}y`;
    const messages = listOf(messagesOf([assistant(call(id), call(other)), user(result(id), result(other))]));
    const [first, ...results] = messages.map(recordOf);
    const ids = listOf(first?.['tool_calls']).map((call) => recordOf(call)['id']);
    expect(ids).toEqual(results.map((result) => result['tool_call_id']));
    expect(new Set(ids).size).toBe(2);
    for (const sent of ids) expect(sent).toMatch(/^[!-~]{1,40}$/);
  });

  test('ids are nine letters and digits where nothing else is taken', () => {
    const target = targetOf({ dialect: { ...defaultDialect, callIds: 'nine-alphanumerics' } });
    const ids = ['call_1', 'abcDEF123', 'toolu_1'];
    const messages = [assistant(...ids.map((id) => call(id))), user(...ids.map((id) => result(id)))];
    const [first, ...results] = listOf(messagesOf(messages, target)).map(recordOf);
    const sent = listOf(first?.['tool_calls']).map((call) => recordOf(call)['id']);
    expect(sent).toEqual(results.map((result) => result['tool_call_id']));
    expect(sent[1]).toBe('abcDEF123');
    expect(new Set(sent).size).toBe(3);
    for (const id of sent) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test.each([
    ['', '{}'],
    ['{"a":', '{"a":'],
  ])('arguments %j are sent as %j', (input, sent) => {
    expect(messagesOf([assistant(call('a', { input }))])).toMatchObject([
      { tool_calls: [{ function: { arguments: sent } }] },
      {},
    ]);
  });

  test('a refusal is text where only what servers share is known', () => {
    const messages = [assistant({ kind: 'refusal', text: 'No.' })];
    expect(messagesOf(messages)).toEqual([{ role: 'assistant', content: 'No.' }]);
    expect(messagesOf(messages, ownTarget)).toEqual([{ role: 'assistant', content: null, refusal: 'No.' }]);
  });

  test('media that the model made is shown to it by the user', () => {
    const { body, losses } = written(turnOf({ messages: [assistant(text('Here.'), media({}))] }));
    expect(body['messages']).toMatchObject([
      { role: 'assistant', content: 'Here.' },
      { role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] },
    ]);
    expect(losses).toEqual([]);
  });

  test('marks of caches are left out and told', () => {
    const messages = [user({ ...text('a'), cacheTtl: '5m' })];
    const { body, losses } = written(turnOf({ messages }));
    expect(body['messages']).toEqual([{ role: 'user', content: 'a' }]);
    expect(losses).toMatchObject([{ field: 'cache_control', action: 'dropped' }]);
  });
});

describe('media', () => {
  test.each([
    [
      media({ detail: 'high' }),
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'high' } },
    ],
    [
      media({ source: { kind: 'url', url: 'https://example.org/a' } }),
      { type: 'image_url', image_url: { url: 'https://example.org/a' } },
    ],
    [
      media({ media: 'audio', mediaType: 'audio/mpeg' }),
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
    ],
    [
      media({ media: 'file', mediaType: 'application/pdf' }),
      { type: 'file', file: { filename: 'file', file_data: 'data:application/pdf;base64,AA==' } },
    ],
    [
      media({ media: 'file', filename: 'a.txt', source: { kind: 'text', text: 'x' } }),
      { type: 'text', text: 'a.txt\n\nx' },
    ],
  ])('%j', (block, part) => {
    expect(messagesOf([user(block)])).toEqual([{ role: 'user', content: [part] }]);
  });

  test.each([
    [media({ source: { kind: 'id', id: 'file-1' } }), 'messages[].content[].image'],
    [media({ media: 'audio', mediaType: 'audio/ogg' }), 'messages[].content[].audio'],
    [
      media({ media: 'audio', source: { kind: 'url', url: 'https://example.org/a' } }),
      'messages[].content[].audio',
    ],
    [media({ media: 'file', source: { kind: 'id', id: 'file-1' } }), 'messages[].content[].document'],
  ])('%j is refused', (block, field) => {
    expect(refusedField(turnOf({ messages: [user(block)] }))).toBe(field);
  });
});

describe('thoughts', () => {
  const thought = (origin: string | null, data = 'reasoning_content'): Block => ({
    kind: 'reasoning',
    text: 'hm',
    sealed: origin === null ? null : { origin, data, form: 'signature' },
  });
  const assistantOf = (...content: Block[]) => {
    const { body, losses } = written(turnOf({ messages: [assistant(...content)] }));
    return { message: recordOf(listOf(body['messages'])[0]), losses };
  };

  test.each(['reasoning_content', 'reasoning'])('go back as %s where tools are at work', (member) => {
    expect(assistantOf(thought('here', member), call('a')).message).toHaveProperty(member, 'hm');
    expect(assistantOf(thought('here', member), text('x')).message).not.toHaveProperty(member);
  });

  test('are expected of all that was said by some, and made up where there are none', () => {
    const target = targetOf({ dialect: { ...defaultDialect, reasoningExpected: true } });
    const messages = [assistant(thought('here'), text('a')), assistant(thought('elsewhere'), text('b'))];
    const thoughtsAt = (to: typeof target, settings: Partial<TurnSettings> = {}) =>
      listOf(written(turnOf({ messages, settings }), to).body['messages']).map(
        (message) => recordOf(message)['reasoning_content'],
      );
    expect(thoughtsAt(target)).toEqual(['hm', ' ']);
    expect(thoughtsAt({ ...target, reasoning: false })).toEqual([undefined, undefined]);
    const reasoning = { effort: 'none', budgetTokens: null, shown: null } as const;
    expect(thoughtsAt(target, { reasoning })).toEqual([undefined, undefined]);
  });

  test('go back with all that came with them', () => {
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 's', index: 0 }];
    const { message } = assistantOf(thought('here', JSON.stringify(details)), text('x'));
    expect(message).toEqual({ role: 'assistant', content: 'x', reasoning_details: details });
  });

  test.each([
    ['elsewhere', []],
    ['native', [{ field: 'messages[].content[].thinking', action: 'dropped', note: 'of another model' }]],
    [null, []],
  ])('of %s are left out', (origin, losses) => {
    expect(assistantOf(thought(origin), text('x'))).toEqual({
      message: { role: 'assistant', content: 'x' },
      losses,
    });
  });

  test('a turn of nothing but such thoughts is left out', () => {
    expect(messagesOf([user(text('a')), assistant(thought('elsewhere')), user(text('b'))])).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
  });

  test.each([
    ['here', '{"google":{"thought_signature":"s"}}', { google: { thought_signature: 's' } }],
    ['elsewhere', '{"google":{"thought_signature":"s"}}', undefined],
    ['here', 'broken', undefined],
  ])('state with a call, of %s: %s', (origin, data, extra_content) => {
    const sealed = { origin, data, form: 'signature' } as const;
    const { message } = assistantOf(call('a', { sealed }));
    expect(message).toMatchObject({ tool_calls: [extra_content === undefined ? {} : { extra_content }] });
    expect(JSON.stringify(message).includes('extra_content')).toBe(extra_content !== undefined);
  });
});

test('usage is asked for where it may be', () => {
  const dialect = { ...defaultDialect, usageInStream: false };
  const turn = turnOf({ stream: true });
  expect(written(turn).body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  expect(written(turn, targetOf({ dialect })).body).not.toHaveProperty('stream_options');
});

test('what only the caller’s protocol has is lost or refused', () => {
  const lost = turnOf({ extensions: [{ field: 'container', elsewhere: 'drop' }] });
  expect(written(lost).losses).toEqual([{ field: 'container', action: 'dropped', note: null }]);
  expect(refusedField(turnOf({ extensions: [{ field: 'x', elsewhere: 'refuse' }] }))).toBe('x');
});

test('names of speakers are left out where not every server knows them', () => {
  const messages = [{ ...user(text('a')), name: 'ann' }];
  expect(written(turnOf({ messages }))).toMatchObject({
    body: { messages: [{ role: 'user', content: 'a' }] },
    losses: [{ field: 'messages[].name' }],
  });
  expect(written(turnOf({ messages }), ownTarget).body['messages']).toMatchObject([{ name: 'ann' }]);
});

test('a conversation of very many messages is written in reasonable time', () => {
  const messages = Array.from({ length: 30_000 }, (_, index) => ({
    role: 'assistant',
    tool_calls: [{ id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
  }));
  const { body } = written({ ...readBody({ messages }), surface: messagesSurface });
  expect(body['messages']).toHaveLength(30_001);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { Finish, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { listOf, recordOf, type WireRecord } from '../wire-values.ts';
import { upToLastText } from './answer.ts';
import { dataOf, framesOf, parseAs, readEvents, reader, turnOf, writer } from './codec.fixture.ts';
import { messagesCodec } from './index.ts';
import { close, delta, event, finish, open, start, stop } from './stream-frames.fixture.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const readWhole = (message: object) =>
  messagesCodec.readAnswer(encoder.encode(JSON.stringify(message)), reader);
const readStream = (...frames: readonly string[]) => collectAnswer(readEvents(frames));
const writeWhole = (answer: TurnAnswer) =>
  parseAs<WireRecord>(decoder.decode(messagesCodec.writeAnswer(answer, writer)));

function writeStream(events: Iterable<TurnEvent>): readonly string[] {
  const frames = messagesCodec.openWriter(writer);
  let text = '';
  for (const each of events) text += frames.write(each);
  return framesOf(text + frames.end());
}

const usage = { ...noUsage, inputFresh: 7, inputCacheRead: 20, inputCacheWrite5m: 10, inputCacheWrite1h: 20 };

/** The same answer in both forms. */
const blocks = [
  { type: 'thinking', thinking: 'hm, so', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'b3BhcXVl' },
  {
    type: 'text',
    text: 'It is noon.',
    citations: [
      { type: 'web_search_result_location', url: 'u', title: 't', cited_text: 'q', encrypted_index: 'e' },
    ],
  },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
  { type: 'tool_use', id: 'toolu_1', name: 'clock', input: { zone: 'UTC' } },
  { type: 'tool_use', id: 'toolu_2', name: 'clock', input: {} },
];
const streamed = [
  start,
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'hm, ' }),
  delta(0, { type: 'thinking_delta', thinking: 'so' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  close(0),
  event('ping'),
  open(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }),
  close(1),
  open(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'It is ' }),
  delta(2, { type: 'citations_delta', citation: blocks[2]?.citations?.[0] ?? {} }),
  delta(2, { type: 'text_delta', text: 'noon.' }),
  close(2),
  open(3, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '{"query":"q"}' }),
  close(3),
  open(4, { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }),
  delta(4, { type: 'input_json_delta', partial_json: '' }),
  delta(4, { type: 'input_json_delta', partial_json: '{"zone":' }),
  delta(4, { type: 'input_json_delta', partial_json: '"UTC"}' }),
  close(4),
  open(5, { type: 'tool_use', id: 'toolu_2', name: 'clock', input: {} }),
  delta(5, { type: 'input_json_delta', partial_json: '' }),
  close(5),
  finish('tool_use', { output_tokens: 9 }),
  stop,
];
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'served',
  content: blocks,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: 7,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 9,
  },
};

describe('an answer of an upstream', () => {
  test('is the same whole and streamed', () => {
    const answer = readWhole(message);
    expect(readStream(...streamed)).toEqual(answer);
    expect(answer).toMatchObject({
      answerId: 'msg_1',
      model: 'served',
      content: [
        { kind: 'reasoning', text: 'hm, so', sealed: { origin: 'here', data: 'c2ln', form: 'signature' } },
        { kind: 'reasoning', text: '', sealed: { origin: 'here', data: 'b3BhcXVl', form: 'redacted' } },
        { kind: 'text', text: 'It is noon.', citations: [{ url: 'u', title: 't', quote: 'q' }] },
        { kind: 'tool-call', id: 'toolu_1', name: 'clock', input: '{"zone":"UTC"}' },
        { kind: 'tool-call', id: 'toolu_2', name: 'clock', input: '{}' },
      ],
      finish: { reason: 'tool-calls', rawReason: 'tool_use', usage: { ...usage, output: 9 } },
    });
  });

  test('begins once, and ends a block that was left open', () => {
    const frames = [
      start,
      open(0, { type: 'text', text: 'a' }),
      start.replace('msg_1', 'msg_2'),
      finish('end_turn'),
    ];
    expect(readEvents(frames).map(({ kind }) => kind)).toEqual([
      'start',
      'block-start',
      'delta',
      'block-stop',
      'finish',
    ]);
  });

  test('says why it refuses', () => {
    const words = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'bio', explanation: 'No.' },
    };
    const refused = { ...message, content: [], ...words };
    expect(readWhole(refused)).toMatchObject({
      content: [{ kind: 'refusal', text: 'No.' }],
      finish: { reason: 'refusal' },
    });
    const frames = [start, event('message_delta', { delta: words, usage: message.usage }), stop];
    expect(readStream(...frames)).toEqual(readWhole(refused));
  });

  test("has the caller's names of tools, and the free text of those that take it", () => {
    const patch = { name: 'apply patch', namespace: 'fs', form: 'custom' as const };
    const context = { ...reader, names: new Map([['apply_patch', patch]]) };
    const call = { type: 'tool_use', id: 't', name: 'apply_patch' };
    const whole = { ...message, content: [{ ...call, input: { input: 'a\n"b"' } }] };
    const body = encoder.encode(JSON.stringify(whole));
    const content = [{ kind: 'tool-call', id: 't', ...patch, input: 'a\n"b"', sealed: null }];
    expect(messagesCodec.readAnswer(body, context).content).toEqual(content);
    const pieces = ['{"input":"a\\n', '\\"b\\""}'].map((partial_json) =>
      delta(0, { type: 'input_json_delta', partial_json }),
    );
    const frames = [start, open(0, { ...call, input: {} }), ...pieces, close(0), finish('tool_use'), stop];
    expect(collectAnswer(readEvents(frames, context)).content).toEqual(content);
  });

  const hostile = fc.oneof(
    fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`),
    fc.constantFrom(...streamed),
    fc
      .tuple(
        fc.constantFrom(...streamed),
        fc.nat(),
        fc.nat(),
        fc.constantFrom('null', '7', '"x"', '[]', '{}', ''),
      )
      .map(([frame, from, length, patch]) => {
        const at = from % frame.length;
        return frame.slice(0, at) + patch + frame.slice(at + (length % 20));
      }),
  );

  test('can be anything, and makes well-formed events all the same', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 20 }), (frames) => {
        const kinds = readEvents(frames).map(({ kind }) => (kind === 'block-stop' ? 'e' : kind.charAt(0)));
        // By first letters: a start, then blocks, each with its deltas and its end, and at most one finish.
        expect(kinds.join('')).toMatch(/^(s(bd*e)*f?)?$/);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (content, usage) => {
        expect(readWhole({ content: [content, ...blocks], usage, stop_details: content })).toBeDefined();
        expect(messagesCodec.readAnswer(encoder.encode(JSON.stringify(content)), reader)).toBeDefined();
      }),
    );
  });
});

const sealed = { origin: 'there', data: 'c2ln', form: 'signature' as const };
const call = {
  kind: 'tool-call' as const,
  id: 'c',
  name: 'clock',
  namespace: null,
  form: 'function' as const,
};
const ended: Finish = {
  reason: 'stop',
  rawReason: 'completed',
  stopSequence: null,
  usage: { ...usage, output: 9 },
};
const answerOf = (content: readonly Block[], rest: Partial<Finish> = {}): TurnAnswer => ({
  answerId: 'resp_1',
  model: 'served',
  content,
  finish: { ...ended, ...rest },
});

describe('an answer for a caller', () => {
  test('has every member that the published schema requires', () => {
    expect(writeWhole(answerOf([{ kind: 'text', text: 'a', citations: [], cacheTtl: null }]))).toEqual({
      id: `msg_${writer.traceId}`,
      type: 'message',
      role: 'assistant',
      model: 'served',
      content: [{ type: 'text', text: 'a', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: {
        input_tokens: 7,
        cache_creation_input_tokens: 30,
        cache_read_input_tokens: 20,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: null,
        service_tier: null,
        inference_geo: null,
      },
    });
  });

  test('is framed as its vendor frames it, with an estimate at the beginning and the count at the end', () => {
    const text: Block = { kind: 'text', text: 'a', citations: [], cacheTtl: null };
    const frames = writeStream(answerEvents(answerOf([text])));
    expect(frames.map((frame) => frame.slice('event: '.length, frame.indexOf('\n')))).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(dataOf(frames[0])['message']).toMatchObject({
      content: [],
      stop_reason: null,
      usage: { input_tokens: 42 },
    });
    expect(dataOf(frames[5])).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: { input_tokens: 7, output_tokens: 9 },
    });
  });

  test('that never came is whole all the same', () => {
    expect(writeStream([]).map((frame) => /event: (\w+)/.exec(frame)?.[1])).toEqual([
      'message_start',
      'ping',
      'message_delta',
      'message_stop',
    ]);
  });

  test.each<[Partial<Finish>, boolean, object]>([
    [{ reason: 'stop' }, false, { stop_reason: 'end_turn' }],
    [{ reason: 'stop', stopSequence: 'END' }, false, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    [{ reason: 'stop' }, true, { stop_reason: 'tool_use' }],
    [{ reason: 'length' }, true, { stop_reason: 'max_tokens' }],
    [
      { reason: 'length', rawReason: 'model_context_window_exceeded' },
      false,
      { stop_reason: 'model_context_window_exceeded' },
    ],
    [{ reason: 'stop', rawReason: 'pause_turn' }, false, { stop_reason: 'pause_turn' }],
    [
      { reason: 'refusal' },
      false,
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: null } },
    ],
    [{ reason: 'content-filter' }, false, { stop_reason: 'refusal' }],
    [{ reason: 'unknown' }, false, { stop_reason: 'end_turn' }],
  ])('that ends with %j, a call: %s', (rest, hasCall, members) => {
    const content = hasCall ? [{ ...call, input: '{}', sealed: null }] : [];
    expect(writeWhole(answerOf(content, rest))).toMatchObject(members);
    const last = writeStream(answerEvents(answerOf(content, rest))).at(-2) ?? '';
    expect(dataOf(last)['delta']).toMatchObject(members);
  });

  test.each<[Block, readonly object[]]>([
    [
      { kind: 'reasoning', text: 'hm', sealed },
      [{ type: 'thinking', thinking: 'hm', signature: 'gw1.there.c2ln' }],
    ],
    [
      { kind: 'reasoning', text: 'hm', sealed: null },
      [{ type: 'thinking', thinking: 'hm', signature: 'gw1.none.' }],
    ],
    [
      { kind: 'reasoning', text: '', sealed: { ...sealed, form: 'redacted' } },
      [{ type: 'redacted_thinking', data: 'gw1.there.c2ln' }],
    ],
    [
      { ...call, input: '{"a":1}', sealed },
      [
        { type: 'tool_use', id: 'c', name: 'clock', input: { a: 1 }, caller: { type: 'direct' } },
        { type: 'thinking', thinking: '', signature: 'gw1.there.c2ln' },
      ],
    ],
    [
      { ...call, input: 'cut off {', sealed: null },
      [{ type: 'tool_use', id: 'c', name: 'clock', input: {}, caller: { type: 'direct' } }],
    ],
    [{ kind: 'refusal', text: 'No.' }, [{ type: 'text', text: 'No.', citations: null }]],
    [{ kind: 'text', text: '', citations: [], cacheTtl: null }, []],
  ])('%j', (block, content) => {
    expect(writeWhole(answerOf([block]))['content']).toEqual(content);
  });

  test('signs every thought before it closes it', () => {
    const frames = writeStream(answerEvents(answerOf([{ kind: 'reasoning', text: 'hm', sealed: null }])));
    expect(frames.slice(2, 6).join('')).toBe(
      open(0, { type: 'thinking', thinking: '', signature: '' }) +
        delta(0, { type: 'thinking_delta', thinking: 'hm' }) +
        delta(0, { type: 'signature_delta', signature: 'gw1.none.' }) +
        close(0),
    );
  });

  test('comes back with its state where it was', () => {
    const content: readonly Block[] = [
      { kind: 'reasoning', text: 'hm', sealed },
      { ...call, input: '{"a":1}', sealed: { ...sealed, data: 'call' } },
      { ...call, id: 'd', input: '{}', sealed: null },
      { kind: 'reasoning', text: '', sealed: { ...sealed, form: 'redacted' } },
    ];
    const replayed = turnOf({
      messages: [{ role: 'assistant', content: writeWhole(answerOf(content))['content'] }],
    });
    expect(replayed.messages[0]?.content).toEqual(content);
  });

  const text = fc.string({ minLength: 1 });
  const link = fc.record({
    url: text,
    title: text,
    quote: text,
    start: fc.constant(null),
    end: fc.constant(null),
  });
  const anyBlock = fc.oneof(
    fc.record({
      kind: fc.constant('text' as const),
      text,
      citations: fc.array(link, { maxLength: 2 }),
      cacheTtl: fc.constant(null),
    }),
    fc.record({
      kind: fc.constant('tool-call' as const),
      id: fc.stringMatching(/^[\w-]{1,40}$/),
      name: text,
      namespace: fc.constant(null),
      form: fc.constant('function' as const),
      input: fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
      sealed: fc.constant(null),
    }),
    fc.record({ kind: fc.constant('reasoning' as const), text: fc.string(), sealed: fc.constant(sealed) }),
    fc.record({
      kind: fc.constant('reasoning' as const),
      text: fc.constant(''),
      sealed: fc.constant({ ...sealed, form: 'redacted' as const }),
    }),
  );

  /** As it is read again: the mark is part of what is sealed. */
  function marked(block: Block): Block {
    if (block.kind !== 'reasoning' || block.sealed === null) return block;
    return { ...block, sealed: { ...block.sealed, origin: 'here', data: 'gw1.there.c2ln' } };
  }

  test('has ids of calls that every server of the protocol takes when they come back', () => {
    const content = ['functions.clock:0', 'x'.repeat(200)].map(
      (id): Block => ({ ...call, input: '{}', sealed: null, id }),
    );
    const ids = listOf(writeWhole(answerOf(content))['content']).map((block) => recordOf(block)['id']);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
    const streamed = readStream(...writeStream(answerEvents(answerOf(content)))).content;
    expect(streamed.map((block) => block.kind === 'tool-call' && block.id)).toEqual(ids);
  });

  test('whole or streamed, reads as it was written', () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 6 }), (content) => {
        const answer = answerOf(content);
        const streamedBack = readStream(...writeStream(answerEvents(answer)));
        expect(streamedBack.content).toEqual(upToLastText(content).map(marked));
        expect(streamedBack.finish.usage).toEqual(answer.finish.usage);
        const whole = readWhole(writeWhole(answer));
        expect(whole).toEqual(streamedBack);
      }),
    );
  });
});

const said: Block = { kind: 'text', text: 'a', citations: [], cacheTtl: null };
const state: Block = { kind: 'reasoning', text: '', sealed };
const tool = { id: 'c', name: 'clock', namespace: null, form: 'function' as const };
const called: Block = { kind: 'tool-call', ...tool, input: '{}', sealed: null };

test.each<[string, readonly Block[], readonly Block['kind'][]]>([
  ['state behind the last text is left out', [state, said, state, state], ['reasoning', 'text']],
  [
    'between text and a call it stays',
    [said, state, state, called],
    ['text', 'reasoning', 'reasoning', 'tool-call'],
  ],
  ['without a text it stays', [state], ['reasoning']],
  ['with words it stays', [said, { ...state, text: 'hm' }], ['text', 'reasoning']],
])('%s', (_, content, kinds) => {
  const finish = { reason: 'stop', rawReason: null, stopSequence: null, usage: null } as const;
  const answer: TurnAnswer = { answerId: null, model: 'served', content, finish };
  const whole = messagesCodec.readAnswer(messagesCodec.writeAnswer(answer, writer), reader);
  const frames = messagesCodec.openWriter(writer);
  const text = [...answerEvents(answer)].map((event) => frames.write(event)).join('') + frames.end();
  expect(whole.content.map(({ kind }) => kind)).toEqual(kinds);
  expect(collectAnswer(readEvents(framesOf(text))).content).toEqual(whole.content);
});

import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { collectAnswer } from '../translate/answer.ts';
import type { TurnAnswer } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { bytesOf, deltaFrame, frameOf, readerContext, readFrames, text, traceId } from './codec.fixture.ts';
import { chatCompletionsCodec } from './index.ts';

const encoder = new TextEncoder();
const end = encoder.encode('data: [DONE]\n\n');

const contentOf = (...frames: Uint8Array[]) => collectAnswer(readFrames([...frames, end])).content;
const read = (answer: object, context = readerContext()) =>
  chatCompletionsCodec.readAnswer(bytesOf(answer), context);
const readMessage = (message: object, rest: object = {}) =>
  read({ choices: [{ index: 0, message, finish_reason: 'stop', ...rest }] });

const called = (index: number, id: string, name: string, args: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
});
const more = (index: number, args: string) => ({ tool_calls: [{ index, function: { arguments: args } }] });
const call = (id: string, name: string, input: string) => ({
  kind: 'tool-call',
  id,
  name,
  namespace: null,
  form: 'function',
  input,
  sealed: null,
});
const thought = (words: string, data = 'reasoning_content') => ({
  kind: 'reasoning',
  text: words,
  sealed: { origin: 'here', data, form: 'signature' },
});

describe('an answer, whole and in pieces', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 7,
    total_tokens: 17,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const expected: TurnAnswer = {
    answerId: 'a',
    model: 'm',
    content: [
      {
        kind: 'reasoning',
        text: 'hmm',
        sealed: { origin: 'here', data: 'reasoning_content', form: 'signature' },
      },
      {
        ...text('See A.'),
        citations: [{ url: 'https://example.org', title: 'A', quote: null, start: 0, end: 5 }],
      },
      {
        kind: 'tool-call',
        id: 'c1',
        name: 'look',
        namespace: null,
        form: 'function',
        input: '{"a":1}',
        sealed: null,
      },
      {
        kind: 'tool-call',
        id: 'c2',
        name: 'look',
        namespace: null,
        form: 'function',
        input: '{}',
        sealed: null,
      },
    ],
    finish: {
      reason: 'tool-calls',
      rawReason: 'tool_calls',
      stopSequence: null,
      usage: { ...noUsage, inputFresh: 6, inputCacheRead: 4, output: 7, outputReasoning: 2 },
    },
  };
  const annotations = [
    {
      type: 'url_citation',
      url_citation: { url: 'https://example.org', title: 'A', start_index: 0, end_index: 5 },
    },
  ];

  test('whole', () => {
    const message = {
      role: 'assistant',
      content: 'See A.',
      refusal: null,
      reasoning_content: 'hmm',
      annotations,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
        { id: 'c2', type: 'function', function: { name: 'look', arguments: '{}' } },
      ],
    };
    const choices = [
      { index: 1, message: { content: 'other' }, finish_reason: 'stop' },
      { index: 0, message, finish_reason: 'tool_calls' },
    ];
    expect(read({ id: 'a', model: 'm', choices, usage })).toEqual(expected);
  });

  test('in pieces, with calls that take turns', () => {
    const frames = [
      frameOf({ id: '', model: '', choices: [], prompt_filter_results: [] }),
      deltaFrame({ role: 'assistant', content: '', refusal: null, tool_calls: null }),
      deltaFrame({ reasoning_content: 'hm' }),
      deltaFrame({ reasoning_content: 'm', content: 'See ' }),
      deltaFrame({ content: 'A.' }),
      deltaFrame({ annotations }),
      deltaFrame({ content: 'not this one' }, { index: 1 }),
      deltaFrame(called(0, 'c1', 'look', '')),
      deltaFrame(more(0, '{"a"')),
      deltaFrame(called(1, 'c2', 'look', '{')),
      deltaFrame(more(0, ':1}')),
      deltaFrame({ tool_calls: [{ index: 1, id: '', function: { name: '', arguments: '}' } }] }),
      deltaFrame({}, { finish_reason: 'tool_calls' }),
      frameOf({ id: 'a', model: 'm', choices: [], usage }),
      encoder.encode(': a comment\n\n'),
      end,
    ];
    const events = readFrames(frames);
    expect(collectAnswer(events)).toEqual(expected);
    expect(events.filter(({ kind }) => kind === 'start')).toHaveLength(1);
    expect(events[0]).toEqual({ kind: 'start', answerId: 'a', model: 'm', usage: null });
  });
});

test('frames may have any line ends, and their data several lines', () => {
  const frames = [
    'data:{"choices":[{"delta":\r\ndata:{"content":"a"}}]}\r\n\r\n',
    'event: x\ndata: {"choices":[{"delta":{"content":"b"}}]}\n\n',
  ];
  expect(contentOf(...frames.map((frame) => encoder.encode(frame)))).toEqual([text('ab')]);
});

describe('calls', () => {
  const context = readerContext({
    names: new Map([
      ['run', { name: 'run', namespace: null, form: 'custom' }],
      ['mcp__look', { name: 'look', namespace: 'mcp', form: 'function' }],
    ]),
  });

  test('without index or type', () => {
    const frames = [
      { id: 'a', function: { name: 'f', arguments: '{' } },
      { function: { arguments: '}' } },
      { id: 'b', function: { name: 'f', arguments: { x: 1 } } },
    ].map((call) => deltaFrame({ tool_calls: [call] }));
    expect(contentOf(...frames)).toEqual([call('a', 'f', '{}'), call('b', 'f', '{"x":1}')]);
  });

  test('without ids get some that are always the same', () => {
    const frames = [{ function: { name: 'f' } }, { function: { name: 'g' } }].map((call) =>
      deltaFrame({ tool_calls: [call] }),
    );
    const id = (n: number) => `call_${traceId.slice(-24)}_${n}`;
    expect(contentOf(...frames)).toEqual([call(id(0), 'f', ''), call(id(1), 'g', '')]);
  });

  test('whose name comes late', () => {
    const late = deltaFrame({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{' } }] });
    expect(contentOf(late, deltaFrame(called(0, 'a', 'f', '}')))).toEqual([call('a', 'f', '{}')]);
  });

  test('of a function of old', () => {
    const frames = [{ name: 'f', arguments: '' }, { arguments: '{}' }].map((function_call) =>
      deltaFrame({ function_call }),
    );
    expect(contentOf(...frames)).toMatchObject([{ kind: 'tool-call', name: 'f', input: '{}' }]);
  });

  test('of tools under other names', () => {
    const events = readFrames([deltaFrame(called(0, 'a', 'mcp__look', '{}')), end], context);
    expect(collectAnswer(events).content).toMatchObject([
      { name: 'look', namespace: 'mcp', form: 'function' },
    ]);
  });

  test('of free text that was asked for as a function', () => {
    const frames = [called(0, 'a', 'run', ''), more(0, '{"input":"l'), more(0, 's\\n"}')].map((delta) =>
      deltaFrame(delta),
    );
    const events = readFrames([...frames, end], context);
    expect(collectAnswer(events).content).toMatchObject([{ name: 'run', form: 'custom', input: 'ls\n' }]);
  });

  test('of free text', () => {
    const custom = (part: object) => deltaFrame({ tool_calls: [{ index: 0, ...part }] });
    const frames = [
      custom({ id: 'a', type: 'custom', custom: { name: 'run', input: '' } }),
      custom({ custom: { input: 'ls' } }),
    ];
    expect(collectAnswer(readFrames([...frames, end], context)).content).toMatchObject([
      { form: 'custom', input: 'ls' },
    ]);
  });

  test('with state', () => {
    const extra_content = { google: { thought_signature: 's' } };
    const frame = deltaFrame({
      tool_calls: [{ index: 0, id: 'a', extra_content, function: { name: 'f', arguments: '{}' } }],
    });
    expect(contentOf(frame)).toMatchObject([
      { sealed: { origin: 'here', data: JSON.stringify(extra_content), form: 'signature' } },
    ]);
  });
});

describe('thoughts', () => {
  test('under the other name', () => {
    expect(contentOf(deltaFrame({ reasoning: 'hm' }))).toEqual([thought('hm', 'reasoning')]);
  });

  test('within the content', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
    ];
    expect(contentOf(deltaFrame({ content }))).toEqual([thought('hm', 'thinking'), text('a')]);
    expect(readMessage({ content }).content).toEqual([thought('hm', 'thinking'), text('a')]);
  });

  test('that come with details keep all of them', () => {
    const piece = (reasoning: string, rest: object) =>
      deltaFrame({
        reasoning,
        reasoning_details: [{ type: 'reasoning.text', index: 0, text: reasoning, ...rest }],
      });
    const [block] = contentOf(
      piece('h', { signature: null }),
      piece('m', { signature: 's' }),
      deltaFrame({ content: 'a' }),
    );
    const whole = [{ type: 'reasoning.text', index: 0, text: 'hm', signature: 's' }];
    expect(block).toEqual(thought('hm', JSON.stringify(whole)));
    expect(readMessage({ reasoning: 'hm', reasoning_details: whole }).content).toEqual([block]);
  });

  test('whose text is in the details alone, or is said twice', () => {
    const details = [{ type: 'reasoning.summary', summary: 'hm' }];
    expect(contentOf(deltaFrame({ reasoning_details: details }))).toMatchObject([{ text: 'hm' }]);
    const twice = [deltaFrame({ reasoning_content: 'hm' }), deltaFrame({ reasoning_details: details })];
    expect(contentOf(...twice)).toMatchObject([{ text: 'hm' }]);
  });

  test('that are not shown', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'x' }];
    expect(contentOf(deltaFrame({ reasoning_details: details }), deltaFrame({ content: 'a' }))).toEqual([
      {
        kind: 'reasoning',
        text: '',
        sealed: { origin: 'here', data: JSON.stringify(details), form: 'redacted' },
      },
      text('a'),
    ]);
  });
});

test('images and words spoken aloud', () => {
  const images = [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    { image_url: { url: 'data:' } },
  ];
  expect(
    contentOf(deltaFrame({ images }), deltaFrame({ audio: { id: 'x', transcript: 'Hi', data: 'AA==' } })),
  ).toMatchObject([
    { kind: 'media', media: 'image', mediaType: 'image/png', source: { kind: 'base64', data: 'AA==' } },
    { kind: 'text', text: 'Hi' },
  ]);
});

test.each([
  [{ content: 'a' }, 'stop', 'stop'],
  [{ content: 'a' }, null, 'stop'],
  [{ content: 'a' }, 'tool_calls', 'stop'],
  [{ content: 'a' }, 'length', 'length'],
  [{ content: '' }, 'content_filter', 'content-filter'],
  [{ content: 'a' }, 'end_turn', 'stop'],
  [{ content: 'a' }, 'new_word', 'unknown'],
  [{ refusal: 'No.' }, 'stop', 'refusal'],
  [called(0, 'a', 'f', '{}'), 'stop', 'tool-calls'],
  [called(0, 'a', 'f', '{}'), '', 'tool-calls'],
  [called(0, 'a', 'f', '{}'), 'length', 'length'],
])('%j with %j ended for %s', (message, finish_reason, reason) => {
  const { finish } = readMessage(message, { finish_reason });
  expect(finish).toMatchObject({ reason, rawReason: finish_reason || null });
  const events = readFrames([deltaFrame(message), deltaFrame({}, { finish_reason }), end]);
  expect(collectAnswer(events).finish).toEqual(finish);
});

describe('usage', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 9 };
  const known = { ...noUsage, inputFresh: 3, output: 2 };

  test.each([
    ['beside the choices', { choices: [{ delta: {} }], usage }],
    ['within the choice', { choices: [{ delta: {}, usage }] }],
    ['in a member of its own', { choices: [{ delta: {} }], x_groq: { usage } }],
  ])('%s', (_, chunk) => {
    const older = frameOf({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
    const events = readFrames([older, frameOf(chunk), frameOf({ choices: [], usage: null }), end]);
    expect(collectAnswer(events).finish.usage).toEqual(known);
  });

  test('with reasoning outside of it, where the dialect says so', () => {
    const context = readerContext({ dialect: { ...defaultDialect, reasoningOutsideCompletion: true } });
    expect(read({ choices: [], usage }, context).finish.usage).toMatchObject({
      output: 6,
      outputReasoning: 4,
    });
    expect(read({ choices: [], usage }).finish.usage).toEqual(known);
  });
});

test('a stream without anything in it is an answer all the same', () => {
  expect(readFrames([end])).toEqual([
    { kind: 'start', answerId: null, model: null, usage: null },
    { kind: 'finish', reason: 'stop', rawReason: null, stopSequence: null, usage: null },
  ]);
});

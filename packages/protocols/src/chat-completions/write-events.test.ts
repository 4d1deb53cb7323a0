import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { Finish, TurnAnswer } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import {
  bytesOf,
  call,
  chunksOf,
  frameOf,
  framesOf,
  media,
  parsed,
  readBody,
  readerContext,
  readFrames,
  text,
  traceId,
  turnOf,
  writeEvents,
  writerContext,
} from './codec.fixture.ts';
import { chatCompletionsCodec } from './index.ts';

const done: Finish = { reason: 'stop', rawReason: 'end_turn', stopSequence: null, usage: null };
const usage = {
  ...noUsage,
  inputFresh: 5,
  inputCacheRead: 3,
  inputCacheWrite5m: 2,
  inputAudio: 1,
  output: 7,
  outputReasoning: 4,
};

function answerOf(content: readonly Block[], finish: Partial<Finish> = {}): TurnAnswer {
  return { answerId: 'x', model: 'm', content, finish: { ...done, ...finish } };
}

const whole = (answer: TurnAnswer, context = writerContext()): WireRecord =>
  parsed(chatCompletionsCodec.writeAnswer(answer, context));
const messageOf = (answer: TurnAnswer, context = writerContext()) => {
  const [choice] = whole(answer, context)['choices'] as WireRecord[]; // A list has just been written.
  return recordOf(choice?.['message']);
};
const deltasOf = (answer: TurnAnswer, context = writerContext()) =>
  chunksOf(writeEvents(answerEvents(answer), context)).map((chunk) => {
    const [choice] = chunk['choices'] as WireRecord[]; // As above.
    return choice?.['finish_reason'] ?? choice?.['delta'];
  });

const role = { role: 'assistant', content: '', refusal: null };
const identity = { id: `chatcmpl-${traceId}`, created: 1_700_000_000, model: 'm' };

describe('an answer', () => {
  const answer = answerOf([text('Hi')], { usage });
  const wireUsage = {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2, audio_tokens: 1 },
    completion_tokens_details: {
      reasoning_tokens: 4,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };

  test('has every member the protocol requires, nulls included', () => {
    expect(whole(answer)).toEqual({
      ...identity,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: wireUsage,
    });
  });

  test('in pieces has no usage unless it was asked for', () => {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...identity,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
    const chunks = [chunk(role), chunk({ content: 'Hi' }), chunk({}, 'stop')];
    const stream = writeEvents(answerEvents(answer));
    expect(chunksOf(stream)).toEqual(chunks);
    expect(stream.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    const asked = writeEvents(answerEvents(answer), writerContext({ wantsUsageFrame: true }));
    expect(chunksOf(asked)).toEqual([
      ...chunks.map((chunk) => ({ ...chunk, usage: null })),
      { ...identity, object: 'chat.completion.chunk', choices: [], usage: wireUsage },
    ]);
  });

  test('of which nothing is known but the end is an answer', () => {
    const blank = { ...answerOf([]), model: null };
    expect(whole(blank)).toMatchObject({ model: 'public', choices: [{ message: { content: '' } }] });
    expect(deltasOf(blank)).toEqual([role, 'stop']);
  });
});

describe('calls', () => {
  const content = [
    call('a', { input: '{"x":1}', sealed: { origin: 'abc', data: 's', form: 'signature' } }),
    call('b', { name: 'run', form: 'custom', input: 'ls' }),
  ];
  const extra_content = { google: { thought_signature: 'gw1.abc.s' } };
  const first = { id: 'a', type: 'function' };
  const second = { id: 'b', type: 'custom' };

  test('whole', () => {
    expect(messageOf(answerOf(content))).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      tool_calls: [
        { ...first, function: { name: 'look', arguments: '{"x":1}' }, extra_content },
        { ...second, custom: { name: 'run', input: 'ls' } },
      ],
    });
  });

  test('in pieces', () => {
    expect(deltasOf(answerOf(content))).toEqual([
      { ...role, content: null },
      { tool_calls: [{ index: 0, ...first, function: { name: 'look', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '' }, extra_content }] },
      { tool_calls: [{ index: 1, ...second, custom: { name: 'run', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'ls' } }] },
      'tool_calls',
    ]);
  });

  test('for a caller of the time before tools', () => {
    const context = writerContext({ turn: readBody({ functions: [{ name: 'look' }] }) });
    const function_call = { name: 'look', arguments: '{"x":1}' };
    expect(messageOf(answerOf(content), context)).toMatchObject({ function_call });
    expect(messageOf(answerOf(content), context)).not.toHaveProperty('tool_calls');
    expect(deltasOf(answerOf(content), context)).toEqual([
      { ...role, content: null },
      { function_call: { name: 'look', arguments: '' } },
      { function_call: { arguments: '{"x":1}' } },
      'function_call',
    ]);
  });
});

test('thoughts are text, with what lets them come back', () => {
  const thought = (words: string, data: string, form: 'signature' | 'redacted'): Block => ({
    kind: 'reasoning',
    text: words,
    sealed: { origin: 'abc', data, form },
  });
  const answer = answerOf([thought('hm', 's', 'signature'), thought('', 'r', 'redacted'), text('Hi')]);
  const details = [
    { type: 'reasoning.text', text: 'hm', signature: 'gw1.abc.s', index: 0 },
    { type: 'reasoning.encrypted', data: 'gw1.abc.r', index: 1 },
  ];
  expect(messageOf(answer)).toMatchObject({
    reasoning_content: 'hm',
    reasoning_details: details,
    content: 'Hi',
  });
  expect(deltasOf(answer)).toEqual([
    role,
    { reasoning_content: 'hm' },
    ...details.map((detail) => ({ reasoning_details: [detail] })),
    { content: 'Hi' },
    'stop',
  ]);
  const back = readBody({ messages: [messageOf(answer)] });
  expect(back.messages[0]?.content).toEqual(answer.content);
});

test('positions of citations are those of the whole content', () => {
  const cited = (words: string, start: number | null, end: number | null) => ({
    ...text(words),
    citations: [{ url: 'https://example.org', title: null, quote: 'q', start, end }],
  });
  const nowhere = { url: null, title: 't', quote: null, start: null, end: null };
  const answer = answerOf([
    cited('One. ', 0, 4),
    cited('Two.', null, null),
    { ...text('!'), citations: [nowhere] },
  ]);
  const annotation = (start_index: number, end_index: number) => ({
    type: 'url_citation',
    url_citation: {
      url: 'https://example.org',
      title: 'https://example.org',
      content: 'q',
      start_index,
      end_index,
    },
  });
  expect(messageOf(answer)['annotations']).toEqual([annotation(0, 4), annotation(5, 9)]);
  expect(deltasOf(answer)).toEqual([
    role,
    { content: 'One. ' },
    { annotations: [annotation(0, 4)] },
    { content: 'Two.' },
    { annotations: [annotation(5, 9)] },
    { content: '!' },
    'stop',
  ]);
});

test('a refusal is the message’s own', () => {
  const answer = answerOf([{ kind: 'refusal', text: 'No.' }], { reason: 'refusal' });
  expect(whole(answer)).toMatchObject({
    choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }],
  });
  expect(deltasOf(answer)).toEqual([role, { refusal: 'No.' }, 'stop']);
});

test('media stand beside the content', () => {
  const answer = answerOf([
    media({}),
    media({ media: 'audio' }),
    media({ source: { kind: 'url', url: 'https://example.org/a' } }),
  ]);
  const image = (url: string, index: number) => ({ type: 'image_url', image_url: { url }, index });
  const images = [image('data:image/png;base64,AA==', 0), image('https://example.org/a', 2)];
  const audio = { id: `audio_${traceId}_1`, data: 'AA==', transcript: '', expires_at: 1_700_000_000 };
  expect(messageOf(answer)).toMatchObject({ images, audio });
  expect(deltasOf(answer)).toEqual([
    role,
    { images: [images[0]] },
    { audio },
    { images: [images[1]] },
    'stop',
  ]);
});

test.each([
  ['stop', [text('a')], 'stop'],
  ['tool-calls', [text('a')], 'stop'],
  ['stop', [call('a')], 'tool_calls'],
  ['unknown', [call('a')], 'tool_calls'],
  ['unknown', [], 'stop'],
  ['error', [text('a')], 'stop'],
  ['length', [call('a')], 'length'],
  ['content-filter', [], 'content_filter'],
  ['refusal', [], 'content_filter'],
] as const)('%s, of %j, is %s', (reason, content, word) => {
  const answer = answerOf(content, { reason });
  expect(whole(answer)).toMatchObject({ choices: [{ finish_reason: word }] });
  expect(deltasOf(answer).at(-1)).toBe(word);
});

const words = fc.string({ minLength: 1, maxLength: 8 });
const input = fc.string({ maxLength: 8 });
const form = fc.constantFrom('function' as const, 'custom' as const);
const calls = fc
  .array(fc.record({ form, name: fc.constantFrom('look', 'run'), input }), { maxLength: 3 })
  .map((list) => list.map((rest, index) => call(`c${index}`, rest)));
/** Content in the order in which the protocol can say it. */
const contents = fc
  .tuple(
    fc.option(words.map((text): Block => ({ kind: 'reasoning', text, sealed: null }))),
    fc.option(words.map((words): Block => text(words))),
    fc.option(words.map((text): Block => ({ kind: 'refusal', text }))),
    calls,
  )
  .map(([thought, said, refusal, calls]) =>
    [thought, said, refusal, ...calls].filter((block) => block !== null),
  );

/** As the reader sees it: thoughts of this upstream have its seal. */
function sealed(block: Block): Block {
  const seal = { origin: 'here', data: 'reasoning_content', form: 'signature' } as const;
  return block.kind === 'reasoning' ? { ...block, sealed: seal } : block;
}

test('what is written, whole or in pieces, reads as it was', () => {
  fc.assert(
    fc.property(contents, fc.constantFrom('stop' as const, 'length' as const), (content, reason) => {
      const answer = answerOf(content, { reason, usage });
      const read = chatCompletionsCodec.readAnswer(
        chatCompletionsCodec.writeAnswer(answer, writerContext()),
        readerContext(),
      );
      expect(read.content).toEqual(content.map(sealed));
      expect(read.finish.usage).toEqual(usage);
      const stream = writeEvents(answerEvents(answer), writerContext({ wantsUsageFrame: true }));
      expect(collectAnswer(readFrames(framesOf(stream)))).toEqual(read);
    }),
  );
});

/** A chunk that holds everything a chunk may hold, some of it replaced by values of any kind. */
const mutatedChunk = fc
  .tuple(fc.infiniteStream(fc.nat({ max: 9 })), fc.infiniteStream(fc.jsonValue()))
  .map(([chances, values]) => {
    const mutate = (value: unknown): unknown => {
      if (chances.next().value === 0) return values.next().value;
      if (Array.isArray(value)) return value.map(mutate);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mutate(member)]));
    };
    return mutate(fullChunk);
  });

const fullDelta = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: [{ type: 'text', text: 'a' }] },
    { type: 'text', text: 'b' },
  ],
  reasoning_content: 'c',
  reasoning: 'd',
  reasoning_details: [{ type: 'reasoning.text', text: 'e', signature: 'f', index: 0 }],
  refusal: 'g',
  annotations: [
    { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } },
  ],
  audio: { transcript: 'h' },
  images: [{ image_url: { url: 'data:image/png;base64,AA==' } }],
  tool_calls: [
    { index: 0, id: 'i', type: 'function', function: { name: 'j', arguments: 'k' } },
    {
      index: 1,
      id: 'l',
      type: 'custom',
      custom: { name: 'm', input: 'n' },
      extra_content: { o: { thought_signature: 'p' } },
    },
  ],
  function_call: { name: 'q', arguments: 'r' },
};
const fullChunk = {
  id: 's',
  model: 't',
  choices: [{ index: 0, delta: fullDelta, finish_reason: 'stop', usage: { prompt_tokens: 1 } }],
  usage: { prompt_tokens: 1, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } },
  x_groq: { usage: {} },
};

test('whatever an upstream sends is read, in order, and can be written', () => {
  fc.assert(
    fc.property(fc.array(mutatedChunk, { maxLength: 4 }), (chunks) => {
      const events = readFrames(chunks.map((chunk) => frameOf(recordOf(chunk))));
      let isOpen = false;
      for (const { kind } of events.slice(1, -1)) {
        expect(isOpen).toBe(kind !== 'block-start');
        isOpen = kind !== 'block-stop';
      }
      expect([events[0]?.kind, events.at(-1)?.kind, isOpen]).toEqual(['start', 'finish', false]);
      const answer = collectAnswer(events);
      expect(recordOf(whole(answer))['object']).toBe('chat.completion');
      expect(chunksOf(writeEvents(events)).length).toBeLessThanOrEqual(events.length + 2);
      for (const chunk of chunks)
        expect(chatCompletionsCodec.readAnswer(bytesOf(chunk), readerContext())).toHaveProperty('finish');
    }),
    { numRuns: 300 },
  );
});

test('the answer is for the caller’s model where the upstream names none', () => {
  const context = writerContext({ turn: turnOf({ model: 'mine' }) });
  expect(whole({ ...answerOf([]), model: null }, context)).toMatchObject({ model: 'mine' });
});

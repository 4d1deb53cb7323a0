import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { Finish, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { recordOf } from '../wire-values.ts';
import {
  frameOf,
  framesOf,
  readerContext,
  readFrames,
  text,
  traceId,
  writeEvents,
  writerContext,
} from './codec.fixture.ts';
import { responsesCodec } from './index.ts';

function readWhole(response: object, context = readerContext()): TurnAnswer {
  return responsesCodec.readAnswer(new TextEncoder().encode(JSON.stringify(response)), context);
}

const created = { type: 'response.created', response: { id: 'resp_1', model: 'm', output: [] } };
const wireUsage = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 17,
};

const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
};
const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'One.' },
    { type: 'summary_text', text: 'Two.' },
  ],
  encrypted_content: 'gFinal',
};
const functionCall = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}' };
const customCall = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'p', input: '*** x' };
const picture = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AA==' };
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { query: 'x' } };

const response = {
  id: 'resp_1',
  model: 'm',
  status: 'completed',
  output: [reasoning, search, message, functionCall, customCall, picture],
  usage: wireUsage,
};

const usage = { ...noUsage, inputFresh: 10, inputCacheRead: 2, output: 5, outputReasoning: 1 };
const sealed = { origin: 'here', data: 'gFinal', form: 'signature' } as const;
const call = { kind: 'tool-call', namespace: null, sealed: null } as const;

const answer: TurnAnswer = {
  answerId: 'resp_1',
  model: 'm',
  content: [
    { kind: 'reasoning', text: 'One.\n\nTwo.', sealed },
    text('Hello'),
    { ...call, id: 'c1', name: 'f', form: 'function', input: '{"a":1}' },
    { ...call, id: 'c2', name: 'p', form: 'custom', input: '*** x' },
    {
      kind: 'media',
      media: 'image',
      mediaType: 'image/png',
      source: { kind: 'base64', data: 'AA==' },
      filename: null,
      detail: null,
      cacheTtl: null,
    },
  ],
  finish: { reason: 'tool-calls', rawReason: 'completed', stopSequence: null, usage },
};

/** The events of the response above, as the vendor sends them. */
function events(): readonly object[] {
  const at = (output_index: number, rest: object) => ({ output_index, item_id: `i${output_index}`, ...rest });
  return [
    created,
    { ...created, type: 'response.in_progress' },
    at(0, {
      type: 'response.output_item.added',
      item: { ...reasoning, summary: [], encrypted_content: 'gOpen' },
    }),
    at(0, {
      type: 'response.reasoning_summary_part.added',
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    }),
    at(0, { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: 'One' }),
    at(0, { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: '.' }),
    at(0, { type: 'response.reasoning_summary_text.done', summary_index: 0, text: 'One.' }),
    at(0, { type: 'response.reasoning_summary_text.delta', summary_index: 1, delta: 'Two.' }),
    at(0, { type: 'response.output_item.done', item: reasoning }),
    at(1, { type: 'response.output_item.added', item: { ...search, status: 'in_progress' } }),
    at(1, { type: 'response.web_search_call.searching' }),
    at(1, { type: 'response.output_item.done', item: search }),
    at(2, { type: 'response.output_item.added', item: { ...message, content: [] } }),
    at(2, { type: 'response.content_part.added', content_index: 0, part: { type: 'output_text', text: '' } }),
    at(2, { type: 'response.output_text.delta', content_index: 0, delta: 'Hel' }),
    at(2, { type: 'response.output_text.delta', content_index: 0, delta: 'lo' }),
    at(2, { type: 'response.output_text.done', content_index: 0, text: 'Hello' }),
    at(2, { type: 'response.content_part.done', content_index: 0, part: message.content[0] }),
    at(2, { type: 'response.output_item.done', item: message }),
    at(3, { type: 'response.output_item.added', item: { ...functionCall, arguments: '' } }),
    at(3, { type: 'response.function_call_arguments.delta', delta: '{"a"' }),
    at(3, { type: 'response.function_call_arguments.delta', delta: ':1}' }),
    at(3, { type: 'response.function_call_arguments.done', arguments: '{"a":1}' }),
    at(3, { type: 'response.output_item.done', item: functionCall }),
    at(4, { type: 'response.output_item.added', item: { ...customCall, input: '' } }),
    at(4, { type: 'response.custom_tool_call_input.delta', delta: '*** x' }),
    at(4, { type: 'response.output_item.done', item: customCall }),
    at(5, { type: 'response.output_item.added', item: { ...picture, result: null } }),
    at(5, { type: 'response.image_generation_call.partial_image', partial_image_b64: 'BB==' }),
    at(5, { type: 'response.output_item.done', item: picture }),
    { type: 'response.completed', response },
  ];
}

test.each([
  ['event: response.completed\r\ndata: {"response":{"status":"incomplete"}}\r\n\r\n', 'incomplete'],
  ['data:{"type":"response.completed",\ndata: "response":{"status":"completed"}}\n\n', 'completed'],
  [
    'id: 1\nevent: metadata:\ndata: {"type":"response.completed","response":{"status":"completed"}}\n\n',
    'completed',
  ],
  [': ping\n\n', null],
  ['data: [DONE]\n\n', null],
  ['data: {"type"\n\n', null],
  ['data: 7\n\n', null],
])('the frame %j', (frame, status) => {
  const read = responsesCodec.openReader(readerContext()).read(new TextEncoder().encode(frame));
  expect(read.at(-1)).toEqual(status === null ? undefined : expect.objectContaining({ rawReason: status }));
});

describe('a response', () => {
  test('is read whole', () => {
    expect(readWhole(response)).toEqual(answer);
  });

  test('is read the same from its stream', () => {
    expect(collectAnswer(readFrames(events().map(frameOf)))).toEqual(answer);
  });

  test('is read the same whichever of its events a server leaves out, if the last of each item are there', () => {
    const optional = (event: object) =>
      !/(completed|output_item\.done)"/.test(JSON.stringify(event).slice(0, 80));
    const total = events().length;
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: total, maxLength: total }), (omit) => {
        const ofItems = new Set<unknown>();
        const kept = events().filter((event, index) => {
          if (!optional(event) || event === events()[0]) return true;
          // Whole items or none of their deltas: a delta that is lost on the way is not what a server leaves out.
          const item = recordOf(event)['output_index'];
          if (omit[typeof item === 'number' ? item : index]) return false;
          ofItems.add(item);
          return true;
        });
        expect(collectAnswer(readFrames(kept.map(frameOf))).content).toEqual(answer.content);
      }),
    );
  });

  test('is read from its last event when there is no other', () => {
    expect(collectAnswer(readFrames([frameOf({ type: 'response.completed', response })]))).toEqual(answer);
  });

  test('is put in order when calls that are made at once come mixed', () => {
    const ids = [0, 1, 2];
    const at = (output_index: number, rest: object) => frameOf({ output_index, ...rest });
    const item = (index: number) => ({ ...functionCall, call_id: `c${index}`, arguments: '' });
    const delta = (index: number, part: string) =>
      at(index, { type: 'response.function_call_arguments.delta', delta: part });
    const done = (index: number) =>
      at(index, { type: 'response.output_item.done', item: { ...item(index), arguments: `{"a":${index}}` } });
    const read = readFrames([
      ...ids.map((index) => at(index, { type: 'response.output_item.added', item: item(index) })),
      ...ids.toReversed().map((index) => delta(index, '{"a":')),
      ...ids.map((index) => delta(index, `${index}}`)),
      ...ids.toReversed().map(done),
      frameOf({ type: 'response.completed', response: { ...response, output: [] } }),
    ]);
    expectOrder(read);
    expect(collectAnswer(read).content).toMatchObject(
      ids.map((id) => ({ id: `c${id}`, input: `{"a":${id}}` })),
    );
  });

  test('of a cut stream ends with what there is', () => {
    const read = readFrames(events().slice(0, 16).map(frameOf));
    expectOrder(read);
    expect(collectAnswer(read)).toMatchObject({
      content: [{ kind: 'reasoning' }, { kind: 'text', text: 'Hello' }],
      finish: { usage: null },
    });
  });

  test('whose ids change on the way is one all the same', () => {
    const rotated = events().map((event, index) => ({ ...event, item_id: `id-${index}` }));
    expect(collectAnswer(readFrames(rotated.map(frameOf)))).toEqual(answer);
  });

  test('takes names back to the caller’s', () => {
    const names = new Map([['f', { name: 'my.f', namespace: 'n', form: 'function' as const }]]);
    const expected = { kind: 'tool-call', name: 'my.f', namespace: 'n' };
    const context = readerContext({ names });
    expect(readWhole({ ...response, output: [functionCall] }, context).content).toMatchObject([expected]);
    const read = collectAnswer(readFrames(events().slice(19, 24).map(frameOf), context));
    expect(read.content).toMatchObject([expected]);
  });

  test('has calls with ids, even from a server that gives none', () => {
    const { content } = readWhole({ output: [{ type: 'function_call', name: 'f', arguments: '{}' }] });
    expect(content).toMatchObject([{ id: `call_${traceId}_0` }]);
  });

  test.each([
    ['incomplete', { reason: 'max_output_tokens' }, [message], 'length', 'max_output_tokens'],
    ['incomplete', { reason: 'content_filter' }, [], 'content-filter', 'content_filter'],
    ['incomplete', { reason: 'steered' }, [message], 'unknown', 'steered'],
    ['completed', null, [message], 'stop', 'completed'],
    ['completed', null, [functionCall], 'tool-calls', 'completed'],
    [
      'completed',
      null,
      [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }],
      'refusal',
      'completed',
    ],
    ['cancelled', null, [message], 'error', 'cancelled'],
  ])('%s %j', (status, incomplete_details, output, reason, rawReason) => {
    const finished = { ...response, status, incomplete_details, output };
    expect(readWhole(finished).finish).toMatchObject({ reason, rawReason });
    const type = status === 'completed' ? 'response.completed' : 'response.incomplete';
    expect(collectAnswer(readFrames([frameOf({ type, response: finished })])).finish).toMatchObject({
      reason,
    });
  });

  test('has thoughts in full where a server shows them', () => {
    const full = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'All of it' }], summary: [] };
    const deltas = ['All', ' of', ' it'].map((delta) => ({
      type: 'response.reasoning_text.delta',
      output_index: 0,
      content_index: 0,
      delta,
    }));
    const late = {
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: 0,
      delta: 'sum',
    };
    const done = { type: 'response.output_item.done', output_index: 0, item: full };
    const expected = [{ kind: 'reasoning', text: 'All of it', sealed: null }];
    expect(readWhole({ output: [full] }).content).toEqual(expected);
    expect(collectAnswer(readFrames([...deltas, late, done].map(frameOf))).content).toEqual(expected);
  });

  test('tells citations once', () => {
    const annotation = {
      type: 'url_citation',
      url: 'https://example.org',
      title: 'T',
      start_index: 0,
      end_index: 2,
    };
    const part = { type: 'output_text', text: 'Hello', annotations: [annotation] };
    const at = { output_index: 0, content_index: 0 };
    const frames = [
      { type: 'response.output_text.delta', ...at, delta: 'Hello' },
      { type: 'response.output_text.annotation.added', ...at, annotation_index: 0, annotation },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', content: [part] } },
    ];
    const expected = [
      {
        ...text('Hello'),
        citations: [{ url: 'https://example.org', title: 'T', quote: null, start: 0, end: 2 }],
      },
    ];
    expect(collectAnswer(readFrames(frames.map(frameOf))).content).toEqual(expected);
    expect(collectAnswer(readFrames(frames.slice(2).map(frameOf))).content).toEqual(expected);
  });
});

/** One start, one finish, and no block within another. */
function expectOrder(read: readonly TurnEvent[]): void {
  const kinds = read.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'start' || kind === 'finish')).toEqual(['start', 'finish']);
  expect([kinds[0], kinds.at(-1)]).toEqual(['start', 'finish']);
  const inside = kinds.slice(1, -1).join(' ');
  expect(inside).toMatch(/^(block-start (delta )*block-stop ?)*$/);
}

describe('what is written is read again', () => {
  const words = fc.string({ minLength: 1, maxLength: 20, unit: 'binary' });
  const id = fc.stringMatching(/^[a-z]{1,8}$/);
  const anyCall = fc.record({
    kind: fc.constant('tool-call' as const),
    id,
    name: id,
    namespace: fc.option(id),
    form: fc.constantFrom('function' as const, 'custom' as const),
    input: words,
    sealed: fc.constant(null),
  });
  const anyBlock: fc.Arbitrary<Block> = fc.oneof(
    words.map((value) => text(value)),
    words.map((value) => ({ kind: 'refusal' as const, text: value })),
    words.map((value) => ({ kind: 'reasoning' as const, text: value, sealed: null })),
    anyCall,
  );

  test('whole and streamed, and both say the same', () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 6 }), (content) => {
        const finish: Finish = {
          reason: 'length',
          rawReason: 'max_output_tokens',
          stopSequence: null,
          usage,
        };
        const said: TurnAnswer = { answerId: `resp_${traceId}`, model: 'm', content, finish };
        const stream = readFrames(framesOf(writeEvents(answerEvents(said))));
        expectOrder(stream);
        expect(collectAnswer(stream)).toEqual(said);
        const body = responsesCodec.writeAnswer(said, writerContext());
        expect(responsesCodec.readAnswer(body, readerContext())).toEqual(said);
      }),
    );
  });
});

import { describe, expect, test } from 'vitest';
import { readSseEvent } from '../bytes/sse.ts';
import { answerEvents } from '../translate/answer.ts';
import type { Block } from '../turn.ts';
import type { Finish, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { noUsage } from '../usage.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import { framesOf, text, traceId, turnOf, writeEvents, writerContext } from './codec.fixture.ts';
import { responsesCodec } from './index.ts';
import { responsesSurface } from './wire.ts';

const usage = {
  ...noUsage,
  inputFresh: 10,
  inputCacheRead: 4,
  inputCacheWrite5m: 1,
  output: 7,
  outputReasoning: 2,
};
const stopped: Finish = { reason: 'stop', rawReason: 'end_turn', stopSequence: null, usage };

function answerOf(content: readonly Block[], finish: Partial<Finish> = {}): TurnAnswer {
  return { answerId: 'a', model: 'upstream', content, finish: { ...stopped, ...finish } };
}

const call = { kind: 'tool-call', namespace: null, form: 'function', sealed: null } as const;

const rich = answerOf(
  [
    { kind: 'reasoning', text: 'hm', sealed: { origin: 'there', data: 'sig', form: 'signature' } },
    {
      ...text('See here.'),
      citations: [
        { url: 'https://example.org', title: null, quote: 'q', start: null, end: null },
        { url: null, title: 'a file', quote: 'q', start: 0, end: 1 },
      ],
    },
    text('And there.'),
    {
      ...call,
      id: 'c1',
      name: 'f',
      input: '{"a":1}',
      sealed: { origin: 'there', data: 'thought', form: 'signature' },
    },
    { ...call, id: 'c2', name: 'patch', namespace: 'n', form: 'custom', input: '*** x' },
    { kind: 'refusal', text: 'No.' },
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
  { reason: 'tool-calls' },
);

function eventsOf(stream: string): readonly WireRecord[] {
  return framesOf(stream).map((frame) => recordOf(JSON.parse(readSseEvent(frame).data ?? '')));
}

function whole(answer: TurnAnswer, turn = turnOf({ surface: responsesSurface })): WireRecord {
  const body = responsesCodec.writeAnswer(answer, writerContext(turn));
  return recordOf(JSON.parse(new TextDecoder().decode(body)));
}

describe('a stream', () => {
  const stream = writeEvents(answerEvents(rich));
  const events = eventsOf(stream);
  const types = events.map((event) => String(event['type']).replace('response.', ''));

  test('has every event of every item, in order', () => {
    expect(types).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.annotation.added',
      'output_text.done',
      'content_part.done',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'completed',
    ]);
  });

  test('names its events in the frame and in the data, numbers them and keeps one id', () => {
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index));
    for (const [index, frame] of framesOf(stream).entries())
      expect(readSseEvent(frame).name).toBe(events[index]?.['type']);
    const ids = events.flatMap(({ response }) => recordOf(response)['id'] ?? []);
    expect(new Set(ids)).toEqual(new Set([`resp_${traceId}`]));
    expect(ids).toHaveLength(3);
  });

  test('counts its items without a gap, each with the id it opened with and the prefix of its kind', () => {
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(added.map((event) => event['output_index'])).toEqual(added.map((_, index) => index));
    const idOf = (event: WireRecord) => recordOf(event['item'])['id'];
    expect(done.map(idOf)).toEqual(added.map(idOf));
    expect(added.map((event) => String(idOf(event)).split('_')[0])).toEqual([
      'rs',
      'msg',
      'fc',
      'rs',
      'ctc',
      'msg',
      'ig',
    ]);
  });

  test('ends with all items as they were closed, and is what the whole answer is', () => {
    const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    const response = recordOf(events.at(-1)?.['response']);
    expect(response['output']).toEqual(items);
    expect(whole(rich)).toEqual(response);
  });

  test('does not say how it ended before it is asked to', () => {
    const writer = responsesCodec.openWriter(writerContext());
    const finish: TurnEvent = { kind: 'finish', ...stopped };
    for (const event of answerEvents(answerOf([text('x')]))) if (event.kind !== 'finish') writer.write(event);
    expect(writer.write(finish)).toBe('');
    expect(writer.end()).toContain('event: response.completed');
  });
});

describe('an answer', () => {
  test('is of items that carry what the blocks said', () => {
    expect(whole(rich)['output']).toEqual([
      {
        id: `rs_${traceId}_0`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'gw1.there.ssig',
      },
      {
        id: `msg_${traceId}_1`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'See here.',
            annotations: [
              { type: 'url_citation', url: 'https://example.org', title: '', start_index: 0, end_index: 9 },
            ],
            logprobs: [],
          },
          { type: 'output_text', text: 'And there.', annotations: [], logprobs: [] },
        ],
      },
      {
        id: `fc_${traceId}_2`,
        type: 'function_call',
        call_id: 'c1',
        name: 'f',
        status: 'completed',
        arguments: '{"a":1}',
      },
      { id: `rs_${traceId}_3`, type: 'reasoning', summary: [], encrypted_content: 'gw1.there.cthought' },
      {
        id: `ctc_${traceId}_4`,
        type: 'custom_tool_call',
        call_id: 'c2',
        name: 'patch',
        namespace: 'n',
        status: 'completed',
        input: '*** x',
      },
      {
        id: `msg_${traceId}_5`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'No.' }],
      },
      {
        id: `ig_${traceId}_6`,
        type: 'image_generation_call',
        status: 'completed',
        output_format: 'png',
        result: 'AA==',
      },
    ]);
  });

  test('tells usage with both details, and null where nobody counted', () => {
    expect(whole(rich)['usage']).toEqual({
      input_tokens: 15,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 22,
    });
    expect(whole(answerOf([text('x')], { usage: null }))['usage']).toBeNull();
  });

  test.each<[Finish['reason'], readonly Block[], object]>([
    ['stop', [text('x')], { status: 'completed', incomplete_details: null, error: null }],
    ['unknown', [text('x')], { status: 'completed' }],
    ['length', [text('x')], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['content-filter', [], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    ['refusal', [{ kind: 'refusal', text: 'No.' }], { status: 'completed' }],
    ['refusal', [text('I w')], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    ['refusal', [], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    ['error', [text('x')], { status: 'failed', error: { code: 'server_error' } }],
  ])('that ended by %s, %#', (reason, content, expected) => {
    const answer = answerOf(content, { reason });
    expect(whole(answer)).toMatchObject(expected);
    const last = eventsOf(writeEvents(answerEvents(answer))).at(-1);
    expect(last?.['type']).toBe(`response.${recordOf(last?.['response'])['status']}`);
  });

  test('that was cut off has a last item that was', () => {
    const output = whole(
      answerOf([text('x'), { ...call, id: 'c', name: 'f', input: '{"a' }], { reason: 'length' }),
    );
    expect(output['output']).toMatchObject([{ status: 'completed' }, { status: 'incomplete' }]);
  });

  test('gives a call without arguments an object that can be parsed', () => {
    const output = whole(answerOf([{ ...call, id: 'c', name: 'f', input: '' }]))['output'];
    expect(output).toMatchObject([{ arguments: '{}' }]);
  });

  test('repeats what the request set, and the caller’s own tools', () => {
    const parameters = { type: 'object', properties: {} };
    const schema = { type: 'object' };
    const tool = {
      kind: 'function',
      name: 'f.g',
      description: 'F',
      parameters,
      strict: true,
      cacheTtl: null,
    } as const;
    const turn = turnOf({
      surface: responsesSurface,
      tools: [
        { ...tool, namespace: null },
        { ...tool, namespace: 'n' },
      ],
      toolChoice: { kind: 'named', name: 'f.g' },
      settings: {
        temperature: 0.2,
        maxOutputTokens: 99,
        parallelToolCalls: false,
        reasoning: { effort: 'low', budgetTokens: null, shown: true },
        outputFormat: { kind: 'json-schema', name: 'n', description: null, schema, strict: null },
        user: 'u',
        metadata: { a: 'b' },
      },
    });
    const wireTool = { type: 'function', name: 'f.g', description: 'F', parameters, strict: true };
    expect(whole(answerOf([text('x')]), turn)).toMatchObject({
      model: 'upstream',
      temperature: 0.2,
      top_p: 1,
      max_output_tokens: 99,
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'n', schema, strict: false } },
      tools: [wireTool, { type: 'namespace', name: 'n', description: '', tools: [wireTool] }],
      tool_choice: { type: 'function', name: 'f.g' },
      safety_identifier: 'u',
      metadata: { a: 'b' },
      store: false,
      previous_response_id: null,
    });
  });

  test('has every member that must be there, with null where there is nothing to say', () => {
    const nothing = answerOf([text('x')], { usage: null });
    const response = whole({ ...nothing, model: null });
    expect(Object.keys(response).sort()).toEqual(
      [
        'background completed_at created_at error frequency_penalty id incomplete_details instructions max_output_tokens',
        'max_tool_calls metadata model object output parallel_tool_calls presence_penalty previous_response_id',
        'prompt_cache_key reasoning safety_identifier service_tier status store temperature text tool_choice tools',
        'top_logprobs top_p truncation usage',
      ]
        .join(' ')
        .split(' '),
    );
    expect(response).toMatchObject({ model: 'public', usage: null, prompt_cache_key: null, metadata: {} });
  });
});

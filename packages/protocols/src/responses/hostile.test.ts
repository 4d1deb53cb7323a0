import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestInput } from '../request/request-input.fixture.ts';
import { answerEvents, collectAnswer } from '../translate/answer.ts';
import { isRecord } from '../wire-values.ts';
import {
  frameOf,
  framesOf,
  readBody,
  readerContext,
  readFrames,
  targetOf,
  turnOf,
  writeEvents,
  writerContext,
} from './codec.fixture.ts';
import { responsesCodec } from './index.ts';

/** Every kind of thing a request may have. */
const request = {
  model: 'm',
  instructions: 'one',
  input: [
    { type: 'additional_tools', tools: [{ type: 'custom', name: 'p' }] },
    { role: 'developer', content: [{ type: 'input_text', text: 'x' }] },
    {
      role: 'user',
      content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' }],
    },
    { role: 'user', content: [{ type: 'input_file', file_data: 'AA==', filename: 'a' }] },
    {
      type: 'reasoning',
      id: 'rs',
      summary: [{ type: 'summary_text', text: 'x' }],
      encrypted_content: 'gw1.a.cx',
    },
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'x' }] },
        { type: 'refusal', refusal: 'x' },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'p', namespace: 'n', input: 'x' },
    { type: 'shell_call', call_id: 'c3', action: { commands: ['ls'] } },
    { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'x' }] },
    {
      type: 'computer_call_output',
      call_id: 'c4',
      output: { type: 'computer_screenshot', image_url: 'https://x' },
    },
    { type: 'tool_search_output', call_id: null, tools: [{ type: 'function', name: 'g' }] },
    { type: 'image_generation_call', result: 'AA==' },
    { type: 'compaction', encrypted_content: 'x' },
  ],
  tools: [
    { type: 'function', name: 'f', parameters: {} },
    { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'p', format: { type: 'grammar' } }] },
    { type: 'web_search' },
  ],
  tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'f' }] },
  text: { format: { type: 'json_schema', name: 'n', schema: {} } },
  reasoning: { effort: 'low' },
  metadata: { a: 'b' },
  include: ['x'],
};

const item = { type: 'message', content: [{ type: 'output_text', text: 'x', annotations: [{}] }] };
const events: readonly object[] = [
  { type: 'response.created', response: { id: 'r', model: 'm' } },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'function_call', name: 'f', call_id: 'c' },
  },
  { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'x' },
  { type: 'response.reasoning_summary_text.delta', output_index: 2, summary_index: 0, delta: 'x' },
  { type: 'response.refusal.delta', output_index: 3, content_index: 0, delta: 'x' },
  {
    type: 'response.output_text.annotation.added',
    output_index: 1,
    content_index: 0,
    annotation: { type: 'url_citation', url: 'x' },
  },
  {
    type: 'response.content_part.done',
    output_index: 1,
    content_index: 0,
    part: { type: 'output_text', text: 'x' },
  },
  { type: 'response.output_item.done', output_index: 1, item },
  {
    type: 'response.output_item.done',
    output_index: 4,
    item: { type: 'image_generation_call', result: 'AA==' },
  },
  {
    type: 'response.completed',
    response: { output: [item], status: 'completed', usage: { input_tokens: 1 }, incomplete_details: {} },
  },
];

const finish = { reason: 'stop', rawReason: null, stopSequence: null, usage: null } as const;
const empty = { answerId: null, model: null, content: [], finish };

/** The value with one or another part of it replaced by something else, or left out. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  const odd = fc.constantFrom<unknown>(
    null,
    undefined,
    0,
    -1,
    1e99,
    '',
    'x',
    '__proto__',
    true,
    [],
    [null],
    {},
    { type: 'x' },
  );
  const kept = fc.constant(value);
  if (Array.isArray(value)) {
    const elements = fc.tuple(...value.map(mutated)).chain((list) => fc.shuffledSubarray(list));
    return fc.oneof({ weight: 1, arbitrary: odd }, { weight: 100, arbitrary: elements });
  }
  if (!isRecord(value)) return fc.oneof({ weight: 1, arbitrary: odd }, { weight: 100, arbitrary: kept });
  const members = fc.record(
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mutated(member)])),
  );
  return fc.oneof({ weight: 1, arbitrary: odd }, { weight: 100, arbitrary: members });
}

test('whatever a caller sends is read, or refused; what is read can be written, or is refused', () => {
  const counts = { written: 0, refused: 0 };
  fc.assert(
    fc.property(mutated(request), (body) => {
      const read = responsesCodec.readTurn(requestInput(JSON.stringify(body) ?? 'undefined'));
      const result = read.ok ? responsesCodec.writeTurn(read.value, targetOf()) : read;
      if (!result.ok) expect(result.error.status).toBe(400);
      if (read.ok)
        expect(responsesCodec.writeAnswer(empty, writerContext(read.value)).length).toBeGreaterThan(0);
      counts[result.ok ? 'written' : 'refused']++;
    }),
    { numRuns: 400 },
  );
  // Else one half of it was not tried.
  expect(Math.min(counts.written, counts.refused)).toBeGreaterThan(20);
});

test('whatever an upstream sends is read, in order, and is no more than was sent', () => {
  fc.assert(
    fc.property(fc.tuple(...events.map(mutated)), (sent) => {
      const frames = sent.map((event) => frameOf(isRecord(event) ? event : { event }));
      const read = readFrames(frames);
      expect(read.at(-1)?.kind).toBe('finish');
      expect(read.filter(({ kind }) => kind === 'start' || kind === 'finish')).toHaveLength(2);
      const answer = collectAnswer(read);
      expect(JSON.stringify(answer.content).length).toBeLessThan(3_000);
      expect(framesOf(writeEvents(answerEvents(answer))).length).toBeLessThan(200);
    }),
    { numRuns: 400 },
  );
});

test('whatever stands in the place of a response is read', () => {
  const response = {
    id: 'r',
    model: 'm',
    status: 'completed',
    output: events.map((event) => ({ ...event, ...item })),
    usage: {},
  };
  fc.assert(
    fc.property(mutated(response), (body) => {
      const bytes = new TextEncoder().encode(JSON.stringify(body) ?? 'undefined');
      expect(responsesCodec.readAnswer(bytes, readerContext()).content.length).toBeLessThan(20);
    }),
  );
});

test.each(['', 'data: [DONE]\n\n', 'data: {\n\n', ': ping\n\n', 'event: response.completed\n\n', 'x'])(
  'a frame of %j',
  (frame) => {
    expect(() =>
      responsesCodec.openReader(readerContext()).read(new TextEncoder().encode(frame)),
    ).not.toThrow();
  },
);

test('a long conversation is read and written in linear time', () => {
  const turns = Array.from({ length: 5_000 }, (_, index) => [
    { type: 'function_call', call_id: `c${index}`, name: `f${index % 50}`, arguments: '{}' },
    { type: 'function_call_output', call_id: `c${index}`, output: 'x'.repeat(100) },
  ]).flat();
  const read = responsesCodec.readTurn(requestInput(JSON.stringify({ model: 'm', input: turns })));
  const written = responsesCodec.writeTurn(read.ok ? read.value : turnOf(), targetOf());
  expect(written.ok && written.value.request.body[0]?.length).toBeGreaterThan(1_000_000);
});

const hi = { role: 'user', content: 'hi' };

describe('what only this protocol has', () => {
  const fn = { type: 'function', name: 'f', parameters: null, strict: false };

  test.each<[object, readonly string[], readonly string[]]>([
    [{ previous_response_id: 'resp_1' }, [], ['previous_response_id']],
    [{ conversation: { id: 'c' } }, [], ['conversation']],
    [{ prompt: { id: 'p' } }, [], ['prompt']],
    [{ background: true }, [], ['background']],
    [
      { background: false, store: false, truncation: 'disabled', conversation: null, stream_options: {} },
      [],
      [],
    ],
    [{ include: ['reasoning.encrypted_content'] }, [], []],
    [{ include: ['file_search_call.results'] }, ['include'], []],
    [
      { store: true, truncation: 'auto', client_metadata: { a: 'b' } },
      ['store', 'truncation', 'client_metadata'],
      [],
    ],
    [{ 'set\r\ncookie': 1 }, ['other'], []],
    [{ reasoning: { effort: 'low', context: 'all_turns' } }, ['reasoning.context'], []],
    [{ service_tier: 'ultrafast' }, ['service_tier'], []],
    [{ tools: [fn, { type: 'web_search' }] }, ['tools[].web_search'], []],
    [{ tools: [{ type: 'web_search' }] }, [], ['tools[].web_search']],
    [{ tools: [{ type: 'web_search' }], tool_choice: 'none' }, ['tools[].web_search'], []],
    [{ tools: [fn, { type: 'web_search' }], tool_choice: 'required' }, [], ['tools[].web_search']],
    [
      { tools: [fn, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
      ['tools[].web_search'],
      ['tool_choice'],
    ],
    [{ tools: [{ ...fn, defer_loading: true }] }, ['tools[].defer_loading'], []],
    [{ input: [hi, { role: 'assistant', content: 'x', phase: 'commentary' }] }, ['input[].phase'], []],
    [{ input: [hi, { type: 'web_search_call', id: 'ws_1' }] }, ['input[].web_search_call'], []],
    [{ input: [hi, { type: 'item_reference', id: 'rs_1' }] }, ['input[].item_reference'], []],
    [{ input: [hi, { type: 'mcp_call', id: 'mcp_1' }] }, ['input[].mcp_call'], []],
    [{ input: [hi, { type: 'compaction', encrypted_content: 'x' }] }, [], ['input[].compaction']],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      [],
      ['input[].content[].file_id'],
    ],
  ])('%j', (members, lost, refused) => {
    const { extensions } = readBody({ model: 'm', input: 'x', ...members });
    const fields = (elsewhere: string) =>
      extensions.filter((extension) => extension.elsewhere === elsewhere).map(({ field }) => field);
    expect([fields('drop'), fields('refuse')]).toEqual([lost, refused]);
  });
});

test.each<[object, string]>([
  [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]'],
  [{ input: [{ role: 'critic', content: 'x' }] }, 'input[0].role'],
  [{ input: [{ role: 'user', content: 5 }] }, 'input[0].content'],
  [{ input: [hi, { role: 'user', content: [{ type: 'input_video' }] }] }, 'input[1].content[0].type'],
  [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
  [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0]'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,x' }] }] },
    'input[0].content[0].image_url',
  ],
  [{ input: [{ type: 7 }] }, 'input[0].type'],
  [{ input: [{ type: 'function_call', call_id: 'c' }] }, 'input[0].name'],
  [{ input: [{ type: 'function_call', name: 'f' }] }, 'input[0].call_id'],
  [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
  [{ tools: 'all' }, 'tools'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
  [{ tools: [{ name: 'f' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] }, 'tools[0].tools[0].type'],
  [{ tool_choice: 'maybe' }, 'tool_choice'],
  [{ tool_choice: { type: 'function' } }, 'tool_choice.name'],
  [{ temperature: 'hot' }, 'temperature'],
  [{ text: 'json' }, 'text'],
  [{ text: { format: { type: 'yaml' } } }, 'text.format.type'],
  [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  [{ reasoning: { effort: 'enormous' } }, 'reasoning.effort'],
  [{ instructions: ['x'] }, 'instructions'],
])('%j is refused and named', (members, param) => {
  const read = responsesCodec.readTurn(requestInput(JSON.stringify({ model: 'm', input: 'x', ...members })));
  expect(read).toMatchObject({ ok: false, error: { code: 'invalid_request', status: 400, param } });
});

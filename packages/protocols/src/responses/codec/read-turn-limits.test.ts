import { describe, expect, test } from 'vitest';
import { requestInput } from '../../request/request-input.fixture.ts';
import { readBody } from './codec.fixture.ts';
import { responsesCodec } from './index.ts';

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

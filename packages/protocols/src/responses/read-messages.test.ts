import { describe, expect, test } from 'vitest';
import { readBody } from './codec.fixture.ts';

const hi = { role: 'user', content: 'hi' };

function blocksOf(...items: readonly object[]) {
  return readBody({ model: 'm', input: items }).messages.map(({ role, content }) => [role, content]);
}

function text(words: string) {
  return { kind: 'text', text: words, citations: [], cacheTtl: null };
}

describe('what is said', () => {
  test('a text is what the user says', () => {
    expect(readBody({ model: 'm', input: 'hi' }).messages).toEqual([
      { role: 'user', content: [text('hi')], name: null },
    ]);
  });

  test('instructions and what stands first from the system are the system, what comes later stays where it is', () => {
    const turn = readBody({
      model: 'm',
      instructions: 'one',
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'two' }] },
        { type: 'message', role: 'system', content: 'three' },
        hi,
        { role: 'developer', content: 'four' },
      ],
    });
    expect(turn.system.map((block) => block.text)).toEqual(['one', 'two', 'three']);
    expect(turn.messages.map(({ role }) => role)).toEqual(['user', 'system']);
  });

  test('what the model did in one go is one message, and so are the results of its calls', () => {
    const call = { type: 'function_call', name: 'f', arguments: '{"a":1}' };
    const output = { type: 'function_call_output', output: 'done' };
    const messages = blocksOf(
      hi,
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'gA',
      },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Wait.', annotations: [] }],
      },
      { ...call, call_id: 'c1', id: 'fc_1' },
      { ...call, call_id: 'c2', namespace: 'n' },
      { ...output, call_id: 'c1' },
      { ...output, call_id: 'c2' },
      hi,
    );
    expect(messages.map(([role]) => role)).toEqual(['user', 'assistant', 'user', 'user']);
    expect(messages[1]?.[1]).toEqual([
      { kind: 'reasoning', text: 'hm', sealed: { origin: 'native', data: 'gA', form: 'signature' } },
      text('Wait.'),
      {
        kind: 'tool-call',
        id: 'c1',
        name: 'f',
        namespace: null,
        form: 'function',
        input: '{"a":1}',
        sealed: null,
      },
      {
        kind: 'tool-call',
        id: 'c2',
        name: 'f',
        namespace: 'n',
        form: 'function',
        input: '{"a":1}',
        sealed: null,
      },
    ]);
    expect(messages[2]?.[1]).toEqual(
      ['c1', 'c2'].map((callId) => ({
        kind: 'tool-result',
        callId,
        isError: false,
        content: [text('done')],
        cacheTtl: null,
      })),
    );
  });

  test.each([
    [
      { type: 'input_text', text: 'a', prompt_cache_breakpoint: {} },
      { ...text('a'), cacheTtl: '5m' },
    ],
    [
      { type: 'refusal', refusal: 'No.' },
      { kind: 'refusal', text: 'No.' },
    ],
    [
      {
        type: 'output_text',
        text: 'See.',
        annotations: [
          { type: 'url_citation', url: 'https://example.org', title: 'T', start_index: 0, end_index: 3 },
          { type: 'file_path', file_id: 'f', index: 0 },
        ],
      },
      {
        ...text('See.'),
        citations: [{ url: 'https://example.org', title: 'T', quote: null, start: 0, end: 3 }],
      },
    ],
    [
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      media('image', { mediaType: 'image/png', source: { kind: 'base64', data: 'AA==' }, detail: 'low' }),
    ],
    [
      { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'original' },
      media('image', { source: { kind: 'url', url: 'https://example.org/a.png' }, detail: 'high' }),
    ],
    [
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
      media('file', {
        mediaType: 'application/pdf',
        filename: 'a.pdf',
        source: { kind: 'base64', data: 'AA==' },
      }),
    ],
    [{ type: 'input_file', file_data: 'AA==' }, media('file', { source: { kind: 'base64', data: 'AA==' } })],
    [
      { type: 'input_file', file_url: 'https://example.org/a.pdf' },
      media('file', { source: { kind: 'url', url: 'https://example.org/a.pdf' } }),
    ],
    [{ type: 'input_file', file_id: 'file-1' }, media('file', { source: { kind: 'id', id: 'file-1' } })],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      media('audio', { mediaType: 'audio/mpeg', source: { kind: 'base64', data: 'AA==' } }),
    ],
  ])('%j is a part', (part, block) => {
    expect(blocksOf({ role: 'user', content: [part] })).toEqual([['user', [block]]]);
  });

  test('the output of a tool may be parts, a screenshot or any JSON', () => {
    const outputs = [
      {
        type: 'function_call_output',
        output: [{ type: 'input_image', image_url: 'https://example.org/a.png' }],
      },
      {
        type: 'computer_call_output',
        output: { type: 'computer_screenshot', image_url: 'https://example.org/b.png' },
      },
      { type: 'shell_call_output', output: [{ stdout: 'x', stderr: '' }] },
      { type: 'custom_tool_call_output', output: 'plain' },
    ];
    const [results] = blocksOf(...outputs.map((output) => ({ ...output, call_id: 'c' })));
    expect(results?.[1]).toMatchObject([
      { content: [{ kind: 'media', source: { url: 'https://example.org/a.png' } }] },
      { content: [{ kind: 'media', source: { url: 'https://example.org/b.png' } }] },
      { content: [{ kind: 'text', text: '[{"stdout":"x","stderr":""}]' }] },
      { content: [{ kind: 'text', text: 'plain' }] },
    ]);
  });

  test.each([
    [
      { type: 'custom_tool_call', call_id: 'c', name: 'p', input: '*** x' },
      { name: 'p', form: 'custom', input: '*** x' },
    ],
    [
      { type: 'local_shell_call', call_id: 'c', action: { type: 'exec' } },
      { name: 'local_shell', input: '{"type":"exec"}' },
    ],
    [
      { type: 'apply_patch_call', call_id: 'c', operation: { diff: 'x' } },
      { name: 'apply_patch', input: '{"diff":"x"}' },
    ],
    [
      { type: 'tool_search_call', call_id: 'c', arguments: { query: 'x' } },
      { name: 'tool_search', input: '{"query":"x"}' },
    ],
    [
      { type: 'function_call', id: 'fc_1', name: 'f' },
      { id: 'fc_1', name: 'f', input: '' },
    ],
  ])('%j is a call', (item, block) => {
    expect(blocksOf(item)).toMatchObject([['assistant', [{ kind: 'tool-call', ...block }]]]);
  });

  test('a picture the model made is its own', () => {
    const item = {
      type: 'image_generation_call',
      id: 'ig_1',
      status: 'completed',
      result: 'AA==',
      output_format: 'webp',
    };
    expect(blocksOf(item)).toEqual([
      ['assistant', [media('image', { mediaType: 'image/webp', source: { kind: 'base64', data: 'AA==' } })]],
    ]);
  });

  test('reasoning in full counts for more than its summary, and none at all for nothing', () => {
    const full = {
      content: [{ type: 'reasoning_text', text: 'all' }],
      summary: [{ type: 'summary_text', text: 'sum' }],
    };
    expect(blocksOf({ type: 'reasoning', ...full }, { type: 'reasoning', summary: [] })).toEqual([
      ['assistant', [{ kind: 'reasoning', text: 'all', sealed: null }]],
    ]);
  });
});

function media(kind: string, rest: object) {
  const nothing = { mediaType: null, filename: null, detail: null, cacheTtl: null };
  return { kind: 'media', media: kind, ...nothing, ...rest };
}

describe('tools', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };

  test('stand flat, in namespaces, and in the middle of the conversation', () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    const turn = readBody({
      model: 'm',
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [
            {
              type: 'namespace',
              name: 'n',
              description: 'All of them.',
              tools: [
                { type: 'custom', name: 'exec', description: 'Runs.', format: grammar },
                { type: 'function', name: 'wait', parameters, strict: false },
              ],
            },
          ],
        },
        hi,
      ],
      tools: [{ type: 'function', name: 'f', description: 'F', parameters, strict: true }],
    });
    expect(turn.tools).toEqual([
      {
        kind: 'function',
        name: 'f',
        namespace: null,
        description: 'F',
        parameters,
        strict: true,
        cacheTtl: null,
      },
      { kind: 'custom', name: 'exec', namespace: 'n', description: 'All of them.\n\nRuns.', format: grammar },
      {
        kind: 'function',
        name: 'wait',
        namespace: 'n',
        description: '',
        parameters,
        strict: false,
        cacheTtl: null,
      },
    ]);
  });

  test.each([
    [undefined, null],
    ['auto', { kind: 'auto' }],
    ['none', { kind: 'none' }],
    ['required', { kind: 'required' }],
    [
      { type: 'function', name: 'f' },
      { kind: 'named', name: 'f' },
    ],
    [
      { type: 'custom', name: 'p' },
      { kind: 'named', name: 'p' },
    ],
    [
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
      },
      { kind: 'allowed', mode: 'required', names: ['f'] },
    ],
  ])('tool_choice %j', (tool_choice, choice) => {
    expect(readBody({ model: 'm', input: 'x', tool_choice }).toolChoice).toEqual(choice);
  });
});

test('settings', () => {
  const schema = { type: 'object' };
  const { settings, spelling } = readBody({
    model: 'm',
    input: 'x',
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    top_logprobs: 3,
    parallel_tool_calls: false,
    reasoning: { effort: 'high', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
    user: 'u',
    service_tier: 'flex',
    prompt_cache_key: 'k',
    metadata: { a: 'b' },
  });
  expect(settings).toMatchObject({
    maxOutputTokens: 50,
    temperature: 0.5,
    topP: 0.9,
    logprobs: 3,
    parallelToolCalls: false,
    reasoning: { effort: 'high', budgetTokens: null, shown: true },
    outputFormat: { kind: 'json-schema', name: 'n', description: null, schema, strict: true },
    verbosity: 'low',
    user: 'u',
    serviceTier: 'flex',
    promptCacheKey: 'k',
    metadata: { a: 'b' },
  });
  expect(spelling).toMatchObject({ user: 'user', outputFormat: 'text.format' });
});

import { describe, expect, test } from 'vitest';
import { chatSurface } from '../chat-completions/wire.ts';
import type { Block, MediaBlock, Message, Tool, ToolCallBlock } from '../turn.ts';
import { listOf, recordOf } from '../wire-values.ts';
import { readBody, targetOf, text, turnOf, written } from './codec.fixture.ts';
import { responsesCodec } from './index.ts';

function said(role: Message['role'], ...content: readonly Block[]): Message {
  return { role, content, name: null };
}

function callOf(id: string, rest: Partial<ToolCallBlock> = {}): ToolCallBlock {
  const nothing = { namespace: null, form: 'function', sealed: null } as const;
  return { kind: 'tool-call', id, name: 'f', input: '{"a":1}', ...nothing, ...rest };
}

function resultOf(callId: string, ...content: readonly (ReturnType<typeof text> | MediaBlock)[]): Block {
  return { kind: 'tool-result', callId, isError: false, content, cacheTtl: null };
}

function media(rest: Partial<MediaBlock>): MediaBlock {
  const source = { kind: 'base64', data: 'AA==' } as const;
  const nothing = { mediaType: null, filename: null, detail: null, cacheTtl: null };
  return { kind: 'media', media: 'image', source, ...nothing, ...rest };
}

function inputOf(...messages: readonly Message[]) {
  return written(turnOf({ messages })).body['input'];
}

const fn: Tool = {
  kind: 'function',
  name: 'f',
  namespace: null,
  description: 'F',
  parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  strict: null,
  cacheTtl: null,
};

describe('the conversation', () => {
  test('is sent to be answered and forgotten', () => {
    expect(written(turnOf({ stream: true, system: [text('one'), text('two')] })).body).toEqual({
      model: 'upstream',
      instructions: 'one\n\ntwo',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    });
  });

  test('asks for no thoughts of a model that has none', () => {
    const { body } = written(turnOf(), targetOf({ reasoning: false }));
    expect(body).not.toHaveProperty('include');
  });

  test('keeps its order, and an instruction in the middle where it is', () => {
    expect(
      inputOf(
        said('user', text('hi')),
        said('assistant', text('Wait.'), callOf('c1'), callOf('c2')),
        said('user', resultOf('c1', text('one'), text('two')), resultOf('c2', text('x')), text('go on')),
        said('system', text('be brief')),
        said('assistant', { kind: 'refusal', text: 'No.' }),
      ),
    ).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Wait.', annotations: [] }],
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'one\ntwo' },
      { type: 'function_call_output', call_id: 'c2', output: 'x' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'be brief' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
  });

  test('has no ids, nor anything empty', () => {
    const messages = [said('user', text('')), said('assistant', text(''), callOf('c'), text(''))];
    const input = listOf(inputOf(...messages));
    expect(input.map((item) => Object.keys(recordOf(item)).includes('id'))).toEqual([false, false]);
  });

  test('gives each call an output and each output a call', () => {
    const input = inputOf(
      said('user', resultOf('lost', text('where from?'))),
      said('assistant', callOf('c1'), callOf('c2')),
      said('user', resultOf('c1', text('x')), resultOf('c1', text('again'))),
    );
    expect(input).toMatchObject([
      {
        role: 'user',
        content: [
          { text: '[Output of a tool call that is not part of this conversation]' },
          { text: 'where from?' },
        ],
      },
      { type: 'function_call', call_id: 'c1' },
      { type: 'function_call', call_id: 'c2' },
      { type: 'function_call_output', call_id: 'c2', output: 'No output was returned for this call.' },
      { type: 'function_call_output', call_id: 'c1', output: 'x' },
      { role: 'user', content: [{}, { text: 'again' }] },
    ]);
  });

  test('says of a failure that it is one, if it does not itself', () => {
    const failed = (words: string) => ({ ...resultOf('c', text(words)), isError: true });
    const outputs = ['not there', 'Error: not there'].map((words) =>
      inputOf(said('assistant', callOf('c')), said('user', failed(words))),
    );
    for (const input of outputs) expect(input).toMatchObject([{}, { output: 'Error: not there' }]);
    const seen = { ...resultOf('c', media({})), isError: true };
    expect(inputOf(said('assistant', callOf('c')), said('user', seen))).toMatchObject([
      {},
      { output: [{ type: 'input_text', text: 'Error:' }, { type: 'input_image' }] },
    ]);
  });

  test('shows pictures that a tool brought', () => {
    const input = inputOf(
      said('assistant', callOf('c')),
      said('user', resultOf('c', text('see'), media({}))),
    );
    expect(listOf(input)[1]).toEqual({
      type: 'function_call_output',
      call_id: 'c',
      output: [
        { type: 'input_text', text: 'see' },
        { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AA==' },
      ],
    });
  });

  test('has calls of free text as such, with their outputs, and arguments even where there are none', () => {
    const patch = callOf('c1', { name: 'p', form: 'custom', input: '*** x' });
    const input = inputOf(
      said('assistant', patch, callOf('c2', { input: '' })),
      said('user', resultOf('c1', text('x')), resultOf('c2', text('y'))),
    );
    expect(input).toEqual([
      { type: 'custom_tool_call', call_id: 'c1', name: 'p', input: '*** x' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'x' },
      { type: 'function_call_output', call_id: 'c2', output: 'y' },
    ]);
  });

  test('has ids of calls that are short enough, the same for the output', () => {
    const id = `toolu_${'x'.repeat(80)}`;
    const input = listOf(inputOf(said('assistant', callOf(id)), said('user', resultOf(id, text('x')))));
    const ids = input.map((item) => String(recordOf(item)['call_id']));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]?.length).toBeLessThanOrEqual(64);
  });
});

describe('thoughts', () => {
  const sealedBy = (origin: string) =>
    ({ kind: 'reasoning', text: 'hm', sealed: { origin, data: 'gA', form: 'signature' } }) as const;

  test('go back to where they were sealed, before what they led to', () => {
    expect(inputOf(said('assistant', sealedBy('here'), callOf('c')))).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gA' },
      { type: 'function_call' },
      { type: 'function_call_output' },
    ]);
  });

  test('that were handed back with the call they led to go back before it', () => {
    const { sealed } = sealedBy('here');
    expect(inputOf(said('assistant', callOf('c1', { sealed }), callOf('c2')))).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: 'gA' },
      { type: 'function_call', call_id: 'c1' },
      { type: 'function_call', call_id: 'c2' },
      {},
      {},
    ]);
  });

  test('that led to nothing are left out', () => {
    expect(inputOf(said('user', text('hi')), said('assistant', sealedBy('here')))).toHaveLength(1);
  });

  test.each([
    ['there', []],
    ['native', ['messages[].content[].thinking']],
  ])('of %s go nowhere else', (origin, lost) => {
    const { body, losses } = written(turnOf({ messages: [said('assistant', sealedBy(origin), text('x'))] }));
    expect(body['input']).toHaveLength(1);
    expect(losses.map(({ field }) => field)).toEqual(lost);
  });

  test('without a seal go nowhere', () => {
    const plain = { kind: 'reasoning', text: 'hm', sealed: null } as const;
    expect(inputOf(said('assistant', plain, text('x')))).toHaveLength(1);
  });
});

describe('media', () => {
  test.each<[Partial<MediaBlock>, object]>([
    [
      { mediaType: 'image/webp', detail: 'low' },
      { type: 'input_image', detail: 'low', image_url: 'data:image/webp;base64,AA==' },
    ],
    [
      { source: { kind: 'url', url: 'https://example.org/a' } },
      { type: 'input_image', image_url: 'https://example.org/a' },
    ],
    [
      { media: 'file', mediaType: 'application/pdf' },
      { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA==' },
    ],
    [
      { media: 'file', filename: 'a.pdf', source: { kind: 'url', url: 'https://example.org/a' } },
      { type: 'input_file', file_url: 'https://example.org/a' },
    ],
    [
      { media: 'file', filename: 'a.txt', source: { kind: 'text', text: 'words' } },
      { type: 'input_text', text: 'a.txt\n\nwords' },
    ],
  ])('%j', (block, part) => {
    expect(inputOf(said('user', media(block)))).toMatchObject([{ content: [part] }]);
  });

  test.each<[Partial<MediaBlock>, string]>([
    [{ media: 'audio' }, 'messages[].content[].audio'],
    [{ source: { kind: 'id', id: 'file_1' } }, 'messages[].content[].image'],
    [{ media: 'file', source: { kind: 'id', id: 'file_1' } }, 'messages[].content[].document'],
  ])('%j is refused as the caller spells it', (block, param) => {
    const turn = turnOf({ messages: [said('user', media(block))] });
    expect(responsesCodec.writeTurn(turn, targetOf())).toMatchObject({
      ok: false,
      error: { status: 400, param },
    });
  });
});

describe('tools', () => {
  test('say whether they are strict, in the form in which that can be held', () => {
    const tools = [
      fn,
      { ...fn, strict: true },
      { ...fn, strict: true, parameters: { type: 'object', properties: { a: { type: 'string' } } } },
    ];
    const { body } = written(turnOf({ tools }));
    expect(body['tools']).toEqual([
      { type: 'function', name: 'f', description: 'F', parameters: fn.parameters, strict: false },
      {
        type: 'function',
        name: 'f',
        description: 'F',
        parameters: { ...fn.parameters, additionalProperties: false },
        strict: true,
      },
      { type: 'function', name: 'f', description: 'F', parameters: tools[2]?.parameters, strict: false },
    ]);
  });

  test('of chat completions are sent as their caller wrote them', () => {
    const { body } = written(turnOf({ surface: chatSurface, tools: [{ ...fn, strict: true }] }));
    expect(body['tools']).toMatchObject([{ strict: true, parameters: fn.parameters }]);
  });

  test('get legal names, in choices and calls too, and the way back', () => {
    const odd = { ...fn, name: 'mcp.server/read' };
    const turn = turnOf({
      tools: [odd],
      toolChoice: { kind: 'named', name: odd.name },
      messages: [said('user', text('hi')), said('assistant', callOf('c', { name: odd.name }))],
    });
    const result = responsesCodec.writeTurn(turn, targetOf());
    const { body } = written(turn);
    const name = String(recordOf(listOf(body['tools'])[0])['name']);
    expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(body['tool_choice']).toEqual({ type: 'function', name });
    expect(recordOf(listOf(body['input'])[1])['name']).toBe(name);
    expect(result.ok && result.value.names.get(name)?.name).toBe(odd.name);
  });

  test.each([
    [{ type: 'grammar', syntax: 'lark', definition: 'start: x' }],
    [{ type: 'grammar', grammar: { syntax: 'lark', definition: 'start: x' } }],
  ])('of free text have their grammar, however deep it stood', (format) => {
    const tool = { kind: 'custom', name: 'p', namespace: null, description: '', format } as const;
    expect(written(turnOf({ tools: [tool] })).body['tools']).toEqual([
      {
        type: 'custom',
        name: 'p',
        description: '',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
      },
    ]);
  });

  test.each([
    [{ kind: 'auto' }, 'auto'],
    [{ kind: 'none' }, 'none'],
    [{ kind: 'required' }, 'required'],
    [
      { kind: 'allowed', mode: 'required', names: ['f'] },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    ],
  ] as const)('choice %j', (toolChoice, expected) => {
    expect(written(turnOf({ tools: [fn], toolChoice })).body['tool_choice']).toEqual(expected);
  });

  test('are not spoken of where there are none', () => {
    const { body } = written(
      turnOf({ toolChoice: { kind: 'auto' }, settings: { parallelToolCalls: false } }),
    );
    expect(Object.keys(body).filter((name) => name.includes('tool'))).toEqual([]);
    expect(written(turnOf({ tools: [fn], settings: { parallelToolCalls: false } })).body).toMatchObject({
      parallel_tool_calls: false,
    });
  });
});

test('a request of this protocol’s own, read and written, is read the same again', () => {
  const turn = readBody({
    model: 'upstream',
    instructions: 'be brief',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'hi' },
          { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'high' },
        ],
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Wait.', annotations: [] }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'p', namespace: 'n', input: '*** x' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'two' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'auto' },
        ],
      },
      { role: 'system', content: [{ type: 'input_text', text: 'now' }] },
    ],
    tools: [
      { type: 'function', name: 'f', description: 'F', parameters: fn.parameters, strict: true },
      {
        type: 'namespace',
        name: 'n',
        description: '',
        tools: [
          {
            type: 'custom',
            name: 'p',
            description: 'P',
            format: { type: 'grammar', syntax: 'regex', definition: 'x' },
          },
        ],
      },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'p' }] },
    parallel_tool_calls: false,
    max_output_tokens: 64,
    temperature: 0.5,
    top_p: 0.5,
    reasoning: { effort: 'low', summary: 'auto' },
    text: {
      format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
      verbosity: 'high',
    },
    safety_identifier: 'u',
    service_tier: 'priority',
    prompt_cache_key: 'k',
    metadata: { a: 'b' },
    store: false,
  });
  expect(readBody(written(turn).body)).toEqual(turn);
});

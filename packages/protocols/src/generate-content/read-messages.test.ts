import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestInput } from '../request/request-input.fixture.ts';
import type { Turn } from '../turn.ts';
import { readNative } from './contexts.fixture.ts';
import { readTurn } from './read-messages.ts';
import { carriedSignature } from './signature.ts';
import { generateContentSurface } from './wire.ts';

function turnFrom(body: object, action?: string): Turn {
  const turn = readNative(body, action);
  if (!turn.ok) throw new Error(turn.error.message);
  return turn.value;
}

const hi = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };

function blocksOf(parts: readonly object[], role = 'user') {
  return turnFrom({ contents: [{ role, parts }] }).messages[0]?.content;
}

const camel = {
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'aGk-_w==' } }] },
    {
      role: 'model',
      parts: [
        { text: 'I think', thought: true, thoughtSignature: 'c2ln' },
        { functionCall: { id: 'c1', name: 'clock', args: { zone: 'UTC' } } },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: 'clock', response: { output: 'noon' } } }],
    },
  ],
  tools: [{ functionDeclarations: [{ name: 'clock', parameters: { type: 'OBJECT', properties: {} } }] }],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['clock'] } },
  generationConfig: {
    maxOutputTokens: 100,
    topP: 0.5,
    topK: 4,
    stopSequences: ['END'],
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true, minLength: '2' } } },
    thinkingConfig: { includeThoughts: true, thinkingBudget: 512 },
  },
};

/** The same with every member of the protocol's in snake_case. */
const snake = {
  system_instruction: camel.systemInstruction,
  contents: [
    {
      role: 'user',
      parts: [{ text: 'Look' }, { inline_data: { mime_type: 'image/png', data: 'aGk-_w==' } }],
    },
    {
      role: 'model',
      parts: [
        { text: 'I think', thought: true, thought_signature: 'c2ln' },
        { function_call: { id: 'c1', name: 'clock', args: { zone: 'UTC' } } },
      ],
    },
    {
      role: 'user',
      parts: [{ function_response: { id: 'c1', name: 'clock', response: { output: 'noon' } } }],
    },
  ],
  tools: [{ function_declarations: camel.tools[0]?.functionDeclarations }],
  tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['clock'] } },
  generation_config: {
    max_output_tokens: 100,
    top_p: 0.5,
    top_k: 4,
    stop_sequences: ['END'],
    response_mime_type: 'application/json',
    response_schema: {
      type: 'OBJECT',
      properties: { a: { type: 'STRING', nullable: true, min_length: '2' } },
    },
    thinking_config: { include_thoughts: true, thinking_budget: 512 },
  },
};

describe('a request', () => {
  test('is read into a turn', () => {
    expect(turnFrom(camel)).toMatchObject({
      surface: generateContentSurface,
      model: 'public',
      stream: false,
      system: [{ kind: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { kind: 'text', text: 'Look' },
            { kind: 'media', media: 'image', source: { kind: 'base64', data: 'aGk+/w==' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { kind: 'reasoning', text: 'I think', sealed: { origin: 'native', data: 'c2ln' } },
            { kind: 'tool-call', id: 'c1', name: 'clock', input: '{"zone":"UTC"}', sealed: null },
          ],
        },
        { role: 'user', content: [{ kind: 'tool-result', callId: 'c1', content: [{ text: 'noon' }] }] },
      ],
      tools: [{ name: 'clock', parameters: { type: 'object', properties: {} }, strict: null }],
      toolChoice: { kind: 'named', name: 'clock' },
      settings: {
        maxOutputTokens: 100,
        topP: 0.5,
        topK: 4,
        stop: ['END'],
        outputFormat: {
          kind: 'json-schema',
          schema: { type: 'object', properties: { a: { type: ['string', 'null'], minLength: 2 } } },
        },
        reasoning: { effort: null, budgetTokens: 512, shown: true },
      },
      spelling: { topK: 'generationConfig.topK', outputFormat: 'generationConfig.responseSchema' },
      extensions: [],
    });
  });

  test('is the same in snake_case, and called as the caller calls it', () => {
    const { spelling, ...read } = turnFrom(snake);
    const { spelling: _, ...wanted } = turnFrom(camel);
    expect(read).toEqual(wanted);
    expect(spelling).toMatchObject({
      topK: 'generation_config.top_k',
      reasoning: 'generation_config.thinking_config',
      outputFormat: 'generation_config.response_schema',
    });
  });

  test('streams when its path says so', () => {
    expect(turnFrom(hi, 'streamGenerateContent').stream).toBe(true);
  });

  test('may have one content, one part or one tool in the place of a list', () => {
    const turn = turnFrom({
      contents: { parts: { text: 'Hi' } },
      tools: { functionDeclarations: { name: 'clock' } },
    });
    expect(turn.messages).toMatchObject([{ role: 'user', content: [{ text: 'Hi' }] }]);
    expect(turn.tools).toMatchObject([{ name: 'clock', parameters: null }]);
  });
});

describe('calls without ids', () => {
  const call = (name: string) => ({ functionCall: { name } });
  const result = (name: string, response: object) => ({ functionResponse: { name, response } });

  test('get ids by their place, and results find them by name and order', () => {
    const { messages } = turnFrom({
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [call('a'), call('b'), call('a')] },
        { role: 'function', parts: [result('b', { n: 1 }), result('a', { output: 'x' }), result('a', {})] },
        { role: 'user', parts: [result('c', { error: 'gone' })] },
      ],
    });
    expect(messages[1]?.content).toMatchObject([
      { id: 'call_at_0', name: 'a', input: '{}' },
      { id: 'call_at_1', name: 'b' },
      { id: 'call_at_2', name: 'a' },
    ]);
    const text = (content: string) => [{ kind: 'text', text: content }];
    expect(messages[2]?.content).toMatchObject([
      { callId: 'call_at_1', isError: false, content: text('{"n":1}') },
      { callId: 'call_at_0', content: text('x') },
      { callId: 'call_at_2', content: text('{}') },
    ]);
    expect(messages[3]?.content).toMatchObject([
      { callId: 'orphan_0', isError: true, content: text('gone') },
    ]);
  });
});

describe('parts', () => {
  const marked = carriedSignature({ origin: 'abc', data: 'sig=', form: 'signature' });
  const redacted = carriedSignature({ origin: 'abc', data: 'gone', form: 'redacted' });
  test.each<[string, readonly object[], readonly object[]]>([
    [
      'a seal on text stands behind it',
      [{ text: 'a', thoughtSignature: 'c2ln' }],
      [
        { kind: 'text', text: 'a' },
        { kind: 'reasoning', text: '', sealed: { origin: 'native', data: 'c2ln', form: 'signature' } },
      ],
    ],
    [
      'a seal alone is one too',
      [{ text: '', thoughtSignature: 'c2ln' }],
      [{ kind: 'reasoning', text: '', sealed: { origin: 'native' } }],
    ],
    [
      'a seal of ours knows where it is from, in either alphabet of base64',
      [
        { text: 'a', thought: true, thoughtSignature: marked.replaceAll('+', '-').replaceAll('/', '_') },
        { functionCall: { name: 'f' }, thoughtSignature: marked },
        { text: '', thought: true, thoughtSignature: redacted },
        { text: '', thought: true, thoughtSignature: 'Z3cxLmJhZA==' },
      ],
      [
        { kind: 'reasoning', text: 'a', sealed: { origin: 'abc', data: 'sig=', form: 'signature' } },
        { kind: 'tool-call', sealed: { origin: 'abc', data: 'sig=' } },
        { kind: 'reasoning', sealed: { origin: 'abc', data: 'gone', form: 'redacted' } },
        { kind: 'reasoning', text: '', sealed: null },
      ],
    ],
    [
      'media is of the kind its type says',
      [
        { inlineData: { mimeType: 'audio/wav', data: 'AA==' } },
        { inlineData: { mimeType: 'application/pdf', data: 'AA==', displayName: 'a.pdf' } },
        { inlineData: { mimeType: 'video/mp4', data: 'AA==' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/b.png' } },
      ],
      [
        { media: 'audio', mediaType: 'audio/wav' },
        { media: 'file', filename: 'a.pdf' },
        { media: 'file', mediaType: 'video/mp4' },
        { media: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } },
      ],
    ],
    [
      "a vendor's file is its own",
      [
        { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/b.png' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://files.example/v1beta/files/abc' } },
        { fileData: { fileUri: 'https://films.example/watch?v=1' } },
      ],
      [{ source: { kind: 'id' } }, { source: { kind: 'id' } }, { source: { kind: 'id' } }],
    ],
    [
      'code and what it gave are text',
      [
        { executableCode: { language: 'PYTHON', code: 'print(1)\n' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ],
      [{ text: '\n```python\nprint(1)\n```\n' }, { text: '\n```\n1\n```\n' }],
    ],
  ])('%s', (_, parts, blocks) => {
    expect(blocksOf(parts, 'model')).toMatchObject(blocks);
    expect(blocksOf(parts, 'model')).toHaveLength(blocks.length);
  });

  test('images are looked at as closely as they, or the request, say', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const parts = [image, { ...image, mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' } }];
    const body = { contents: [{ parts }], generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } };
    expect(turnFrom(body).messages[0]?.content).toMatchObject([{ detail: 'low' }, { detail: 'high' }]);
  });
});

describe('settings', () => {
  test.each([
    [{ thinkingConfig: { thinkingBudget: 0 } }, { reasoning: { effort: 'none', budgetTokens: null } }],
    [{ thinkingConfig: { thinkingBudget: -1 } }, { reasoning: { effort: null, budgetTokens: null } }],
    [{ thinkingConfig: { thinkingLevel: 'HIGH' } }, { reasoning: { effort: 'high', shown: false } }],
    [{ thinkingConfig: { thinkingLevel: 'low' } }, { reasoning: { effort: 'low' } }],
    [{ responseMimeType: 'application/json' }, { outputFormat: { kind: 'json' } }],
    [{ responseMimeType: 'text/plain' }, { outputFormat: null }],
    [
      { responseJsonSchema: { type: 'object', title: 'person' } },
      { outputFormat: { kind: 'json-schema', name: 'person', schema: { type: 'object', title: 'person' } } },
    ],
    [{ responseLogprobs: true }, { logprobs: 0 }],
    [{ responseLogprobs: true, logprobs: 3 }, { logprobs: 3 }],
    [{ logprobs: 3 }, { logprobs: null }],
    [{ candidateCount: 2 }, { choices: 2 }],
    [
      { maxOutputTokens: '64', candidateCount: 0 },
      { maxOutputTokens: 64, choices: null },
    ],
    [{ maxOutputTokens: 0 }, { maxOutputTokens: null }],
  ])('%j', (generationConfig, settings) => {
    expect(turnFrom({ ...hi, generationConfig }).settings).toMatchObject(settings);
  });

  test.each([
    [{ labels: { team: 'a', n: 1 } }, { metadata: { team: 'a' } }],
    [{ serviceTier: 'standard' }, { serviceTier: 'default' }],
    [{ service_tier: 'SERVICE_TIER_FLEX' }, { serviceTier: 'flex' }],
  ])('%j', (members, settings) => {
    expect(turnFrom({ ...hi, ...members }).settings).toMatchObject(settings);
  });

  test.each([
    [{ mode: 'AUTO' }, { kind: 'auto' }],
    [{ mode: 'NONE' }, { kind: 'none' }],
    [{ mode: 'ANY' }, { kind: 'required' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['a', 'b'] },
      { kind: 'allowed', mode: 'required', names: ['a', 'b'] },
    ],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['a'] },
      { kind: 'allowed', mode: 'auto', names: ['a'] },
    ],
    [{ mode: 'MODE_UNSPECIFIED' }, null],
    [{}, null],
  ])('choice %j', (functionCallingConfig, choice) => {
    const tools = [{ functionDeclarations: [{ name: 'a' }] }];
    expect(turnFrom({ ...hi, tools, toolConfig: { functionCallingConfig } }).toolChoice).toEqual(choice);
  });

  test('validated calls are strict ones', () => {
    const tools = [{ functionDeclarations: [{ name: 'a' }] }];
    const toolConfig = { functionCallingConfig: { mode: 'VALIDATED' } };
    expect(turnFrom({ ...hi, tools, toolConfig }).tools).toMatchObject([{ strict: true }]);
  });
});

describe('what others do not have', () => {
  const tool = { functionDeclarations: [{ name: 'a' }] };
  test.each<[object, readonly (readonly [string, string])[]]>([
    [{ safetySettings: [{ category: 'X' }] }, [['safetySettings', 'drop']]],
    [{ cachedContent: 'cachedContents/1' }, [['cachedContent', 'refuse']]],
    [{ cached_content: 'cachedContents/1' }, [['cached_content', 'refuse']]],
    [{ generationConfig: { responseModalities: ['TEXT'] } }, []],
    [
      { generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: {} } },
      [
        ['generationConfig.responseModalities', 'refuse'],
        ['generationConfig.imageConfig', 'drop'],
      ],
    ],
    [{ generationConfig: { speech_config: {} } }, [['generationConfig.speech_config', 'drop']]],
    [
      { generationConfig: { responseMimeType: 'text/x.enum' } },
      [['generationConfig.responseMimeType', 'refuse']],
    ],
    [{ tools: [{ urlContext: {} }] }, [['tools[].urlContext', 'refuse']]],
    [{ tools: [tool, { urlContext: {} }] }, [['tools[].urlContext', 'drop']]],
    [{ contents: [{ parts: [{ toolCall: {} }] }] }, [['contents[].parts[].toolCall', 'drop']]],
    [
      { contents: [{ parts: [{ text: 'a' }, { executableCode: { code: '1' } }] }] },
      [['contents[].parts[].executableCode', 'text']],
    ],
    [{ newMember: 1 }, [['newMember', 'drop']]],
  ])('%j', (members, extensions) => {
    const read = turnFrom({ ...hi, ...members }).extensions.map(({ field, elsewhere }) => [field, elsewhere]);
    expect(read).toEqual(extensions);
  });
});

test.each([
  [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
  [{ ...hi, generationConfig: { temperature: 'hot' } }, 'generationConfig.temperature'],
  [{ ...hi, generationConfig: { stopSequences: [1] } }, 'generationConfig.stopSequences'],
  [
    { ...hi, generationConfig: { thinkingConfig: { thinkingLevel: 'DEEP' } } },
    'generationConfig.thinkingConfig.thinkingLevel',
  ],
  [
    { ...hi, toolConfig: { functionCallingConfig: { mode: 'SOME' } } },
    'toolConfig.functionCallingConfig.mode',
  ],
])('%j is refused by name', (body, param) => {
  expect(readNative(body)).toMatchObject({ ok: false, error: { code: 'invalid_request', param } });
});

test('nothing a caller can send makes reading throw', () => {
  const pieces = fc.constantFrom(...Object.keys(camel), 'parts', 'text', 'functionCall', 'args', 'mode');
  const member = fc.dictionary(pieces, fc.jsonValue({ maxDepth: 4 }));
  fc.assert(
    fc.property(
      member,
      fc.constantFrom('contents', 'tools', 'toolConfig', 'generationConfig'),
      (value, at) => {
        const body = JSON.stringify({ ...camel, [at]: value, ...value });
        expect(readTurn(requestInput(body))).toHaveProperty('ok');
      },
    ),
  );
});

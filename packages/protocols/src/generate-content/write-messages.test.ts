import { describe, expect, test } from 'vitest';
import { parseAs } from '../bytes/json-text.fixture.ts';
import type { TranslationTarget } from '../codec.ts';
import {
  type Block,
  type CustomTool,
  noSettings,
  type ToolCallBlock,
  type Turn,
  type TurnSettings,
} from '../turn.ts';
import { functionTool, readNative, says, targetOf, turnOf, words } from './contexts.fixture.ts';
import { writeTurn } from './write-messages.ts';

const decoder = new TextDecoder();

interface Body {
  readonly contents: readonly { readonly role: string; readonly parts: readonly object[] }[];
  readonly tools?: readonly object[];
  readonly toolConfig?: object;
  readonly generationConfig?: object;
}

function written(turn: Turn, target: Partial<TranslationTarget> = {}) {
  const result = writeTurn(turn, targetOf(target));
  if (!result.ok) throw new Error(result.error.message);
  const { request, losses, names } = result.value;
  const body = parseAs<Body>(request.body.map((piece) => decoder.decode(piece)).join(''));
  return { path: request.path, body, losses, names };
}

const call = (id: string, more: Partial<ToolCallBlock> = {}): ToolCallBlock => ({
  kind: 'tool-call',
  id,
  name: 'clock',
  namespace: null,
  form: 'function',
  input: '{"zone":"UTC"}',
  sealed: null,
  ...more,
});
const result = (callId: string, text: string, isError = false): Block => ({
  kind: 'tool-result',
  callId,
  isError,
  content: [words(text)],
  cacheTtl: null,
});
const seal = (data: string, origin = 'here') => ({ origin, data, form: 'signature' }) as const;
const thought = (text: string, data: string, origin = 'here') =>
  ({ kind: 'reasoning', text, sealed: seal(data, origin) }) as const;
const image = { kind: 'media', media: 'image', filename: null, detail: null, cacheTtl: null } as const;
const sentinel = 'skip_thought_signature_validator';

describe('a request', () => {
  test('is written in full', () => {
    const turn = turnOf({
      stream: true,
      system: [words('Be brief.'), words('')],
      tools: [
        functionTool('clock', { description: 'Tells.', parameters: { type: 'object', properties: {} } }),
      ],
      settings: {
        ...noSettings,
        maxOutputTokens: 50,
        temperature: 1,
        topP: 0.5,
        topK: 3,
        seed: 7,
        stop: ['END'],
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        serviceTier: 'flex',
      },
    });
    expect(written(turn)).toEqual({
      path: '/v1beta/models/native-2.5-flash:streamGenerateContent?alt=sse',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: [{ name: 'clock', description: 'Tells.' }] }],
        generationConfig: {
          maxOutputTokens: 50,
          temperature: 1,
          topP: 0.5,
          topK: 3,
          stopSequences: ['END'],
          seed: 7,
          presencePenalty: 0.1,
          frequencyPenalty: 0.2,
        },
        serviceTier: 'flex',
      },
      losses: [],
      names: new Map(),
    });
  });

  test('that is not streamed goes to the other action', () => {
    expect(written(turnOf()).path).toBe('/v1beta/models/native-2.5-flash:generateContent');
  });

  test.each<[Partial<TurnSettings>, readonly unknown[]]>([
    [{ verbosity: 'low', parallelToolCalls: false, user: 'u' }, ['parallelToolCalls', 'verbosity', 'user']],
    [{ logprobs: 1, promptCacheKey: 'k', metadata: { a: 'b' } }, ['logprobs', 'promptCacheKey', 'metadata']],
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, ['stop']],
    [{ seed: 2 ** 40 + 1 }, ['seed']],
    [{ maxOutputTokens: 800, seed: 1 }, []],
  ])('%j loses %j', (settings, fields) => {
    const { losses } = written(turnOf({ settings: { ...noSettings, ...settings } }), {
      maxOutputTokens: 800,
    });
    expect(losses.map(({ field }) => field)).toEqual(fields);
  });

  test('is cached without being asked to be', () => {
    const { losses } = written(turnOf({ system: [{ ...words('Long'), cacheTtl: '5m' }] }));
    expect(losses).toMatchObject([{ field: 'cache_control', action: 'dropped' }]);
  });

  test('for several answers says how many, up to eight', () => {
    expect(written(turnOf({ settings: { ...noSettings, choices: 8 } })).body).toMatchObject({
      generationConfig: { candidateCount: 8 },
    });
    expect(written(turnOf({ settings: { ...noSettings, choices: 1 } })).body).not.toHaveProperty(
      'generationConfig',
    );
    const turn = turnOf({ settings: { ...noSettings, choices: 9 }, spelling: { choices: 'n' } });
    expect(writeTurn(turn, targetOf())).toMatchObject({ ok: false, error: { param: 'n' } });
  });
});

describe('a conversation', () => {
  test('alternates, with the results of calls in their order and named after them', () => {
    const { body } = written(
      turnOf({
        messages: [
          says('user', words('Hi')),
          says('assistant', call('a', { sealed: seal('c2ln') }), call('b', { name: 'dice' })),
          says('user', result('b', '{"n":6}')),
          says('user', result('a', 'noon', true), words('Go on')),
        ],
      }),
    );
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'clock', args: { zone: 'UTC' } }, thoughtSignature: 'c2ln' },
          { functionCall: { id: 'b', name: 'dice', args: { zone: 'UTC' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'clock', response: { error: 'noon' } } },
          { functionResponse: { id: 'b', name: 'dice', response: { n: 6 } } },
          { text: 'Go on' },
        ],
      },
    ]);
  });

  test('has no ids that were made up for it', () => {
    const ids = ['call_at_3', `call_${'0a'.repeat(16)}_0`];
    const messages = [
      says('assistant', ...ids.map((id) => call(id))),
      says('user', result('call_at_3', 'x')),
    ];
    expect(JSON.stringify(written(turnOf({ messages })).body)).not.toContain('"id"');
  });

  test('has a word in the place of the seal on the first call of each step of the turn at hand', () => {
    const messages = [
      says('user', words('Hi')),
      says('assistant', call('a')),
      says('user', result('a', 'x')),
      says('assistant', words('Done')),
      says('user', words('Again')),
      says('assistant', call('b'), call('c')),
      says('user', result('b', 'x'), result('c', 'x')),
      says('assistant', call('d', { sealed: seal('Zm9yZWlnbg==', 'elsewhere') })),
      says('user', result('d', 'x')),
    ];
    const signatures = written(turnOf({ messages })).body.contents.map(({ parts }) =>
      parts.map((part) => ('thoughtSignature' in part ? part.thoughtSignature : null)),
    );
    expect(signatures).toEqual([
      [null],
      [null],
      [null],
      [null],
      [null],
      [sentinel, null],
      [null, null],
      [sentinel],
      [null],
    ]);
  });

  test('has thoughts that came from here, where they were, and no others', () => {
    const messages = [
      says('user', words('Hi')),
      says(
        'assistant',
        thought('So', 'czE='),
        thought('Alien', 'czI=', 'elsewhere'),
        thought('Old', 'czM=', 'native'),
        { kind: 'reasoning', text: 'Unsealed', sealed: null },
        words('Well'),
        thought('', 'czQ='),
        thought('', 'czU='),
      ),
      says('user', words('And?')),
    ];
    const { body, losses } = written(turnOf({ messages }));
    expect(body.contents[1]?.parts).toEqual([
      { text: 'So', thought: true, thoughtSignature: 'czE=' },
      { text: 'Well', thoughtSignature: 'czQ=' },
      { text: '', thoughtSignature: 'czU=' },
    ]);
    expect(losses).toMatchObject([{ field: 'messages[].content[].thinking', action: 'dropped' }]);
  });

  test('has media in it, of a type that is said or seen', () => {
    const jpeg = { ...image, mediaType: null, source: { kind: 'base64', data: '/9j/4AAQ' } } as const;
    const file = {
      ...image,
      media: 'file',
      mediaType: 'text/plain',
      filename: 'a.txt',
      source: { kind: 'text', text: 'Hello' },
    } as const;
    const own = { ...image, mediaType: 'image/png', source: { kind: 'url', url: 'gs://b/c.png' } } as const;
    const { body } = written(turnOf({ messages: [says('user', jpeg, file, own)] }));
    expect(body.contents[0]?.parts).toEqual([
      { inlineData: { mimeType: 'image/jpeg', data: '/9j/4AAQ' } },
      { text: 'a.txt\n\nHello' },
      { fileData: { mimeType: 'image/png', fileUri: 'gs://b/c.png' } },
    ]);
  });

  test('has what a tool gave beside text behind all results', () => {
    const picture = { ...image, mediaType: 'image/png', source: { kind: 'base64', data: 'AA==' } } as const;
    const shown = { ...result('a', 'see'), content: [words('see'), picture] } as Block;
    const messages = [says('assistant', call('a'), call('b')), says('user', shown, result('b', 'x'))];
    const kinds = written(turnOf({ messages })).body.contents[2]?.parts.map((part) => Object.keys(part)[0]);
    expect(kinds).toEqual(['functionResponse', 'functionResponse', 'inlineData']);
  });

  test.each([
    { kind: 'url', url: 'https://a.example/b.png' },
    { kind: 'id', id: 'file_1' },
    { kind: 'id', id: 'gs://b/c.png' },
  ] as const)('with media that only others can open, %j, is refused', (source) => {
    const turn = turnOf({ messages: [says('user', { ...image, mediaType: null, source })] });
    const param = 'messages[].content[].image';
    expect(writeTurn(turn, targetOf())).toMatchObject({
      ok: false,
      error: { code: 'invalid_request', param },
    });
  });

  test('with arguments that are no object has none, and says so', () => {
    const messages = [says('assistant', call('a', { input: '{"zone":' }), call('b', { input: '' }))];
    const { body, losses } = written(turnOf({ messages }));
    expect(body.contents[1]?.parts).toMatchObject([
      { functionCall: { args: {} } },
      { functionCall: { args: {} } },
    ]);
    expect(losses).toHaveLength(1);
  });
});

describe('thinking', () => {
  test.each<[string, TurnSettings['reasoning'], object | undefined]>([
    [
      'm-2.5-pro',
      { effort: 'low', budgetTokens: null, shown: true },
      { includeThoughts: true, thinkingBudget: 2048 },
    ],
    ['m-2.5-pro', { effort: null, budgetTokens: 99_999, shown: null }, { thinkingBudget: 24_576 }],
    ['m-3-pro', { effort: 'xhigh', budgetTokens: null, shown: null }, { thinkingLevel: 'HIGH' }],
    ['m-3.1', { effort: 'none', budgetTokens: null, shown: null }, { thinkingLevel: 'MINIMAL' }],
    ['m-3-pro', { effort: null, budgetTokens: 512, shown: false }, { thinkingBudget: 512 }],
    ['m-flash', { effort: 'none', budgetTokens: null, shown: null }, { thinkingBudget: 0 }],
    ['m-flash', { effort: null, budgetTokens: null, shown: null }, undefined],
  ])('%s is asked for %j', (upstreamModel, reasoning, thinkingConfig) => {
    const { body } = written(turnOf({ settings: { ...noSettings, reasoning } }), { upstreamModel });
    expect(body.generationConfig).toEqual(thinkingConfig === undefined ? undefined : { thinkingConfig });
  });

  test('is nothing to ask a model for that does not', () => {
    const settings = {
      ...noSettings,
      reasoning: { effort: 'high', budgetTokens: null, shown: null },
    } as const;
    const { body, losses } = written(turnOf({ settings }), { reasoning: false });
    expect(body.generationConfig).toBeUndefined();
    expect(losses).toMatchObject([{ field: 'reasoning', action: 'dropped' }]);
  });
});

describe('schemas', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { const: 'one' } } };
  const asEnum = { ...schema, $defs: { a: { enum: ['one'] } } };
  const native = {
    type: 'OBJECT',
    properties: { a: { type: 'STRING', enum: ['one'] } },
    propertyOrdering: ['a'],
  };
  test.each([
    ['m-2.5-pro', { parametersJsonSchema: schema }, { responseJsonSchema: asEnum }],
    ['m-latest', { parametersJsonSchema: schema }, { responseJsonSchema: asEnum }],
    ['m-1.5-pro', { parameters: native }, { responseSchema: native }],
  ])('for %s', (upstreamModel, parameters, format) => {
    const turn = turnOf({
      tools: [functionTool('f', { parameters: schema })],
      settings: {
        ...noSettings,
        outputFormat: { kind: 'json-schema', name: 'x', description: null, schema, strict: true },
      },
    });
    const { body } = written(turn, { upstreamModel });
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'f', ...parameters }] }]);
    expect(body.generationConfig).toEqual({ responseMimeType: 'application/json', ...format });
  });
});

describe('tools', () => {
  const custom: CustomTool = {
    kind: 'custom',
    name: 'patch',
    namespace: null,
    description: '',
    format: null,
  };

  test('of free text are functions, and so are their calls', () => {
    const patched = call('a', { name: 'patch', form: 'custom', input: 'x y' });
    const { body, names } = written(turnOf({ tools: [custom], messages: [says('assistant', patched)] }));
    expect(body.tools).toMatchObject([{ functionDeclarations: [{ name: 'patch' }] }]);
    expect(body.contents[1]?.parts).toMatchObject([{ functionCall: { args: { input: 'x y' } } }]);
    expect(names.get('patch')).toEqual({ name: 'patch', namespace: null, form: 'custom' });
  });

  test('with names that are not legal here are renamed, and named so in choices and history', () => {
    const tool = functionTool('1 clock', { namespace: 'time' });
    const { body, names } = written(
      turnOf({
        tools: [tool],
        toolChoice: { kind: 'named', name: '1 clock' },
        messages: [says('assistant', call('a', { name: '1 clock', namespace: 'time' }))],
      }),
    );
    const [sent] = [...names.keys()];
    expect(sent).toMatch(/^[a-zA-Z_][\w.:-]{0,63}$/);
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [sent] } });
    expect(body.contents[1]?.parts).toMatchObject([{ functionCall: { name: sent } }]);
    expect(body.contents[2]?.parts).toMatchObject([{ functionResponse: { name: sent } }]);
  });

  test.each<[Turn['toolChoice'], boolean | null, object | undefined]>([
    [null, null, undefined],
    [null, true, { mode: 'VALIDATED' }],
    [{ kind: 'auto' }, null, { mode: 'AUTO' }],
    [{ kind: 'auto' }, true, { mode: 'VALIDATED' }],
    [{ kind: 'none' }, true, { mode: 'NONE' }],
    [{ kind: 'required' }, null, { mode: 'ANY' }],
    [{ kind: 'allowed', mode: 'required', names: ['f'] }, null, { mode: 'ANY', allowedFunctionNames: ['f'] }],
    [
      { kind: 'allowed', mode: 'auto', names: ['f'] },
      null,
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    ],
  ])('are chosen: %j, strict %j', (toolChoice, strict, config) => {
    const { body } = written(turnOf({ tools: [functionTool('f', { strict })], toolChoice }));
    expect(body.toolConfig).toEqual(config && { functionCallingConfig: config });
  });

  test('are not chosen where there are none', () => {
    expect(written(turnOf({ toolChoice: { kind: 'required' } })).body).not.toHaveProperty('toolConfig');
  });
});

test('a request of this protocol comes out as it went in', () => {
  const body = {
    contents: [
      { role: 'user', parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'clock', args: { zone: 'UTC' } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'clock', response: { n: 1 } } }] },
    ],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [
      {
        functionDeclarations: [
          { name: 'clock', parametersJsonSchema: { type: 'object', properties: { zone: {} } } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['clock'] } },
    generationConfig: {
      maxOutputTokens: 9,
      temperature: 0.5,
      stopSequences: ['a'],
      thinkingConfig: { includeThoughts: true, thinkingBudget: 100 },
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    },
    serviceTier: 'priority',
  };
  const turn = readNative(body);
  if (!turn.ok) throw new Error(turn.error.message);
  const { body: again } = written(turn.value);
  const [asked, called, answered] = body.contents;
  const signed = { ...called, parts: [{ ...called?.parts[0], thoughtSignature: sentinel }] };
  expect(again).toEqual({ ...body, contents: [asked, signed, answered] });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tries } from '../../../../test/support/slow-form.ts';
import { keyText, objectText, parseAs, valueText } from '../bytes/json-text.fixture.ts';
import { JsonReader } from '../bytes/scan.ts';
import { concatBytes } from '../bytes/splice.ts';
import { passthroughTarget, requestInput } from '../request/request-input.fixture.ts';
import { type Dialect, defaultDialect, type InboundRequest } from '../request.ts';
import { chatCompletions } from './index.ts';
import { requestMembers } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function read(text: string): InboundRequest {
  const request = chatCompletions.readRequest(requestInput(text));
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function pass(text: string, upstreamModel: string, dialect: Partial<Dialect> = {}) {
  const encoded = read(text).passThrough(
    passthroughTarget(upstreamModel, { dialect: { ...defaultDialect, ...dialect } }),
  );
  return { text: decoder.decode(concatBytes(encoded.body)), edits: encoded.edits };
}

const hello = '"messages":[{"role":"user","content":"hi"}]';

describe('passThrough', () => {
  test('gives the same bytes, not a copy, when nothing needs to change', () => {
    const body = encoder.encode(
      `{"model":"m","stream":true,"stream_options":{"include_usage":true},${hello}}`,
    );
    const request = chatCompletions.readRequest(requestInput(body));
    if (!request.ok) throw new Error(request.error.message);
    expect(request.value.passThrough(passthroughTarget('m'))).toEqual({
      path: '/path',
      contentType: 'application/json',
      headers: [],
      body: [body],
      edits: [],
    });
    expect(request.value.passThrough(passthroughTarget('m')).body[0]).toBe(body);
  });

  test('puts the upstream name in place of the alias', () => {
    expect(pass(`{ "model" : "\\u006d" ,${hello}}`, 'org/"x"')).toEqual({
      text: `{ "model" : "org/\\"x\\"" ,${hello}}`,
      edits: ['model'],
    });
    expect(pass(`{"model":"\\u006d",${hello}}`, 'm').edits).toEqual([]);
  });

  test.each([
    ['"stream":true', '"stream":true,"stream_options":{"include_usage":true}'],
    ['"stream":true,"stream_options":null', '"stream":true,"stream_options":{"include_usage":true}'],
    ['"stream":true,"stream_options":{}', '"stream":true,"stream_options":{"include_usage":true}'],
    ['"stream":true,"stream_options":{ }', '"stream":true,"stream_options":{"include_usage":true }'],
    [
      '"stream_options":{"a":1} ,"stream":true',
      '"stream_options":{"include_usage":true,"a":1} ,"stream":true',
    ],
    [
      '"stream":true,"stream_options":{"include_usage":false}',
      '"stream":true,"stream_options":{"include_usage":true}',
    ],
    [
      '"stream":true,"stream_options":{"b":2,"include_usage": null}',
      '"stream":true,"stream_options":{"b":2,"include_usage": true}',
    ],
  ])('asks for usage: %s', (before, after) => {
    expect(pass(`{"model":"m",${before},${hello}}`, 'm')).toEqual({
      text: `{"model":"m",${after},${hello}}`,
      edits: ['stream_options.include_usage'],
    });
  });

  test.each([
    '"stream":false',
    '"stream":null',
    '"stream":true,"stream_options":{"include_usage":true}',
    '"x":1',
  ])('does not ask for usage: %s', (members) => {
    expect(pass(`{"model":"m",${members},${hello}}`, 'm').edits).toEqual([]);
  });

  test.each([
    [`{"stream_options":{"include_usage":true},"model":"m",${hello}}`, `{"model":"m",${hello}}`],
    [`{"model":"m", "stream_options":null ,${hello}}`, `{"model":"m", ${hello}}`],
    [`{"model":"m",${hello} , "stream_options":{} }`, `{"model":"m",${hello}  }`],
  ])('takes stream options out for an upstream that refuses them: %s', (before, after) => {
    expect(pass(before, 'm', { usageInStream: false })).toEqual({ text: after, edits: ['stream_options'] });
  });

  test.each([
    ['max_tokens', '"max_completion_tokens":5', '"max_tokens":5', ['max_tokens']],
    ['max_tokens', '"max_tokens":5', '"max_tokens":5', []],
    ['max_completion_tokens', '"max_tokens" : 5', '"max_completion_tokens" : 5', ['max_completion_tokens']],
    ['both', '"max_tokens":5,"max_completion_tokens":6', '"max_tokens":5,"max_completion_tokens":6', []],
    [
      'max_completion_tokens',
      '"max_tokens":5,"max_completion_tokens":6',
      '"max_completion_tokens":6',
      ['max_tokens'],
    ],
    [
      'max_tokens',
      '"max_tokens":5,"max_completion_tokens":6',
      '"max_tokens":6',
      ['max_tokens', 'max_completion_tokens'],
    ],
    [
      'max_tokens',
      '"max_completion_tokens":null,"max_tokens":5',
      '"max_tokens":5',
      ['max_completion_tokens'],
    ],
  ] as const)('spells the limit for %s: %s', (maxTokensField, before, after, edits) => {
    const expected = { text: `{"model":"m",${hello},${after}}`, edits };
    expect(pass(`{"model":"m",${hello},${before}}`, 'm', { maxTokensField })).toEqual(expected);
  });

  test('takes out several members at the end, side by side', () => {
    const dialect = { usageInStream: false, maxTokensField: 'max_tokens' } as const;
    const body = `{"model":"m","max_tokens":5,${hello} , "max_completion_tokens":null , "stream_options":{}}`;
    const { text, edits } = pass(body, 'm', dialect);
    expect(JSON.parse(text)).toEqual(JSON.parse(`{"model":"m","max_tokens":5,${hello}}`));
    expect(edits).toEqual(['max_completion_tokens', 'stream_options']);
  });
});

const names: readonly string[] = requestMembers;

/** A key that no reader of ours takes for one it reads. */
const unknownKey = keyText.filter((text) => !names.includes(parseAs<string>(text).toLowerCase()));

const readMembers = fc.record({
  model: fc.constantFrom('"m"', '"\\u006d"', '"gpt-4o"'),
  messages: fc.array(valueText, { maxLength: 3 }).map((values) => `[${values.join(',')}]`),
  stream: fc.constantFrom(null, 'true', 'false', 'null'),
  stream_options: fc.constantFrom(
    null,
    'null',
    '{}',
    '{"include_usage":false}',
    '{"x":[1], "include_usage" :true}',
    '{"y":"\\""}',
  ),
  max_tokens: fc.constantFrom(null, '1', '1e3', '100.0', 'null'),
  max_completion_tokens: fc.constantFrom(null, '2', '20E1', 'null'),
});

const bodyText = fc
  .tuple(readMembers, fc.array(fc.tuple(unknownKey, valueText), { maxLength: 4 }))
  .chain(([read, unknown]) => {
    const known = Object.entries(read).flatMap(([name, value]) =>
      value === null ? [] : [[`"${name}"`, value] as const],
    );
    return fc.shuffledSubarray([...known, ...unknown], { minLength: known.length + unknown.length });
  })
  .chain(objectText);

const dialects = fc.record({
  usageInStream: fc.boolean(),
  maxTokensField: fc.constantFrom('both' as const, 'max_tokens' as const, 'max_completion_tokens' as const),
  streamEnd: fc.constant('done-frame' as const),
  reasoningOutsideCompletion: fc.constant(false),
  messagesVersion: fc.constant('2023-06-01'),
  budgetThinkingModels: fc.constant([]),
  prefill: fc.constant({}),
  threads: fc.constant(false),
  chatVocabulary: fc.constant('common' as const),
  callIds: fc.constant('any' as const),
  thoughtSwitch: fc.constant('effort' as const),
  reasoningExpected: fc.constant(false),
  statedCost: fc.constant(null),
});

type Parsed = Record<string, unknown>;

/** The body as it must be edited, worked out on parsed objects. */
function expected(body: Parsed, upstreamModel: string, dialect: Dialect): Parsed {
  const result: Parsed = { ...body, model: upstreamModel };
  const limit = body['max_completion_tokens'] ?? body['max_tokens'];
  const wanted = dialect.maxTokensField;
  if (wanted !== 'both' && ('max_tokens' in body || 'max_completion_tokens' in body)) {
    const only = 'max_tokens' in body && 'max_completion_tokens' in body ? limit : (limit ?? null);
    delete result['max_tokens'];
    delete result['max_completion_tokens'];
    result[wanted] = only ?? null;
  }
  if (!dialect.usageInStream) delete result['stream_options'];
  else if (body['stream'] === true) {
    result['stream_options'] = {
      ...Object(body['stream_options']),
      include_usage: true,
    };
  }
  return result;
}

describe('state that a target of another protocol has sealed', () => {
  const foreign = '{"type":"reasoning.text","text":"hm","signature":"gw1.abc.sig"}';
  const call = (rest: string) => `{"id":"c","function":{"name":"f","arguments":"{}"}${rest}}`;
  const seal = ',"extra_content":{"google":{"thought_signature":"gw1.abc.sig"}}';

  test.each([
    [
      `{"role":"assistant","content":"a","reasoning_details":[${foreign}]}`,
      '{"role":"assistant","content":"a"}',
    ],
    [`{"reasoning_details":[${foreign}] , "role":"assistant"}`, '{"role":"assistant"}'],
    [
      `{"thinking_blocks":[${foreign}],"tool_calls":[${call(seal)},${call('')}]}`,
      `{"tool_calls":[${call('')},${call('')}]}`,
    ],
  ])('is left out: %s', (message, expected) => {
    const body = (said: string) =>
      `{"model":"m","messages":[{"role":"user","content":"\\"gw1.a.b\\""},${said}]}`;
    const { text, edits } = pass(body(message), 'm');
    expect(text).toBe(body(expected));
    expect(new Set(edits)).toEqual(new Set(['foreign-state']));
  });

  test.each([
    `{"role":"assistant","reasoning_details":[{"signature":"own"}],"tool_calls":[${call(seal.replace('gw1', 'gwx'))}]}`,
    '{"role":"user","content":"gw1.abc.sig"}',
  ])('and nothing else: %s', (message) => {
    const body = `{"model":"m","messages":[${message}]}`;
    expect(pass(body, 'm')).toEqual({ text: body, edits: [] });
  });
});

describe('ids of calls at a server that takes nine letters and digits only', () => {
  const body = (ids: readonly [string, string]) =>
    `{"model":"m","messages":[{"id":"call_x","role":"assistant","tool_calls":[${ids
      .map((id) => `{"id":"${id}","function":{"name":"call_f","arguments":"{\\"id\\":\\"call_y\\"}"}}`)
      .join()}]},${ids.map((id) => `{"role":"tool","tool_call_id":"${id}","content":"call_z"}`).join()}]}`;

  test('are made so, the same for a call and its result, and nothing else is', () => {
    const { text, edits } = pass(body(['call_abc', 'abcDEF123']), 'm', { callIds: 'nine-alphanumerics' });
    const [made = ''] = /(?<="tool_calls":\[\{"id":")[a-zA-Z0-9]{9}(?=")/.exec(text) ?? [];
    expect(text).toBe(body([made, 'abcDEF123']));
    expect(edits).toEqual(['call-id', 'call-id']);
  });

  test('are left alone elsewhere', () => {
    expect(pass(body(['call_abc', 'abcDEF123']), 'm').edits).toEqual([]);
  });
});

describe('calls at a server that insists on the thoughts they come with', () => {
  const called = '"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]';
  const send = (message: string, reasoning: boolean) => {
    const dialect = { ...defaultDialect, reasoningExpected: true };
    const body = (said: string) => `{"model":"m","messages":[{"role":"user","content":"hi"},${said}]}`;
    const { body: sent } = read(body(message)).passThrough(passthroughTarget('m', { dialect, reasoning }));
    return decoder.decode(concatBytes(sent)).slice(body('').indexOf('}') + 2, -2);
  };

  test.each([
    [`{ "role":"assistant",${called}}`, `{"reasoning_content":" ", "role":"assistant",${called}}`],
    [`{"reasoning_content":null,${called}}`, `{"reasoning_content":" ",${called}}`],
    [`{${called},"reasoning_content":""}`, `{${called},"reasoning_content":" "}`],
    [`{"reasoning_details":[{"signature":"gw1.a.b"}],${called}}`, `{"reasoning_content":" ",${called}}`],
  ])('have some: %s', (message, expected) => {
    expect(send(message, true)).toBe(expected);
    expect(JSON.parse(expected)).toMatchObject({ reasoning_content: ' ' });
    if (!message.includes('gw1')) expect(send(message, false)).toBe(message);
  });

  test.each([
    `{"reasoning_content":"Hm",${called}}`,
    '{"role":"assistant","content":"a"}',
    '{"tool_calls":null}',
  ])('and nothing else: %s', (message) => {
    expect(send(message, true)).toBe(message);
  });
});

describe('random bodies', () => {
  test('are passed on byte for byte when nothing needs to change', () => {
    fc.assert(
      fc.property(bodyText, (text) => {
        const bytes = encoder.encode(text);
        const before = bytes.slice();
        const request = chatCompletions.readRequest(requestInput(bytes));
        if (!request.ok) throw new Error(request.error.message);
        const parsed = parseAs<Parsed>(text);
        const untouched = parsed['stream'] !== true || request.value.wantsUsageFrame;
        const target = passthroughTarget(request.value.facts.model);
        const { body, edits } = request.value.passThrough(target);
        expect(body[0] === bytes).toBe(untouched);
        expect(edits).toEqual(untouched ? [] : ['stream_options.include_usage']);
        expect(bytes).toEqual(before);
      }),
      { numRuns: tries(10_000) },
    );
  }, 120_000);

  test('say what they should after their edits, and are otherwise untouched', () => {
    fc.assert(
      fc.property(bodyText, dialects, (text, dialect) => {
        const request = read(text);
        const encoded = request.passThrough(passthroughTarget('up', { dialect }));
        const body = concatBytes(encoded.body);
        const { edits } = encoded;
        const parsed = parseAs<Parsed>(text);
        expect(JSON.parse(decoder.decode(body))).toEqual(expected(parsed, 'up', dialect));
        expect(edits).toContain('model');
        expect(untouchedMembers(body)).toEqual(untouchedMembers(encoder.encode(text)));
        if (edits.length > 1) return;
        const { start, end } = commonEnds(encoder.encode(text), body);
        expect(body.length - start - end).toBeLessThanOrEqual('"up"'.length);
      }),
      { numRuns: tries(10_000) },
    );
  }, 120_000);
});

const edited: readonly string[] = ['model', 'stream_options', 'max_tokens', 'max_completion_tokens'];

/** The members no edit may touch, each as it is written, in their order. */
function untouchedMembers(bytes: Uint8Array): string[] {
  const reader = new JsonReader(bytes);
  const found: string[] = [];
  reader.enterObject();
  while (reader.nextMember()) {
    const key = decoder.decode(bytes.subarray(reader.keyStart, reader.keyEnd));
    const value = bytes.subarray(reader.at, reader.skip());
    if (!edited.includes(key)) found.push(`${key}:${decoder.decode(value)}`);
  }
  expect(reader.failure).toBeNull();
  return found;
}

/** How many bytes two texts share at their beginning, and at their end behind that. */
function commonEnds(before: Uint8Array, after: Uint8Array): { start: number; end: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { start, end };
}

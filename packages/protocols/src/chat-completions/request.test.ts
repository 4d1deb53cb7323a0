import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonReader } from '../bytes/json-reader.ts';
import { objectText, stringText, valueText } from '../bytes/json-text.fixture.ts';
import { type Dialect, defaultDialect, type InboundRequest } from '../protocol.ts';
import { chatCompletions } from './index.ts';
import { requestMembers } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function read(text: string): InboundRequest {
  const request = chatCompletions.readRequest(encoder.encode(text));
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function refusal(text: string) {
  const request = chatCompletions.readRequest(encoder.encode(text));
  return request.ok
    ? null
    : { code: request.error.code, status: request.error.status, param: request.error.param };
}

function pass(text: string, upstreamModel: string, dialect: Partial<Dialect> = {}) {
  const encoded = read(text).passThrough({ upstreamModel, dialect: { ...defaultDialect, ...dialect } });
  return { text: decoder.decode(encoded.body), edits: encoded.edits };
}

const hello = '"messages":[{"role":"user","content":"hi"}]';

describe('readRequest', () => {
  test('reads what routing needs', () => {
    const body = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"n":2,"max_tokens":7,
      "max_completion_tokens":1e2,"tools":[{}],"response_format":{"strict":1,"type":"json_schema","json_schema":{}},
      "modalities":["text","audio"],"user":"u","prompt_cache_key":"cache",${hello}}`;
    const request = read(body);
    expect(request.wantsUsageFrame).toBe(true);
    expect(request.facts).toEqual({
      model: 'm',
      stream: true,
      maxOutputTokens: 100,
      inputTokensEstimate: Math.ceil(encoder.encode(body).length / 4),
      choices: 2,
      needs: new Set(['tools', 'audio-output', 'structured-output']),
      sessionKey: 'cache',
    });
  });

  test('takes null for absent', () => {
    const nulls = requestMembers
      .filter((name) => name !== 'model' && name !== 'messages')
      .map((name) => `"${name}":null`);
    const request = read(`{"model":"m",${hello},${nulls.join(',')}}`);
    expect(request.wantsUsageFrame).toBe(false);
    expect(request.facts).toMatchObject({
      stream: false,
      maxOutputTokens: null,
      choices: 1,
      needs: new Set(),
      sessionKey: null,
    });
  });

  test('leaves to the upstream what it does not need to understand', () => {
    const { facts } = read(
      `{"model":"m",${hello},"tools":{},"response_format":"json","audio":1,"user":5,"modalities":{}}`,
    );
    expect(facts).toMatchObject({ needs: new Set(), sessionKey: null });
  });

  test.each([
    ['image_url', 'image-input'],
    ['input_audio', 'audio-input'],
    ['file', 'file-input'],
  ])('sees a part of type %s among the messages', (type, need) => {
    const parts = (spelling: string) =>
      read(`{"model":"m","messages":[{"role":"user","content":[{"${type}":{},${spelling}}]}]}`).facts.needs;
    expect(parts(`"type":"${type}"`)).toEqual(new Set([need]));
    expect(parts(`"type" :\n "${type}"`)).toEqual(new Set([need]));
    expect(parts(`"kind":"${type}"`)).toEqual(new Set());
    expect(read(`{"model":"m","messages":[{"role":"user","content":"${type}"}]}`).facts.needs).toEqual(
      new Set(),
    );
    expect(
      read(`{"model":"m","messages":[{"content":${JSON.stringify(`"type":"${type}"`)}}]}`).facts.needs,
    ).toEqual(new Set());
  });

  test('estimates media by their number and text by its bytes', () => {
    const estimate = (url: string) =>
      read(`{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":"${url}"}}]}]}`).facts
        .inputTokensEstimate;
    expect(estimate(`data:image/png;base64,${'A'.repeat(400_000)}`)).toBeLessThan(1_100);
    expect(estimate('https://example.test/x.png')).toBeGreaterThan(1_000);
    const prose = 'a line of words '.repeat(25_000);
    expect(
      read(`{"model":"m","messages":[{"content":"${prose}"}]}`).facts.inputTokensEstimate,
    ).toBeGreaterThan(99_000);
  });

  test('prefers the cache key, then the safety identifier, then the user, and bounds them', () => {
    const key = (members: string) => read(`{"model":"m",${hello},${members}}`).facts.sessionKey;
    expect(key('"user":"u","safety_identifier":"s"')).toBe('s');
    expect(key('"user":"\\u00fc","prompt_cache_key":""')).toBe('ü');
    expect(key(`"user":"${'x'.repeat(5_000)}"`)).toHaveLength(256);
  });

  test.each([
    ['', null],
    ['[]', null],
    ['"x"', null],
    ['null', null],
    ['\uFEFF{}', null],
    ['{', null],
    [`{"model":"m",${hello}`, null],
    [`{"model":"m",${hello}}}`, null],
    [`{"model":"m",${hello}} {}`, null],
    [`{"model":"m",${hello},}`, null],
    ['{}', 'model'],
    [`{${hello}}`, 'model'],
    [`{"model":null,${hello}}`, 'model'],
    [`{"model":"",${hello}}`, 'model'],
    [`{"model":7,${hello}}`, 'model'],
    [`{"model":["m"],${hello}}`, 'model'],
    [`{"model":"\\x",${hello}}`, 'model'],
    ['{"model":"m"}', 'messages'],
    ['{"model":"m","messages":null}', 'messages'],
    ['{"model":"m","messages":"hi"}', 'messages'],
    [`{"model":"m",${hello},"stream":"true"}`, 'stream'],
    [`{"model":"m",${hello},"stream":1}`, 'stream'],
    [`{"model":"m",${hello},"stream_options":true}`, 'stream_options'],
    [`{"model":"m",${hello},"stream_options":[]}`, 'stream_options'],
    [`{"model":"m",${hello},"stream_options":{"include_usage":1}}`, 'stream_options.include_usage'],
    [
      `{"model":"m",${hello},"stream_options":{"include_usage":true,"include_usage":true}}`,
      'stream_options.include_usage',
    ],
    [
      `{"model":"m",${hello},"stream_options":{"include_usage":true,"include\\u005fusage":false}}`,
      'stream_options.include_usage',
    ],
    [`{"model":"m",${hello},"stream_options":{"a" 1}}`, 'stream_options'],
    [`{"model":"m",${hello},"n":0}`, 'n'],
    [`{"model":"m",${hello},"n":129}`, 'n'],
    [`{"model":"m",${hello},"n":1.5}`, 'n'],
    [`{"model":"m",${hello},"n":"2"}`, 'n'],
    [`{"model":"m",${hello},"max_tokens":-1}`, 'max_tokens'],
    [`{"model":"m",${hello},"max_tokens":1e400}`, 'max_tokens'],
    [`{"model":"m",${hello},"max_tokens":2147483648}`, 'max_tokens'],
    [`{"model":"m",${hello},"max_completion_tokens":{}}`, 'max_completion_tokens'],
    [`{"model":"m","model":"m",${hello}}`, 'model'],
    [`{"model":"m","mod\\u0065l":"x",${hello}}`, 'model'],
    [`{"model":"m",${hello},"\\u006d\\u0065\\u0073\\u0073\\u0061\\u0067\\u0065\\u0073":[]}`, 'messages'],
    [`{"model":"m",${hello},"Model":"x"}`, 'model'],
    [`{"model":"m",${hello},"MAX_TOKENS":5}`, 'max_tokens'],
  ])('refuses %j, naming %s', (text, param) => {
    expect(refusal(text)).toEqual({ code: 'invalid_request', status: 400, param });
  });

  test('refuses nesting that would break those who parse it after us', () => {
    const deep = `{"model":"m","messages":[${'['.repeat(100_000)}`;
    expect(refusal(deep)).toMatchObject({ code: 'invalid_request' });
  });

  test('refuses UTF-8 that is not valid in what it reads', () => {
    const body = encoder.encode(`{"model":"m?",${hello}}`);
    body[body.indexOf(0x3f)] = 0xff;
    const request = chatCompletions.readRequest(body);
    expect(request.ok ? null : request.error.param).toBe('model');
  });

  test('is not moved by the names of object prototypes', () => {
    expect(
      read(`{"__proto__":{"model":"x"},"constructor":1,"toString":{},"model":"m",${hello}}`).facts.model,
    ).toBe('m');
  });
});

describe('passThrough', () => {
  test('gives the same bytes, not a copy, when nothing needs to change', () => {
    const body = encoder.encode(
      `{"model":"m","stream":true,"stream_options":{"include_usage":true},${hello}}`,
    );
    const request = chatCompletions.readRequest(body);
    if (!request.ok) throw new Error(request.error.message);
    expect(request.value.passThrough({ upstreamModel: 'm', dialect: defaultDialect })).toEqual({
      body,
      edits: [],
    });
    expect(request.value.passThrough({ upstreamModel: 'm', dialect: defaultDialect }).body).toBe(body);
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
const unknownKey = stringText.filter((text) => !names.includes(String(JSON.parse(text)).toLowerCase()));

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
});

type Parsed = Record<string, unknown>;

/** What the edited body must say, worked out on parsed objects. */
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

describe('10,000 random bodies', () => {
  test('are passed on byte for byte when nothing needs to change', () => {
    fc.assert(
      fc.property(bodyText, (text) => {
        const bytes = encoder.encode(text);
        const before = bytes.slice();
        const request = chatCompletions.readRequest(bytes);
        if (!request.ok) throw new Error(request.error.message);
        const parsed: Parsed = JSON.parse(text);
        const untouched = parsed['stream'] !== true || request.value.wantsUsageFrame;
        const target = { upstreamModel: request.value.facts.model, dialect: defaultDialect };
        const { body, edits } = request.value.passThrough(target);
        expect(body === bytes).toBe(untouched);
        expect(edits).toEqual(untouched ? [] : ['stream_options.include_usage']);
        expect(bytes).toEqual(before);
      }),
      { numRuns: 10_000 },
    );
  }, 120_000);

  test('say what they should after their edits, and are otherwise untouched', () => {
    fc.assert(
      fc.property(bodyText, dialects, (text, dialect) => {
        const request = read(text);
        const { body, edits } = request.passThrough({ upstreamModel: 'up', dialect });
        const parsed: Parsed = JSON.parse(text);
        expect(JSON.parse(decoder.decode(body))).toEqual(expected(parsed, 'up', dialect));
        expect(edits).toContain('model');
        expect(untouchedMembers(body)).toEqual(untouchedMembers(encoder.encode(text)));
        if (edits.length > 1) return;
        const { start, end } = commonEnds(encoder.encode(text), body);
        expect(body.length - start - end).toBeLessThanOrEqual('"up"'.length);
      }),
      { numRuns: 10_000 },
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

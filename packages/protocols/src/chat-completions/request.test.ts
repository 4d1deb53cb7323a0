import { describe, expect, test } from 'vitest';
import { requestInput } from '../request/request-input.fixture.ts';
import type { InboundRequest } from '../request.ts';
import { chatCompletions } from './index.ts';
import { requestMembers } from './wire.ts';

const encoder = new TextEncoder();

function read(text: string): InboundRequest {
  const request = chatCompletions.readRequest(requestInput(text));
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function refusal(text: string) {
  const request = chatCompletions.readRequest(requestInput(text));
  return request.ok
    ? null
    : { code: request.error.code, status: request.error.status, param: request.error.param };
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
    });
  });

  test('leaves to the upstream what it does not need to understand', () => {
    const { facts } = read(
      `{"model":"m",${hello},"tools":{},"response_format":"json","audio":1,"user":5,"modalities":{}}`,
    );
    expect(facts).toMatchObject({ needs: new Set() });
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
    const request = chatCompletions.readRequest(requestInput(body));
    expect(request.ok ? null : request.error.param).toBe('model');
  });

  test('is not moved by the names of object prototypes', () => {
    expect(
      read(`{"__proto__":{"model":"x"},"constructor":1,"toString":{},"model":"m",${hello}}`).facts.model,
    ).toBe('m');
  });
});

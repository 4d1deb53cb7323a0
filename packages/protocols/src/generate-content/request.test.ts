import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyText, objectText, parseAs, valueText } from '../bytes/json-text.fixture.ts';
import { concatBytes } from '../bytes/splice.ts';
import { passthroughTarget, requestInput } from '../request/request-input.fixture.ts';
import type { RequestInput, Work } from '../request.ts';
import { generateContent } from './index.ts';
import { requestMembers } from './wire.ts';

const decoder = new TextDecoder();
const hello = '"contents":[{"role":"user","parts":[{"text":"hi"}]}]';

type Rest = Partial<Pick<RequestInput, 'params' | 'search'>> & { readonly work?: Work };

function read(text: string, rest: Rest = {}) {
  return generateContent.readRequest(
    requestInput(text, { params: { model: 'm', action: 'generateContent' }, ...rest }),
  );
}

function accept(text: string, rest: Rest = {}) {
  const request = read(text, rest);
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function refusal(text: string, rest: Rest = {}) {
  const request = read(text, rest);
  if (request.ok) throw new Error('accepted');
  return request.error;
}

const streaming = { params: { model: 'm', action: 'streamGenerateContent' } };
const path = '/v1beta/models/{model}:{action}';

describe('facts', () => {
  test('of a plain request', () => {
    expect(accept(`{${hello}}`).facts).toEqual({
      model: 'm',
      stream: false,
      maxOutputTokens: null,
      inputTokensEstimate: 14,
      choices: 1,
      needs: new Set(),
    });
  });

  test.each([
    ['', 'json-array'],
    ['alt=json', 'json-array'],
    ['$alt=json;enum-encoding=int', 'json-array'],
    ['key=secret&alt=sse', 'sse'],
    ['$alt=sse', 'sse'],
  ])('of a stream with ?%s', (search, framing) => {
    const request = accept(`{${hello}}`, { ...streaming, search });
    expect([request.facts.stream, request.framing]).toEqual([true, framing]);
  });

  test.each([
    '"generationConfig":{"maxOutputTokens":7,"candidateCount":2,"responseSchema":{"type":"OBJECT"}}',
    '"generation_config":{"max_output_tokens":"7","candidate_count":2,"response_mime_type":"application/json"}',
    '"generationConfig":{"_responseJsonSchema":{},"maxOutputTokens":7,"candidate_count":2}',
  ])('in either spelling: %s', (config) => {
    const { maxOutputTokens, choices, needs } = accept(`{${hello},${config}}`).facts;
    expect([maxOutputTokens, choices, [...needs]]).toEqual([7, 2, ['structured-output']]);
  });

  test.each([
    ['"tools":[{"functionDeclarations":[]}]', ['tools']],
    ['"tools":{"googleSearch":{}}', ['tools']],
    ['"tools":[]', []],
    ['"generationConfig":{"responseModalities":["TEXT","AUDIO"]}', ['audio-output']],
    ['"generationConfig":{"responseMimeType":"text/plain","maxOutputTokens":0}', []],
    ['"generationConfig":null', []],
  ])('needs of %s', (members, needs) => {
    expect([...accept(`{${hello},${members}}`).facts.needs]).toEqual(needs);
  });

  test.each([
    ['{"inlineData":{"mimeType":"image/png","data":"iVBO"}}', ['image-input']],
    ['{"inline_data":{"data":"iVBO","mime_type" : "audio/wav"}}', ['audio-input']],
    ['{"fileData":{"fileUri":"x","mimeType":"application/pdf"}}', ['file-input']],
    ['{"text":"mimeType"},{"text":"mime_type"}', []],
  ])('needs of %s', (parts, needs) => {
    const request = accept(`{"contents":[{"parts":[${parts}]}]}`);
    expect([...request.facts.needs]).toEqual(needs);
    expect(request.facts.inputTokensEstimate > 1_000).toBe(needs.length > 0);
  });

  test('a picture counts by its number and not by its bytes', () => {
    const data = 'A'.repeat(400_000);
    const request = accept(
      `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"${data}"}}]}]}`,
    );
    expect(request.facts.inputTokensEstimate).toBeLessThan(1_100);
  });

  test('pictures within a request to be counted are seen, too', () => {
    const parts = `[{"inline_data":{"mime_type":"image/png","data":"${'A'.repeat(400_000)}"}}]`;
    const text = `{"generateContentRequest":{"contents":[{"parts":${parts}}]}}`;
    expect(accept(text, { work: 'count' }).facts.inputTokensEstimate).toBeLessThan(1_100);
  });

  test.each(['cachedContent', 'cached_content'])('what %s names is kept upstream', (name) => {
    expect(accept(`{${hello},"${name}":"cachedContents/1"}`).facts.continues).toBe('cachedContents/1');
    expect(accept(`{${hello},"${name}":null}`).facts.continues).toBeUndefined();
  });

  test.each(['count', 'embed'] as const)('a request to %s needs no contents and has no output', (work) => {
    expect(accept('{}', { work }).facts.maxOutputTokens).toBe(0);
  });
});

describe('refused', () => {
  test.each([
    ['{}', {}, 'contents'],
    ['{"contents":"hi"}', {}, 'contents'],
    [`{${hello},${hello}}`, {}, 'contents'],
    [`{${hello},"generationConfig":{},"generation_config":{}}`, {}, 'generationConfig'],
    [`{${hello},"generationConfig":7}`, {}, 'generationConfig'],
    [
      `{${hello},"generationConfig":{"maxOutputTokens":1,"max_output_tokens":2}}`,
      {},
      'generationConfig.maxOutputTokens',
    ],
    [`{${hello},"generationConfig":{"maxOutputTokens":1.5}}`, {}, 'generationConfig.maxOutputTokens'],
    [`{${hello},"generationConfig":{"candidateCount":"many"}}`, {}, 'generationConfig.candidateCount'],
    [`{${hello},"GenerationConfig":{}}`, {}, 'generationConfig'],
    [`{${hello}}`, { search: 'alt=proto' }, 'alt'],
    [`[{${hello}}]`, {}, null],
    [`{${hello}`, {}, null],
  ])('%s with %j', (body, rest, param) => {
    expect(refusal(body, rest)).toMatchObject({ code: 'invalid_request', status: 400, param });
  });
});

describe('upstream', () => {
  const encode = (text: string, upstreamModel: string, rest: Rest = {}) =>
    accept(text, rest).passThrough(passthroughTarget(upstreamModel, { path }));

  test.each([
    ['m', {}, '/v1beta/models/m:generateContent'],
    ['a/b:c+d=e', {}, '/v1beta/models/a%2Fb%3Ac%2Bd%3De:generateContent'],
    ['$&', {}, '/v1beta/models/%24%26:generateContent'],
    ['m', { search: 'alt=sse&key=secret' }, '/v1beta/models/m:generateContent'],
    ['m', streaming, '/v1beta/models/m:streamGenerateContent'],
    ['m', { ...streaming, search: 'key=secret&alt=sse' }, '/v1beta/models/m:streamGenerateContent?alt=sse'],
  ])('%s with %j is at %s', (model, rest, expected) => {
    expect(encode(`{${hello}}`, model, rest).path).toBe(expected);
  });

  test.each<readonly [string, Rest, string]>([
    [`{"model":"models/m",${hello}}`, {}, `{"model":"models/up",${hello}}`],
    [`{"model":"m",${hello}}`, {}, `{"model":"up",${hello}}`],
    [`{"model":"other",${hello}}`, {}, `{"model":"other",${hello}}`],
    [
      '{"generateContentRequest":{"model" : "models/m"}}',
      { work: 'count' },
      '{"generateContentRequest":{"model" : "models/up"}}',
    ],
    [
      '{"requests":[{"model":"models/m","content":{"model":"models/m"}},{"model":"models/m"}]}',
      { work: 'embed' },
      '{"requests":[{"model":"models/up","content":{"model":"models/m"}},{"model":"models/up"}]}',
    ],
  ])('the model within %s is the target’s', (body, rest, expected) => {
    const { body: pieces, edits } = encode(body, 'up', rest);
    expect(decoder.decode(concatBytes(pieces))).toBe(expected);
    expect(edits.every((edit) => edit === 'model')).toBe(true);
    expect(edits.length > 0).toBe(body !== expected);
  });

  test('any other body is the same bytes', () => {
    const member = fc.tuple(keyText.filter(isUnread), valueText);
    const body = fc
      .array(member, { maxLength: 6 })
      .chain((rest) => objectText([...rest, ['"contents"', '[{"parts":[{"text":"1.0"}]}]']]));
    fc.assert(
      fc.property(body, (text) => {
        const { body: pieces } = encode(text, 'up');
        expect(pieces.map((piece) => decoder.decode(piece))).toEqual([text]);
      }),
    );
  });
});

function isUnread(key: string): boolean {
  const name = parseAs<string>(key).toLowerCase();
  return requestMembers.every((member) => member.toLowerCase() !== name);
}

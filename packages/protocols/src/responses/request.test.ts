import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyText, objectText, valueText } from '../bytes/json-text.fixture.ts';
import { concatBytes } from '../bytes/splice.ts';
import { passthroughTarget, requestInput } from '../request/request-input.fixture.ts';
import type { InboundRequest } from '../request.ts';
import { responses } from './index.ts';
import { requestMembers } from './wire.ts';

const decoder = new TextDecoder();
const hello = '"input":"hi"';

function accept(body: string | Uint8Array): InboundRequest {
  const request = responses.readRequest(requestInput(body));
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function refusal(text: string) {
  const request = responses.readRequest(requestInput(text));
  if (request.ok) throw new Error('the request was taken');
  return request.error;
}

describe('facts', () => {
  test('of a plain request', () => {
    expect(accept(`{"model":"m","max_output_tokens":16,${hello}}`).facts).toEqual({
      model: 'm',
      stream: false,
      maxOutputTokens: 16,
      inputTokensEstimate: 13,
      choices: 1,
      needs: new Set(),
      kept: true,
    });
  });

  test('an answer is kept upstream unless the caller says no', () => {
    const kept = (store: string) => accept(`{"model":"m",${hello},"store":${store}}`).facts.kept;
    expect(['true', 'null', 'false'].map(kept)).toEqual([true, true, undefined]);
  });

  test.each([
    ['"previous_response_id":"resp_1"', 'resp_1'],
    ['"conversation":"conv_1"', 'conv_1'],
    ['"previous_response_id":null,"conversation":{"id":"conv_1"}', 'conv_1'],
    ['"previous_response_id":7,"conversation":{}', undefined],
  ])('an input may be missing: there may be a conversation, %s', (kept, id) => {
    const { facts } = accept(`{"model":"m","stream":true,${kept}}`);
    expect([facts.stream, facts.continues]).toEqual([true, id]);
  });

  test.each([
    ['"tools":[{"type":"web_search"}]', ['tools']],
    ['"tools":[]', []],
    [
      '"text":{"verbosity":"low","format":{"name":"n","type":"json_schema","schema":{"type":"text"}}}',
      ['structured-output'],
    ],
    ['"text":{"format":{"type":"json_object"}}', ['structured-output']],
    ['"text":{"format":{"type":"text"}}', []],
    ['"text":{"format":null}', []],
    ['"text":7', []],
  ])('needs of %s', (members, needs) => {
    expect([...accept(`{"model":"m",${hello},${members}}`).facts.needs]).toEqual(needs);
  });

  test.each([
    ['{"role":"user","content":[{"type":"input_image","image_url":"x"}]}', ['image-input']],
    ['{"role":"user","content":[{"type":"input_file","file_id":"x"}]}', ['file-input']],
    ['{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}', ['audio-input']],
    ['{"type":"function_call_output","output":[{"type":"input_image"}]}', ['image-input']],
    ['{"type":"computer_call_output","output":{"type":"computer_screenshot"}}', ['image-input']],
    ['{"role":"user","content":[{"type":"input_text","text":"input_image"}]}', []],
  ])('needs of an item %s', (item, needs) => {
    expect([...accept(`{"model":"m","input":[${item}]}`).facts.needs]).toEqual(needs);
  });

  test.each([
    [`{${hello}}`, 'model'],
    ['{"model":"m","input":7}', 'input'],
    ['{"model":"m","input":{}}', 'input'],
    [`{"model":"m","stream":"yes",${hello}}`, 'stream'],
    [`{"model":"m","max_output_tokens":1.5,${hello}}`, 'max_output_tokens'],
    [`{"model":"m","background":true,${hello}}`, 'background'],
    [`{"model":"m","inp\\u0075t":"again",${hello}}`, 'input'],
    ['[]', null],
  ])('%s is refused for its %s', (text, param) => {
    expect(refusal(text)).toMatchObject({ code: 'invalid_request', param });
  });

  test('what runs in the background may be streamed', () => {
    expect(accept(`{"model":"m","background":true,"stream":true,${hello}}`).facts.stream).toBe(true);
  });
});

describe('the body', () => {
  test('is the same array when nothing needs to change', () => {
    const body = new TextEncoder().encode(`{"model":"m",${hello}}`);
    const encoded = accept(body).passThrough(passthroughTarget('m', { path: '/responses' }));
    expect(encoded.body[0]).toBe(body);
    expect(encoded).toMatchObject({ path: '/responses', headers: [], edits: [] });
  });

  const unknown = fc.tuple(
    keyText.filter((key) => !requestMembers.some((name) => key.toLowerCase() === `"${name}"`)),
    valueText,
  );
  const members = fc.array(unknown, { maxLength: 4 });
  const body = members
    .chain((more) =>
      fc.shuffledSubarray(
        [['"model"', '"alias"'] as const, ['"input"', '[{"role":"user","content":"x"}]'] as const, ...more],
        { minLength: more.length + 2 },
      ),
    )
    .chain(objectText);

  test('loses what a target of another protocol has sealed, and nothing else', () => {
    const foreign = '{"type":"reasoning","summary":[{"text":"hm"}] , "encrypted_content":"gw1.abc.sxyz"}';
    const own = '{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}';
    const said = '{"role":"user","content":"\\"gw1.abc.x\\" {\\"encrypted_content\\":\\"gw1."}';
    const body = `{"model":"m","input":[ ${foreign} , ${own},${said}, ${foreign}]}`;
    const encoded = accept(body).passThrough(passthroughTarget('m'));
    expect(decoder.decode(concatBytes([...encoded.body]))).toBe(`{"model":"m","input":[ ${own},${said}]}`);
    expect(encoded.edits).toEqual(['foreign-state', 'foreign-state']);
  });

  test('changes in nothing but the alias, whatever else it has', () => {
    fc.assert(
      fc.property(body, (text) => {
        const encoded = accept(text).passThrough(passthroughTarget('m'));
        expect(encoded.edits).toEqual(['model']);
        expect(decoder.decode(concatBytes(encoded.body))).toBe(text.replace('"alias"', '"m"'));
      }),
    );
  });
});

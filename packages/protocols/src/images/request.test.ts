import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyText, objectText, valueText } from '../bytes/json-text.fixture.ts';
import { concatBytes } from '../bytes/splice.ts';
import { passthroughTarget, requestInput } from '../request/request-input.fixture.ts';
import type { InboundRequest } from '../request.ts';
import { noTerms } from '../usage.ts';
import { images } from './index.ts';
import { requestMembers } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const formType = 'multipart/form-data; boundary=b';
const paths = { generations: '/v1/images/generations', edits: '/v1/images/edits' } as const;

const readJson = (text: string, path: string = paths.generations) =>
  images.readRequest(requestInput(text, { path }));

const readForm = (body: string | Uint8Array) =>
  images.readRequest(requestInput(body, { path: paths.edits, headers: { 'content-type': formType } }));

function accept(request: ReturnType<typeof readJson>): InboundRequest {
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function refusal(request: ReturnType<typeof readJson>) {
  if (request.ok) throw new Error('the request was taken');
  return request.error;
}

type Field = readonly [head: string, value: string | Uint8Array];

function form(...fields: readonly Field[]): Uint8Array {
  const parts = fields.flatMap(([head, value]) => [
    encoder.encode(`--b\r\ncontent-disposition: form-data; name=${head}\r\n\r\n`),
    typeof value === 'string' ? encoder.encode(value) : value,
    encoder.encode('\r\n'),
  ]);
  return concatBytes([...parts, encoder.encode('--b--\r\n')]);
}

describe('facts', () => {
  test('of a generation', () => {
    const text = '{"model":"m","prompt":"a cat","n":3,"size":"1024x1024","quality":"high","stream":true}';
    expect(accept(readJson(text)).facts).toEqual({
      model: 'm',
      stream: true,
      maxOutputTokens: null,
      inputTokensEstimate: 2,
      choices: 3,
      needs: new Set(),
      makesImages: true,
      terms: { ...noTerms, size: '1024x1024', quality: 'high' },
    });
  });

  test('of an edit as a form', () => {
    const body = form(
      ['model', 'm'],
      ['prompt', 'a black cat!'],
      ['"image[]"; filename="a.png"', Uint8Array.of(1, 13, 10, 45, 98, 255)],
      ['"image[1]"; filename="b.png"', 'x'],
      ['"mask"; filename="m.png"', 'x'],
      ['n', '2'],
      ['stream', 'True'],
      ['quality', 'low'],
    );
    expect(accept(readForm(body)).facts).toMatchObject({
      model: 'm',
      stream: true,
      inputTokensEstimate: 3_003,
      choices: 2,
      needs: new Set(['image-input']),
      terms: { size: null, quality: 'low' },
    });
  });

  test.each([
    ['"images":[{"image_url":"x"},{"file_id":"y"}],"mask":{"file_id":"z"}', 3],
    ['"image":{"url":"x"}', 1],
    ['"images":[],"mask":null', 0],
  ])('of an edit as JSON with %s', (members, pictures) => {
    const { facts } = accept(readJson(`{"model":"m",${members}}`, paths.edits));
    expect(facts.inputTokensEstimate).toBe(pictures * 1_000);
    expect(facts.needs.has('image-input')).toBe(pictures > 0);
  });

  test.each([
    ['{"prompt":"x"}', 'model'],
    ['{"model":"m","model":"n"}', 'model'],
    ['{"model":"m","Model":"n"}', 'model'],
    ['{"model":"m","stream":"true"}', 'stream'],
    ['{"model":"m","n":0}', 'n'],
    ['{"model":"m","n":1.5}', 'n'],
    ['[]', null],
  ])('%s is refused for its %s', (text, param) => {
    expect(refusal(readJson(text))).toMatchObject({ code: 'invalid_request', param });
  });

  test.each<[Field[], string | null]>([
    [[['prompt', 'x']], 'model'],
    [[['model', '']], 'model'],
    [[['model; filename="m"', 'm']], 'model'],
    [
      [
        ['model', 'm'],
        ['model', 'n'],
      ],
      'model',
    ],
    [
      [
        ['model', 'm'],
        ['stream', 'yes'],
      ],
      'stream',
    ],
    [
      [
        ['model', 'm'],
        ['n', '0'],
      ],
      'n',
    ],
    [
      [
        ['model', 'm'],
        ['n', '1e2'],
      ],
      'n',
    ],
    [[['model', 'm'.repeat(2_000)]], 'model'],
    [
      [
        ['model', 'm'],
        ['"', 'x'],
      ],
      null,
    ],
  ])('a form with %j is refused for its %s', (fields, param) => {
    expect(refusal(readForm(form(...fields)))).toMatchObject({ code: 'invalid_request', param });
  });

  test('a form without a boundary is refused by the header that should name it', () => {
    const headers = { 'content-type': 'multipart/form-data' };
    const request = images.readRequest(requestInput(form(['model', 'm']), { path: paths.edits, headers }));
    expect(refusal(request)).toMatchObject({ param: 'content-type' });
  });
});

describe('what goes upstream', () => {
  const target = passthroughTarget('served', { path: '/images/{operation}' });

  test('has the path of what was asked for', () => {
    for (const [operation, path] of Object.entries(paths)) {
      const { path: upstream } = accept(readJson('{"model":"m"}', path)).passThrough(target);
      expect(upstream).toBe(`/images/${operation}`);
    }
  });

  test('goes to no upstream that does not edit', () => {
    const generatesOnly = passthroughTarget('served', { path: '/images/generations' });
    expect(accept(readJson('{"model":"m"}')).refuse?.(generatesOnly)).toBeNull();
    const edit = accept(readJson('{"model":"m"}', paths.edits));
    expect(edit.refuse?.(generatesOnly)).toMatchObject({ code: 'invalid_request' });
    expect(edit.refuse?.(target)).toBeNull();
  });

  const unknown = fc.tuple(
    keyText.filter((key) => !requestMembers.some((name) => key.toLowerCase() === `"${name}"`)),
    valueText,
  );

  test('is the JSON that came, but for the alias', () => {
    const members = fc.array(unknown, { maxLength: 4 });
    const body = members.chain((all) => objectText([...all, ['"model"', '"alias"'], ['"prompt"', '"é"']]));
    fc.assert(
      fc.property(body, (text) => {
        const encoded = accept(readJson(text)).passThrough(target);
        expect(encoded).toMatchObject({ edits: ['model'], contentType: 'application/json' });
        expect(decoder.decode(concatBytes(encoded.body))).toBe(text.replace('"alias"', '"served"'));
      }),
    );
  });

  test('is the form that came, but for the alias, under the type that came', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(3), (file, place) => {
        const others: readonly Field[] = [
          ['prompt', 'alias'],
          ['"image"; filename="alias"', file],
          ['unheard_of', '1.0'],
        ];
        const fields = (model: string) => others.toSpliced(place, 0, ['model', model]);
        const encoded = accept(readForm(form(...fields('alias')))).passThrough(target);
        expect(encoded).toMatchObject({ edits: ['model'], contentType: formType });
        expect(concatBytes(encoded.body)).toEqual(form(...fields('served')));
      }),
    );
  });

  test.each(['{"model":"served","prompt":"x"}', null])(
    'is the same array when nothing needs to change',
    (text) => {
      const body = text === null ? form(['model', 'served']) : encoder.encode(text);
      const headers = text === null ? { 'content-type': formType } : {};
      const request = accept(images.readRequest(requestInput(body, { path: paths.edits, headers })));
      expect(request.passThrough(target).body[0]).toBe(body);
    },
  );
});

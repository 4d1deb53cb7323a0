import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formBoundary, isForm, readForm } from './multipart.ts';
import { concatBytes } from './splice.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const part = (head: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const end = '--b--\r\n';

function read(text: string, boundary = 'b') {
  const bytes = encoder.encode(text);
  const form = readForm(bytes, boundary);
  if (!form.ok) return form.problem;
  return form.parts.map(({ name, isFile, start, end: stop }) => [
    name,
    isFile,
    decoder.decode(bytes.subarray(start, stop)),
  ]);
}

describe('the boundary of a content type', () => {
  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['multipart/form-data; charset=utf-8; boundary="a b:c"', 'a b:c'],
    ['Multipart/Form-Data;boundary=----WebKitFormBoundaryX ', '----WebKitFormBoundaryX'],
    ['multipart/form-data', null],
    ['multipart/form-data; boundary=', null],
    ['multipart/form-data; boundary=a; boundary=b', null],
    ['multipart/form-data; boundary="a\u0001"', null],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, null],
    ['application/json; boundary=abc', null],
  ])('%j is %j', (type, boundary) => {
    expect(formBoundary(type)).toBe(boundary);
  });

  test('a form is one by its type alone', () => {
    expect([isForm('multipart/form-data'), isForm('multipart/form-datax'), isForm('text/plain')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('a form', () => {
  test('has its fields where they stand', () => {
    const text = [
      part('name="model"', 'gpt'),
      part('name="image[]"; filename="a.png"\r\nContent-Type: image/png', '\r\n--c\r--\n--a'),
      part('name=bare', ''),
      part('name="a \\"quoted\\" name"; filename*=utf-8\'\'x', 'é'),
      end,
    ].join('');
    expect(read(text)).toEqual([
      ['model', false, 'gpt'],
      ['image[]', true, '\r\n--c\r--\n--a'],
      ['bare', false, ''],
      ['a "quoted" name', true, 'é'],
    ]);
  });

  test.each([
    ['nothing', ''],
    ['no boundary', 'model=gpt'],
    ['a preamble', `hello\r\n${part('name="a"', 'x')}${end}`],
    ['no end', part('name="a"', 'x')],
    ['an end within a value', part('name="a"', 'x').slice(0, -1)],
    ['text behind a boundary', `--bc\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n${end}`],
    ['a boundary behind a line feed', part('name="a"', 'x\n--b\r\nfoo') + end],
    ['a boundary behind a carriage return', part('name="a"', 'x\r--b\r\nfoo') + end],
    [
      'a boundary within a head',
      `--b\r\nx: y\r\n--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n${end}`,
    ],
    ['a boundary in the place of a value', `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n--b--`],
    ['no disposition', `--b\r\ncontent-type: text/plain\r\n\r\nx\r\n${end}`],
    ['two dispositions', part('name="a"\r\ncontent-disposition: form-data; name="b"', 'x') + end],
    ['another disposition', `--b\r\ncontent-disposition: attachment; name="a"\r\n\r\nx\r\n${end}`],
    ['no name', part('filename="a"', 'x') + end],
    ['two names', part('name="a"; name="b"', 'x') + end],
    ['an encoded name', part("name*=utf-8''a", 'x') + end],
    ['a folded line', part('\r\n name="a"', 'x') + end],
    ['half a line end in a head', part('name="a"\nx: y', 'x') + end],
    ['rests of a disposition', part('name="a" b', 'x') + end],
    ['a head that is too long', part(`name="a"; x="${'y'.repeat(9_000)}"`, 'x') + end],
    ['too many parts', part('name="a"', 'x').repeat(257) + end],
  ])('with %s is refused', (_, text) => {
    expect(read(text)).toBeTypeOf('string');
  });

  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}(\[\d?\])?$/);
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('\r', '\n', '\r\n', '--', 'bou', 'x'), { maxLength: 12 })
      .map((all) => all.join('')),
  );

  // The platform's own parser is the oracle; it normalises nothing in values.
  test('is read as the platform reads it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, value, fc.boolean()), { minLength: 1, maxLength: 5 }),
        async (all) => {
          const pieces = all.flatMap(([field, text, isFile]) => {
            const head = `--bound\r\nContent-Disposition: form-data; name="${field}"${isFile ? '; filename="f"' : ''}`;
            return [
              encoder.encode(`${head}\r\n\r\n`),
              encoder.encode(text.toWellFormed()),
              encoder.encode('\r\n'),
            ];
          });
          const bytes = concatBytes([...pieces, encoder.encode('--bound--\r\n')]);
          const headers = { 'content-type': 'multipart/form-data; boundary=bound' };
          const oracle: (readonly [string, boolean, string])[] = [];
          for (const [field, entry] of await new Response(bytes, { headers }).formData()) {
            oracle.push([
              field,
              typeof entry !== 'string',
              typeof entry === 'string' ? entry : await entry.text(),
            ]);
          }
          const form = readForm(bytes, 'bound');
          const mine = (form.ok ? form.parts : []).map((each) => [
            each.name,
            each.isFile,
            decoder.decode(bytes.subarray(each.start, each.end)),
          ]);
          expect(mine).toEqual(oracle);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('takes time in proportion to its bytes, whatever they are', () => {
    const hostile = ['\r', '\n', '\n--', '\r\n--boundar', '-'].map((unit) =>
      unit.repeat(2_000_000 / unit.length),
    );
    for (const filler of hostile) {
      const text = `--boundary\r\ncontent-disposition: form-data; name="a"\r\n\r\n${filler}\r\n--boundary--`;
      const bytes = encoder.encode(text);
      const started = performance.now();
      expect(readForm(bytes, 'boundary').ok).toBe(true);
      expect(performance.now() - started).toBeLessThan(1_000);
    }
  });
});

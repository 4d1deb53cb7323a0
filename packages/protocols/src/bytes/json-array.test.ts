import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonArraySplitter } from './json-array.ts';
import { concatBytes } from './splice.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function split(chunks: readonly Uint8Array[], bytesMax = 1000) {
  const splitter = new JsonArraySplitter(bytesMax);
  const frames: Uint8Array[] = [];
  const isTaken = chunks.map((chunk) => splitter.push(chunk, (frame) => void frames.push(frame)));
  const texts = frames.map((frame) => decoder.decode(frame));
  return { texts, frames, rest: decoder.decode(splitter.rest()), isTaken };
}

const splitText = (text: string) => split([encoder.encode(text)]);

describe('frames', () => {
  test.each<readonly [string, readonly string[], string]>([
    ['[{"a":1}\n,\r\n{"b":[2,{}]}\n]', ['[{"a":1}', '\n,\r\n{"b":[2,{}]}'], '\n]'],
    [' [ {"a":"]}"} , {"b":"\\"}"} ] \n', [' [ {"a":"]}"}', ' , {"b":"\\"}"}'], ' ] \n'],
    ['[]', [], '[]'],
    ['[{"cut":"', [], '[{"cut":"'],
    ['{"error":{"code":500}}', [], '{"error":{"code":500}}'],
    ['[1,2]', [], '[1,2]'],
    ['<html>', [], '<html>'],
  ])('of %j', (text, texts, rest) => {
    expect(splitText(text)).toMatchObject({ texts, rest });
  });

  test('and the rest are the stream, however it is chunked', () => {
    const array = fc.array(
      fc.jsonValue().map((value) => ({ value })),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(array, fc.nat(4), fc.array(fc.nat(300), { maxLength: 6 }), (values, space, cuts) => {
        const bytes = encoder.encode(JSON.stringify(values, null, space));
        const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, bytes.length))])].sort((a, b) => a - b);
        const chunks = at.map((start, index) => bytes.subarray(start, at[index + 1] ?? bytes.length));
        const { frames, texts, rest } = split(chunks, 100_000);
        expect(concatBytes([...frames, encoder.encode(rest)])).toEqual(bytes);
        expect(texts.map((text): unknown => JSON.parse(text.replace(/^\s*[[,]/, '')))).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      }),
    );
  });

  test('are views of their chunk where they lie in one', () => {
    const chunk = encoder.encode('[{"a":1},{"b":2}');
    expect(split([chunk]).frames.every((frame) => frame.buffer === chunk.buffer)).toBe(true);
  });

  test('that grow too long are not waited for', () => {
    const chunks = ['[{"a":"', 'long', ' and longer"}', ',{"b":2}'].map((text) => encoder.encode(text));
    expect(split(chunks, 16)).toMatchObject({ texts: [], isTaken: [true, true, false, false] });
  });
});

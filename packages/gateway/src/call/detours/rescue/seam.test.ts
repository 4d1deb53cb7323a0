import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Continuation } from './continuation.ts';
import { firmPart, Seam, type SeamWay } from './seam.ts';

/** What is new of an answer that comes in pieces; null where it does not join. */
function joined(said: string, way: SeamWay, pieces: readonly string[]): string | null {
  const seam = new Seam(said, way);
  const text = pieces.map((piece) => seam.take(piece)).join('') + seam.end();
  return seam.hasFailed ? null : text;
}

const letters = 'The harbour was quiet. Nobody had seen the lamp go out, and nobody said so.';

describe('a model that is given the beginning', () => {
  test.each([
    ['goes on', 'The lamp', [' went', ' out.'], ' went out.'],
    ['leaves out the space that was said', 'The lamp ', ['went'], 'went'],
    ['says the space again', 'The lamp ', [' went'], 'went'],
    ['says a part of it again', 'if x:\n    ', ['\n', '    return'], 'return'],
    ['says another space', 'One. ', ['\n\nTwo.'], '\n\nTwo.'],
    ['begins anew', 'The harbour was quiet.', ['The harbour', ' was quiet. Then'], ' Then'],
    [
      'begins alike, and says something else',
      'The harbour was quiet.',
      ['The harbour', ' was loud.'],
      'The harbour was loud.',
    ],
    ['has nothing more to say', 'The lamp', [], ''],
    ['says the whole of half a character', 'A smile \ud83d', ['\ud83d\ude00!'], '\ude00!'],
  ])('%s', (_what, said, pieces, rest) => {
    expect(joined(said, 'given', pieces)).toBe(rest);
  });
});

describe('a model that is asked to go on', () => {
  test.each([
    ['repeats the last words', ['Nobody had seen the lamp go out, and nobody said so. Then'], ' Then'],
    ['repeats them after white space', ['\n\nand nobody said so. Then'], ' Then'],
    ['repeats all of it', [letters, ' Then'], ' Then'],
    ['repeats and has nothing more to say', ['and nobody said so.'], ''],
    ['says nothing', [], null],
    ['says nothing but white space', ['\n', ' '], null],
    ['does not repeat anything', [' Then a bell rang, somewhere.'], null],
    ['excuses itself', ['Sorry for the interruption! ', 'and nobody said so. Then'], null],
    ['repeats less than a few words', ['said so. Then a bell'], null],
    ['repeats words from the middle, and not on to the end', ['was quiet. Nobody came.'], null],
  ])('%s', (_what, pieces, rest) => {
    expect(joined(letters, 'asked', pieces)).toBe(rest);
  });

  test('joins the longest of several overlaps', () => {
    const said = 'tick tock tick tock tick tock';
    expect(joined(said, 'asked', ['tick tock tick tock', ' tick tock', ' boom'])).toBe(' boom');
  });
});

const words = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '😀', 'so it goes on '),
  maxLength: 40,
});

function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
}

test('whatever is repeated and however it is cut, the whole is said once', () => {
  fc.assert(
    fc.property(
      words,
      fc.uuid(),
      words,
      fc.nat(),
      fc.array(fc.nat(), { maxLength: 6 }),
      (start, mark, rest, back, cuts) => {
        // Something that has been said only once, so that there is one place to join at.
        const said = `${start}${mark}`;
        const repeated = said.slice(-(12 + (back % said.length)));
        const pieces = cut(`${repeated}${rest}`, cuts);
        expect(joined(said, 'asked', pieces)).toBe(rest);
      },
    ),
    { numRuns: 500 },
  );
});

test('the end of the words is found at once, however many spaces stand in their midst', () => {
  const words = `a${' '.repeat(200_000)}b`;
  const before = performance.now();
  expect(firmPart(`${words} \n`)).toBe(words);
  expect(performance.now() - before).toBeLessThan(500);
});

test('the words that are sent end in a whole character that is no space', () => {
  expect(['a \n', 'a\ud83d', 'a😀', ' ', ''].map(firmPart)).toEqual(['a', 'a', 'a😀', '', '']);
});

describe('a text that stops an answer', () => {
  test('stops it across the seam', () => {
    const text = new Continuation('one two EN', 'given', ['END', 'never']);
    expect(text.take('D of it') + text.take(' all')).toBe('');
    expect(text.stoppedBy).toBe('END');
    expect([text.produced, text.delivered]).toEqual([11, 0]);
  });

  test('and nothing else does', () => {
    const text = new Continuation('END two EN', 'given', ['END']);
    expect(text.take(' D') + text.take(' END')).toBe(' D END');
    expect(text.stoppedBy).toBeNull();
  });
});

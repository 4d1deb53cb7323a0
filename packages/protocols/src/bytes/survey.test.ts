import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DelimiterSearch } from './multipart.ts';
import { JsonReader } from './scan.ts';
import { JsonSurvey } from './survey.ts';

const encoder = new TextEncoder();

function surveyed(bytes: Uint8Array): JsonSurvey {
  const survey = new JsonSurvey(bytes);
  while (survey.step());
  return survey;
}

/** Where the members of the outermost object end, or why they cannot be read. */
function readWith(bytes: Uint8Array, { longTexts }: Pick<JsonSurvey, 'longTexts'>): unknown {
  return walk(new JsonReader(bytes, 0, longTexts));
}

function walk(reader: JsonReader): unknown {
  const ends: number[] = [];
  if (reader.enterObject()) while (reader.nextMember()) ends.push(reader.skip());
  reader.isAtEnd();
  return { ends, failure: reader.failure };
}

const texts = fc
  .tuple(
    fc.constantFrom('x', '\\"', '\\\\', '\\n', 'é', ' ', 'ab"'.slice(0, 2)),
    fc.integer({ min: 0, max: 700_000 }),
  )
  .map(([each, bytes]) => each.repeat(Math.floor(bytes / each.length)));

test('what is known of long texts changes nothing of how a body is read', () => {
  const bodies = fc.array(
    fc.tuple(texts, fc.constantFrom('"$"', '["$"]', '{"a":[1,{"b":"$"}]}', '"$', '"$\\')),
    {
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(bodies, (members) => {
      const written = members.map(([text, shape], n) => `"m${n}":${shape.replace('$', () => text)}`);
      const bytes = encoder.encode(`{${written.join()}}`);
      expect(readWith(bytes, surveyed(bytes))).toEqual(walk(new JsonReader(bytes)));
    }),
    { numRuns: 60 },
  );
});

test('a string that ends at the end of a slice, or an escape across it, is read as any other', () => {
  for (let shift = -3; shift <= 3; shift++) {
    for (const end of ['', '\\"', '\\\\', '\\\\\\"']) {
      const long = 'x'.repeat(256 * 1024 + shift - 6 - end.length);
      const bytes = encoder.encode(`{"a":"${long}${end}","b":["${long}${end}${long}"]}`);
      expect(readWith(bytes, surveyed(bytes))).toEqual(walk(new JsonReader(bytes)));
    }
  }
});

test('a body of thirty megabytes in small pieces is known to be too much after eight', () => {
  const bytes = encoder.encode(`{"a":[${'"ab",'.repeat(6_000_000)}1]}`);
  const survey = new JsonSurvey(bytes);
  let steps = 1;
  while (survey.step()) steps++;
  expect(survey.longTexts.isCrumbled).toBe(true);
  expect(steps).toBeLessThan(40);
});

test('a body of pictures, and of many texts of a page each, is none of small pieces', () => {
  const picture = encoder.encode(`{"a":"${'iVBORw0K'.repeat(2_000_000)}"}`);
  expect(surveyed(picture).longTexts.isCrumbled).toBe(false);
  const pages = encoder.encode(
    `{"a":[${Array.from({ length: 5_000 }, () => `"${'word '.repeat(600)}"`).join()}]}`,
  );
  expect(surveyed(pages).longTexts.isCrumbled).toBe(false);
});

test('the delimiters of a form are the same however many bytes a step looks at', () => {
  const boundary = 'aab';
  const parts = fc.array(fc.constantFrom('\r\n--aab', '\n--aa', '--aab', 'a', 'b', '-', '\r\n', '\n'), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 300 }), (pieces, count) => {
      const bytes = encoder.encode(`--aab\r\n${pieces.join('')}`);
      const whole = new DelimiterSearch(bytes, boundary);
      whole.step(bytes.length);
      const stepped = new DelimiterSearch(bytes, boundary);
      while (stepped.step(count));
      expect([stepped.found, stepped.hasHalfLineEnd]).toEqual([whole.found, whole.hasHalfLineEnd]);
    }),
  );
});

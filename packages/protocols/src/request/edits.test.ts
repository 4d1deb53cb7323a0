import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonReader } from '../bytes/scan.ts';
import { concatBytes, splice } from '../bytes/splice.ts';
import { type ElementSpan, leaveOut } from './edits.ts';

test('what is left of a list is a list of what was kept, byte for byte', () => {
  const element = fc.record({
    value: fc.jsonValue({ maxDepth: 1 }),
    isLeftOut: fc.boolean(),
    space: fc.constantFrom('', ' ', '\n  '),
  });
  fc.assert(
    fc.property(fc.array(element), (list) => {
      const text = `[${list.map(({ value, space }) => `${space}${JSON.stringify(value)}${space}`).join(',')}]`;
      const bytes = new TextEncoder().encode(text);
      const edits = leaveOut(
        'x',
        spansOf(
          bytes,
          list.map(({ isLeftOut }) => isLeftOut),
        ),
      );
      const left = new TextDecoder().decode(concatBytes([...splice(bytes, edits)]));
      const kept = list.filter(({ isLeftOut }) => !isLeftOut).map(({ value }) => JSON.stringify(value));
      expect(JSON.stringify(JSON.parse(left))).toBe(`[${kept.join(',')}]`);
      if (kept.length === list.length) expect(left).toBe(text);
    }),
  );
});

function spansOf(bytes: Uint8Array, leftOut: readonly boolean[]): readonly ElementSpan[] {
  const spans: ElementSpan[] = [];
  const reader = new JsonReader(bytes);
  reader.enterArray();
  while (reader.nextElement())
    spans.push({ start: reader.at, end: reader.skip(), isLeftOut: leftOut[spans.length] === true });
  return spans;
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { protocols } from './protocols.ts';
import { readRefusal } from './refusal.ts';
import { type AtFault, faultOfKind, refusalTexts } from './refusal-corpus.fixture.ts';

const encoder = new TextEncoder();
const cases = refusalTexts.map(
  (text) =>
    [
      `${text.vendor}, ${text.protocol}: ${text.status} ${JSON.stringify(text.body).slice(0, 90)}`,
      text,
    ] as const,
);

test('the corpus is of sixty texts and twelve vendors, and each verdict is among those of each family', () => {
  const vendors = new Set(refusalTexts.map(({ vendor }) => vendor));
  expect([refusalTexts.length >= 60, vendors.size >= 12]).toEqual([true, true]);
  for (const protocol of ['chat-completions', 'messages', 'generate-content'] as const) {
    const verdicts = refusalTexts.filter((text) => text.protocol === protocol).map(({ fault }) => fault);
    const wanted: readonly AtFault[] = ['request', 'model', 'feature', 'credential', 'channel'];
    expect([protocol, wanted.filter((fault) => !verdicts.includes(fault))]).toEqual([protocol, []]);
  }
});

test.each(cases)('%s', (_, { protocol, status, body, fault }) => {
  const bytes = encoder.encode(typeof body === 'string' ? body : JSON.stringify(body));
  const { kind } = protocols[protocol].readRefusal(status, bytes);
  expect([kind, faultOfKind[kind]]).toEqual([kind, fault]);
});

/** Any units of UTF-16, halves of pairs among them, about as long as what is kept of a message. */
const anyUnits = fc
  .tuple(
    fc.nat({ max: 4 }),
    fc.array(fc.constantFrom('a', '\u{1F600}', '\ud83d', '\ude00', '\n', '"'), { maxLength: 30 }),
  )
  .map(([before, units]) => `${'x'.repeat(1_996 + before)}${units.join('')}`);

test('the words that are kept of a refusal are whole, whatever it says', () => {
  fc.assert(
    fc.property(anyUnits, (words) => {
      const error = { message: words, type: words, code: words, param: words };
      const { message, type, code, param } = readRefusal(400, encoder.encode(JSON.stringify({ error })));
      for (const kept of [message, type, code, param]) expect((kept ?? '').isWellFormed()).toBe(true);
    }),
  );
});

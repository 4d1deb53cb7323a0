import { fault } from '@headgate/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelNotFound } from '../catalogue/catalogue.ts';
import { lineColumns, writeEntry } from '../store/columns.ts';
import { sampleAttempt, sampleEntry } from '../store/contract/samples.ts';
import { readLine } from '../store/lines.ts';
import { quoteLogText } from '../telemetry/logger.ts';
import { faultHeaders, lossNames, streamHeaders } from './reply.ts';

/** Names as callers may write them: halves of pairs, controls, texts of any length. */
const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc
    .array(fc.constantFrom('\ud83d', '\ude00', '😀', 'x'.repeat(99), '\r\n', '"', '\u2028'), { maxLength: 8 })
    .map((pieces) => pieces.join('')),
);

test('a name in losses never breaks a head', () => {
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 5 }), (fields) => {
      const losses = fields.map((field) => ({ field, action: 'dropped', note: '' }) as const);
      const headers = streamHeaders('text/event-stream', 'sse', 1, losses);
      for (const text of headers) expect(text).toMatch(/^[\x20-\x7e]*$/);
    }),
  );
});

test('names in losses are so many and so long, in an entry as in a head', () => {
  const fields = Array.from({ length: 500 }, (_, at) => `${at}`.padEnd(100_000, '😀'));
  const losses = fields.map((field) => ({ field, action: 'dropped', note: '' }) as const);
  const names = lossNames(losses);
  expect(names).toHaveLength(40);
  for (const name of names) {
    expect(name.length).toBeLessThanOrEqual(200);
    expect(name.isWellFormed()).toBe(true);
  }
  const heads = streamHeaders('text/event-stream', 'sse', 1, losses);
  const head = heads[heads.indexOf('x-headgate-losses') + 1] ?? '';
  expect(head.length).toBeLessThanOrEqual(2048);
  expect(head).toMatch(/, and \d+ more$/);
  const [told, left] = [head.split(', ').slice(0, -1), Number(/(\d+) more$/.exec(head)?.[1])];
  expect(told).toEqual(names.slice(0, told.length).map((name) => encodeURIComponent(name)));
  expect(told.length + left).toBe(500);
  const few = streamHeaders('text/event-stream', 'sse', 1, losses.slice(0, 1));
  expect(few).toContain(encodeURIComponent(names[0] ?? ''));
});

test('a name in an error, a log line or an entry is a whole text', () => {
  fc.assert(
    fc.property(odd, (name) => {
      const { message, param } = modelNotFound(name, `tools[0].${name}`);
      expect(message.isWellFormed() && (param ?? '').isWellFormed()).toBe(true);
      expect(faultHeaders(fault('invalid_request', { message: name, param: name }))).toContain(
        'content-type',
      );
      expect(String(JSON.parse(quoteLogText(name, 10))).isWellFormed()).toBe(true);
      const entry = sampleEntry({
        modelRequested: name,
        userAgent: name,
        losses: [name],
        attempts: [sampleAttempt({ detail: name })],
      });
      const { cells } = readLine(writeEntry(entry), lineColumns);
      for (const cell of cells) if (typeof cell === 'string') expect(cell.isWellFormed()).toBe(true);
    }),
  );
});

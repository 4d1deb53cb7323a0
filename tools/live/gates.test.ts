import { expect, test } from 'vitest';
import type { PhaseFigures } from './figures.ts';
import { brokenGates, brokenOnStatus } from './gates.ts';

const well: PhaseFigures = {
  phase: 'hang',
  calls: 1000,
  answered: 1000,
  rescued: 0,
  cut: 0,
  failed: 0,
  ttftP50Ms: 100,
  ttftP99Ms: 6000,
  wholeP99Ms: null,
  attempts: 1000,
  attemptsAtHit: 0,
  costUsdMicro: 1,
};

test.each([
  ['all well', [well], []],
  ['one in a thousand failed', [{ ...well, answered: 999, failed: 1 }], []],
  ['two in a thousand failed', [{ ...well, answered: 998, failed: 2 }], [/^hang: 99\.80 %/]],
  ['half broke off after content, and was rescued', [{ ...well, rescued: 500 }], []],
  [
    'some of those that broke off were not rescued',
    [{ ...well, answered: 900, rescued: 900, cut: 100 }],
    [/^90\.00 % of streams that broke off/],
  ],
  ['slow in the hang', [{ ...well, ttftP99Ms: 6001 }], [/^hang: TTFT p99 is 6001 ms/]],
  ['no stream began in the hang', [{ ...well, ttftP99Ms: null }], [/^hang: TTFT p99/]],
  ['slow in another incident', [well, { ...well, phase: 'steady', ttftP99Ms: 9000 }], []],
])('%s', (_, phases, broken) => {
  const found = brokenGates(phases, []);
  expect(found).toHaveLength(broken.length);
  for (const [place, pattern] of broken.entries()) expect(found[place]).toMatch(pattern);
});

test('what the ledger gets wrong breaks a gate', () => {
  expect(brokenGates([well], ['live-1 has no entry'])).toEqual([
    'the ledger does not fit what callers saw, 1 times',
  ]);
});

test('an outage of a model, or of a channel that was not hit, on the status page breaks a gate', () => {
  const span = (subject: string, worst: 'degraded' | 'partial' | 'outage') => ({
    subject,
    worst,
    fromCell: 7,
    toCell: 9,
  });
  const spans = [
    span('model m', 'degraded'),
    span('channel hit', 'outage'),
    span('channel other', 'degraded'),
  ];
  expect(brokenOnStatus(spans, new Set(['hit']))).toEqual([]);
  expect(brokenOnStatus([...spans, span('model m', 'partial')], new Set(['hit', 'm']))).toEqual([
    'the status page tells of partial of model m from cell 7 on',
  ]);
  expect(brokenOnStatus(spans, new Set())).toEqual([
    'the status page tells of outage of channel hit from cell 7 on',
  ]);
});

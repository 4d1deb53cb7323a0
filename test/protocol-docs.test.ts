import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  foreignWords,
  type Outcome,
  outcomeOf,
  targetKinds,
} from '../tools/generate/protocol-docs/outcome.ts';
import {
  type Probe,
  type ProbeGroup,
  type ProbeSheet,
  probe,
  type SurfaceId,
} from '../tools/generate/protocol-docs/probe.ts';
import { sheets, upstreamsOf } from '../tools/generate/protocol-docs/sheets.ts';
import { protocolPages } from '../tools/generate/protocol-docs.ts';

const overview = pageAt('README.md');

function pageAt(name: string): string {
  return readFileSync(new URL(`../docs/protocols/${name}`, import.meta.url), 'utf8');
}

test.each(protocolPages(overview))(
  'docs/protocols/$name is up to date (node tools/generate/protocol-docs.ts)',
  ({ name, markdown }) => {
    expect(pageAt(name)).toBe(markdown);
  },
);

const pairs = sheets.flatMap((sheet) => upstreamsOf(sheet).map((upstream) => ({ sheet, upstream })));

describe.each(pairs)('from $sheet.surface to $upstream', ({ sheet, upstream }) => {
  const probed = probesOf(sheet).flatMap(([group, one]) =>
    targetKinds(upstream).map(({ name, target }) => {
      const outcome = outcomeOf(sheet, group, one, upstream, target);
      return { group, one, outcome, title: `${one.member} ${one.value} (${name})` };
    }),
  );

  test('nothing is lost without a word', () => {
    const lost = probed.filter(({ one, outcome }) => outcome.kind === 'silent' && one.here === null);
    expect(lost.map(({ title }) => title)).toEqual([]);
  });

  test('what is told of losses is in the words of the caller', () => {
    const foreign = probed.flatMap(({ group, one, outcome, title }) =>
      foreignWords(sheet, group, one, outcome).map((field) => `${title}: ${field}`),
    );
    expect(foreign).toEqual([]);
  });
});

test('what is said to ask nothing of an upstream does so somewhere', () => {
  const wrong = sheets.flatMap((sheet) =>
    probesOf(sheet)
      .filter(([group, one]) => one.here !== null && !everywhere(sheet, group, one).includes('silent'))
      .map(([, { member, value }]) => `${sheet.surface}: ${member} ${value}`),
  );
  expect(wrong).toEqual([]);
});

test('a value that goes nowhere is noticed', () => {
  const [sheet] = sheets;
  if (sheet === undefined) throw new Error('there are no sheets');
  const group = { heading: '', probes: [] };
  // The public name of a model is not told to an upstream.
  expect(everywhere(sheet, group, probe('model', { model: 'canary' }))).toEqual(
    expect.arrayContaining(['silent']),
  );
});

function probesOf({ groups }: ProbeSheet): readonly (readonly [ProbeGroup, Probe])[] {
  return groups.flatMap((group) => group.probes.map((one) => [group, one] as const));
}

function everywhere(sheet: ProbeSheet, group: ProbeGroup, one: Probe): readonly Outcome['kind'][] {
  return upstreamsOf(sheet).flatMap((upstream: SurfaceId) =>
    targetKinds(upstream).map(({ target }) => outcomeOf(sheet, group, one, upstream, target).kind),
  );
}

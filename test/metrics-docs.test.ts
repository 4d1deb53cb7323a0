import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { alerts, type Family, metricFamilies, withMetricTables } from '../tools/generate/metrics-docs.ts';

const page = readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8');
const file = readFileSync(new URL('../docs/prometheus-rules.yml', import.meta.url), 'utf8');
const rulesFile = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ summary: z.string() }) }),
      ),
    }),
  ),
});

test('docs/metrics.md is up to date (node tools/generate/metrics-docs.ts)', async () => {
  expect(withMetricTables(page, await metricFamilies())).toBe(page);
});

test('a page without its markers is refused', () => {
  expect(() => withMetricTables('# Metrics', [])).toThrow('markers');
});

test('every labelled metric was seen with its labels', async () => {
  const families = await metricFamilies();
  const bare = families.filter(
    ({ name, labels }) =>
      /^headgate_(?!calls_in_flight|held_bytes|ledger_)/.test(name) && labels.length === 0,
  );
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test('docs/prometheus-rules.yml asks for metrics, labels and alerts that exist', async () => {
  const families = new Map((await metricFamilies()).map((family) => [family.name, family]));
  const rules = rulesFile.parse(parse(file)).groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  expect(rules.flatMap(({ expr }) => wrongIn(expr, families))).toEqual([]);
  const kinds = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/kind=~?"([^"]+)"/g)].flatMap(([, words = '']) => words.split('|')),
  );
  expect(kinds.filter((kind) => !(kind in alerts))).toEqual([]);
  expect(wrongIn('rate(headgate_calls_total{colour="red"}[5m]) + headgate_nothing', families)).toHaveLength(
    2,
  );
});

/** Metrics that do not exist, and labels that theirs do not have. */
function wrongIn(expr: string, families: ReadonlyMap<string, Family>): readonly string[] {
  return [...expr.matchAll(/\b(headgate_\w+)(?:\{([^}]*)\})?/g)].flatMap(
    ([whole, name = '', labels = '']) => {
      const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
      const asked = [...labels.matchAll(/(\w+)[=!]/g)].map(([, label = '']) => label);
      return family === undefined || asked.some((label) => !family.labels.includes(label)) ? [whole] : [];
    },
  );
}

import { readFileSync } from 'node:fs';
import {
  defaultDialect,
  feeMembers,
  mergeTerms,
  noTerms,
  type ProtocolId,
  protocols,
} from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { accountFields } from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import { multipliersFinder } from '../catalogue/multipliers.ts';
import { readConfigurationFile } from '../config/configuration-file.ts';
import { environmentOf } from '../config.ts';
import { meter } from '../money/meter.ts';
import { formatNanoUsd, parseDecimal } from '../money/money.ts';
import { priceUsage } from '../money/price.ts';
import { priceClassNames } from '../money/price-terms.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { declareFile } from './declare/declare-file.ts';

const page = readFileSync(new URL('../../../../docs/billing.md', import.meta.url), 'utf8');

const tools = {
  catalogue: openCatalogueFiles(),
  environment: environmentOf({ OPENAI_API_KEY: 'a' }),
  hashKey: (key: string) => key,
  olderHashes: () => [],
  fingerprints: [],
  nowMs: 0,
};

interface Example {
  readonly protocol: ProtocolId;
  readonly multiplier?: string;
  /** Per cent that the account pays less. */
  readonly discount?: string;
  readonly answer: object;
}

function tiersOf(yaml: string) {
  const indented = yaml.replaceAll(/^/gm, '    ');
  const text = `channels: { c: { provider: openai, models: [example] } }\nprices:\n  example:\n${indented}`;
  const file = readConfigurationFile(text, 'example.yaml');
  const read = file.ok ? declareFile(file.value, tools) : file;
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const price = read.value.models[0]?.price ?? null;
  if (price === null) throw new Error('the example declares no price');
  return price;
}

function chargeOf(yaml: string, { protocol, multiplier = '1', discount = '0', answer }: Example): string {
  const body = new TextEncoder().encode(JSON.stringify(answer));
  const read = protocols[protocol].readAnswer(body, defaultDialect);
  const ppm = parseDecimal(multiplier, 6);
  if (read.kind === 'refusal' || !ppm.ok) throw new Error('the example is no answer');
  const { terms = noTerms } = read.reading;
  const { usage } = meter(read.reading, { inputTokensEstimate: 0, outputTokensMax: null });
  const version = { id: 'example', effectiveFromMs: 0, tiers: tiersOf(yaml) };
  const account = { id: 'a', ...declare(accountFields, 'a', { discount }) };
  const factor = multipliersFinder([account]).find('a', ppm.value)?.usualPpm ?? ppm.value;
  return formatNanoUsd(priceUsage(usage, version, factor, mergeTerms(terms, noTerms)));
}

const examples = [...page.matchAll(/```yaml\n([^`]+)```\n\n```json\n([^`]+)```\n\n.*\*\*\$([\d.]+)\*\*/g)];

describe('what docs/billing.md says a price depends on', () => {
  test.each(examples.map(([, yaml = '', json = '', charge = '']) => [charge, yaml, json]))(
    'an example costs $%s',
    (charge, yaml, json) => {
      // The example's shape is the page's.
      expect(chargeOf(yaml, JSON.parse(json) as Example)).toBe(charge);
    },
  );

  test('there are examples', () => {
    expect(examples.length).toBeGreaterThanOrEqual(7);
  });

  test('names every class of prices and every member that counts a fee', () => {
    const known = ['input', 'output', ...priceClassNames].filter(
      (name) => !page.includes(`\`${name}\``) && !page.includes(`${name}:`),
    );
    expect(known).toEqual([]);
    const members = Object.values(feeMembers)
      .flat(2)
      .map((path) => path.split('.').at(-1));
    expect(members.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

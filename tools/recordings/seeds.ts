import { readdirSync, readFileSync } from 'node:fs';
import type { PricePage } from '../../packages/gateway/src/money/independent-calculator.fixture.ts';
import type { PriceVersion } from '../../packages/gateway/src/money/price.ts';
import { readPriceTiers } from '../../packages/gateway/src/money/price-terms.ts';

/** A price as the page has it, and as we read it. */
export interface PricedPage {
  readonly page: PricePage;
  readonly version: PriceVersion;
}

const folder = new URL('../../catalogue/prices/', import.meta.url);

interface SeedFile {
  readonly models: Readonly<Record<string, SeedModel>>;
}

interface SeedModel {
  readonly equals: readonly string[];
  readonly versions: readonly { readonly from: string | null; readonly tiers: PricePage }[];
}

/** The newest seeded price of every name that a file of the catalogue has, read without our own reader of lists. */
export function readSeeds(): ReadonlyMap<string, PricedPage> {
  const seeds = new Map<string, PricedPage>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    // The generator of prices has written it.
    const { models } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as SeedFile;
    for (const [id, { equals, versions }] of Object.entries(models)) {
      const page = versions.at(-1)?.tiers;
      const tiers = page === undefined ? null : readPriceTiers(page);
      if (page === undefined || tiers?.ok !== true) throw new Error(`${file} has no price of ${id}`);
      const priced = { page, version: { id, effectiveFromMs: 0, tiers: tiers.value } };
      for (const name of [id, ...equals]) if (!seeds.has(name)) seeds.set(name, priced);
    }
  }
  return seeds;
}

/** The seeded price of a model by the name that an answer has for it, with the date behind it or without. */
export function seedOf(seeds: ReadonlyMap<string, PricedPage>, name: string): PricedPage | null {
  return seeds.get(name) ?? seeds.get(name.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')) ?? null;
}

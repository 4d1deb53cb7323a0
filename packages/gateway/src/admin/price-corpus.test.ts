import { readdirSync, readFileSync } from 'node:fs';
import { defaultDialect, mergeTerms, noTerms, noUsage, protocols, type Usage } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { calculate, type PricePage } from '../money/independent-calculator.fixture.ts';
import { meter } from '../money/meter.ts';
import { type PriceVersion, priceUsage } from '../money/price.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { describeModel } from './declare/declare-models.ts';
import { corpusModels } from './model-corpus.fixture.ts';
import { type PricedCall, pricedCalls } from './price-corpus.fixture.ts';

/*
 * Every call of the corpus, charged at the list price of every model of it. The prices are read a second time from the files, the
 * charge is worked out a second time, and what a call means is said beside it.
 */

const nowMs = Date.UTC(2026, 10, 22);
const files = openCatalogueFiles();
const folder = new URL('../../../../catalogue/prices/', import.meta.url);

interface RawModel {
  readonly equals: readonly string[];
  readonly versions: readonly { readonly from: string | null; readonly tiers: PricePage }[];
}

/** The page of a model as the file of its vendor has it; null where its vendor has no list. */
function pageOf([vendor, name]: readonly [string, string]): PricePage | null {
  if (!readdirSync(folder).includes(`${vendor}.json`)) return null;
  const { models } = JSON.parse(readFileSync(new URL(`${vendor}.json`, folder), 'utf8')) as {
    readonly models: Readonly<Record<string, RawModel>>;
  };
  const found = models[name] ?? Object.values(models).find(({ equals }) => equals.includes(name));
  const begun = found?.versions.filter(({ from }) => from === null || Date.parse(from) <= nowMs);
  return begun?.at(-1)?.tiers ?? null;
}

const imageModels = [
  ['openai', 'gpt-image-1'],
  ['openai', 'gpt-image-1-mini'],
  ['openai', 'gpt-image-1.5'],
  ['openai', 'gpt-image-2'],
  ['xai', 'grok-imagine-image'],
  ['xai', 'grok-imagine-image-2.0'],
  ['google', 'imagen-3.0-generate-001'],
] as const;

const pages = [...corpusModels, ...imageModels].flatMap((model) => {
  const page = pageOf(model);
  return page === null ? [] : [{ model, page, version: listPrice(model[1]) }];
});

/** The sale price of a model nobody has written a price for, as a configuration is given it. */
function listPrice(name: string): PriceVersion | null {
  const { price } = describeModel(name, {}, files, nowMs);
  return price === null ? null : { id: name, effectiveFromMs: 0, tiers: price };
}

const encoder = new TextEncoder();
const bytes = (value: object) => encoder.encode(JSON.stringify(value));

/** What we charge for a call at a price. */
function charged({ surface, request, answer }: PricedCall, version: PriceVersion): bigint {
  const protocol = protocols[surface];
  const read = protocol.readRequest({
    work: 'answer',
    body: bytes(request),
    header: () => undefined,
    path: '/v1/images/generations',
    params: { model: 'm', action: 'generateContent' },
    search: '',
  });
  const answered = protocol.readAnswer(bytes(answer), defaultDialect);
  if (!read.ok || answered.kind !== 'answer')
    throw new Error(`it cannot be read: ${JSON.stringify(request)}`);
  const { inputTokensEstimate, terms: asked = noTerms } = read.value.facts;
  const { usage } = meter(answered.reading, { inputTokensEstimate, outputTokensMax: null });
  return priceUsage(usage, version, 1_000_000n, mergeTerms(answered.reading.terms ?? noTerms, asked), null);
}

/** The pieces alone, where nobody counted tokens: what is estimated then is no vendor's word. */
function isByPiece(page: PricePage): boolean {
  return page[0]?.prices.perImage !== undefined;
}

test.each(['chat-completions', 'responses', 'messages', 'generate-content', 'images'] as const)(
  'a hundred calls of %s cost what the record of each model says',
  (surface) => {
    const calls = pricedCalls.filter((call) => call.surface === surface);
    console.log(`${calls.length} calls of ${surface}`);
    expect(new Set(calls.map(({ request, answer }) => JSON.stringify([request, answer]))).size).toBe(
      calls.length,
    );
    expect(calls.length).toBeGreaterThanOrEqual(100);
    const makesImages = new Set<string>(imageModels.map(([, name]) => name));
    const asked = pages.filter(({ model }) => makesImages.has(model[1]) === (surface === 'images'));
    const complaints = asked.flatMap(({ model, page, version }) => {
      if (version === null) return [`${model[1]} has no price`];
      return calls.flatMap((call) => {
        const used: Usage = { ...noUsage, ...call.usage };
        if (surface === 'images' && !isByPiece(page) && used.outputImage === 0) return [];
        const [ours, theirs] = [
          charged(call, version),
          calculate(page, used, '1', { ...noTerms, ...call.terms }),
        ];
        return ours === theirs
          ? []
          : [`${model[1]} ${JSON.stringify(call)}: charged ${ours}, its record says ${theirs}`];
      });
    });
    expect(complaints.slice(0, 10), `${complaints.length} in all`).toEqual([]);
  },
);

test('the records are of well-known models of many vendors', () => {
  const vendors = new Set(pages.map(({ model }) => model[0]));
  console.log(`${pages.length} price pages of ${vendors.size} vendors`);
  expect(pages.length).toBeGreaterThanOrEqual(25);
  expect(vendors.size).toBeGreaterThanOrEqual(6);
});

test('a service tier that is asked for by name is known by its member', () => {
  const missed = pricedCalls.filter(({ surface, request, asked }) => {
    const read = protocols[surface].readRequest({
      work: 'answer',
      body: bytes(request),
      header: () => undefined,
      path: '/v1/images/generations',
      params: { model: 'm', action: 'generateContent' },
      search: '',
    });
    const asks = read.ok ? (read.value.asks?.() ?? []) : [];
    return asks.some(({ term }) => term === 'service') !== (asked !== null);
  });
  expect(missed.map(({ request }) => request)).toEqual([]);
});

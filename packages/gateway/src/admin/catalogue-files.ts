import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ModelBook } from '../catalogue/model-facts.ts';
import { PriceBook, type PriceFile, PriceList } from '../catalogue/price-book.ts';
import { type ProviderDocument, providerDocument } from '../config/provider-document.ts';
import { modelBooks } from './model-files.ts';

/**
 * The provider rows and price seeds that come with Headgate, read when first asked for: a start needs a handful of
 * them. A damaged file throws, because the files are ours and a test reads every one.
 */
export interface CatalogueFiles {
  /** Ids of all providers, in order. */
  readonly providerIds: readonly string[];
  /** A provider by its id, or null when there is none. */
  provider(id: string): ProviderDocument | null;
  /** Providers that a set environment variable is enough for. */
  automaticProviders(): readonly ProviderDocument[];
  /** Finds the prices of a provider by the name of their list; empty when there is no such list. */
  priceList(name: string): PriceList;
  /** All lists together. */
  prices(): PriceBook;
  /** Reads every file before it is asked for, with a pause after each: calls go on meanwhile. */
  warm(pause: () => Promise<unknown>): Promise<void>;
  /** All that is known of models; another book when an operator has taken in newer files. */
  models(): ModelBook;
}

/** Opens the catalogue of this repository, and what an operator has added to it in a data directory. */
export function openCatalogueFiles(
  dataDir: string | null = null,
  directory = new URL('../../../../catalogue/', import.meta.url),
): CatalogueFiles {
  const root = fileURLToPath(directory);
  const providerText = (id: string): string => readFileSync(`${root}providers/${id}.json`, 'utf8');
  const providerIds = listNames(`${root}providers`);
  const known = new Set(providerIds);
  const priceList = remembered((name: string) => readPrices(`${root}prices`, name));
  let book: PriceBook | null = null;
  const priceNames = listNames(`${root}prices`);
  const provider = remembered((id: string) => (known.has(id) ? parseProvider(providerText(id), id) : null));
  const prices = (): PriceBook => {
    book ??= new PriceBook(priceNames.map(priceList));
    return book;
  };
  return {
    providerIds,
    provider,
    warm: async (pause) => {
      for (const name of priceNames) await pause().then(() => priceList(name));
      for (const _ of prices().prepared()) await pause();
      for (const id of providerIds) await pause().then(() => provider(id));
    },
    // Looking at the text first spares a start the parsing of more than a hundred rows that it has no use for.
    automaticProviders: () =>
      providerIds
        .filter((id) => providerText(id).includes('"automatic": true'))
        .map(provider)
        .filter((found) => found !== null),
    priceList,
    prices,
    models: modelBooks(dataDir),
  };
}

function remembered<Value>(read: (id: string) => Value): (id: string) => Value {
  const values = new Map<string, Value>();
  return (id) => {
    const value = values.get(id) ?? read(id);
    values.set(id, value);
    return value;
  };
}

function parseProvider(json: string, id: string): ProviderDocument {
  const read = providerDocument.safeParse(JSON.parse(json));
  if (!read.success) throw new Error(`catalogue/providers/${id}.json is damaged: ${read.error.message}`);
  return read.data;
}

/** The names of the files of a folder, in order. */
function listNames(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
}

const nothing: PriceFile = { sources: {}, vendor: false, models: {} };

function readPrices(folder: string, name: string): PriceList {
  const path = `${folder}/${name}.json`;
  // Written by tools/generate/prices.ts and held to its shape by a test.
  return new PriceList(
    name,
    existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as PriceFile) : nothing,
  );
}

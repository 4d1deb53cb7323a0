import { fail, type Result, succeed } from '@headgate/protocols';
import { plainSource } from '../config/plain-source.ts';
import { readPriceObject } from '../config/price-sheet.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { OperatorPrice } from '../ports/configuration-store.ts';
import {
  isKnown,
  type PricePlace,
  type PriceTools,
  readOperatorPrices,
  removalOf,
} from './operator-prices.ts';
import type { FieldMistake } from './piecewise.ts';
import { readPriceFile } from './price-file.ts';
import { listedPrice } from './set-prices.ts';

/** Mistakes of a file that are told at once. */
const mistakesMax = 20;

type WishedPrices = Result<readonly OperatorPrice[], readonly FieldMistake[]>;

/** Reads prices and costs as a body writes them; each member that is wrong is named. */
export function readPriceBody(body: unknown, tools: PriceTools): WishedPrices {
  const sheet = readPriceObject(body);
  const prices = sheet.ok ? readOperatorPrices(sheet.value, tools) : sheet;
  return prices.ok ? prices : fail(mistakesIn(prices.error));
}

/** Reads a file of prices; a mistake has the line that it is in. */
export async function readPriceUpload(name: string, text: string, tools: PriceTools): Promise<WishedPrices> {
  const sheet = await readPriceFile(new TextEncoder().encode(text), name);
  const prices = sheet.ok ? readOperatorPrices(sheet.value, tools) : sheet;
  if (prices.ok) return prices;
  const words = prices.error.map(describeProblem).map((message) => ({ field: 'text', message }));
  return fail(words.slice(0, mistakesMax));
}

/** The end of a price of the operator's; none where nothing was set. */
export function readRemoval(place: PricePlace, onlyPlanned: boolean, tools: PriceTools): WishedPrices {
  const problems: ConfigurationProblem[] = [];
  const placed = { file: { source: plainSource({}, () => '') }, problems };
  if (!isKnown(placed, tools.stored, place, ['model'])) return fail(mistakesIn(problems));
  const removal = removalOf(tools, place, null, onlyPlanned);
  return succeed(removal === null ? [] : [removal]);
}

/** The prices of these models as the catalogue lists them. */
export function readListed(models: readonly string[], tools: PriceTools): WishedPrices {
  const prices = models.map((model) => listedPrice(tools, model));
  const wrong = prices.flatMap((price, at) =>
    price.ok ? [] : [{ field: `models.${at}`, message: price.error }],
  );
  return wrong.length > 0 ? fail(wrong) : succeed(prices.flatMap((price) => (price.ok ? [price.value] : [])));
}

function mistakesIn(problems: readonly ConfigurationProblem[]): readonly FieldMistake[] {
  return problems.map(({ path, message }) => ({ field: path, message }));
}

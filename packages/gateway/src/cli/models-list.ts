import {
  type ChannelCost,
  costRange,
  type ModelPrice,
  marginRange,
  modelPrices,
  originText,
  outputPrice,
  perMillion,
} from '../admin/model-prices.ts';
import { formatDecimal } from '../money/money.ts';
import { type CommandContext, type ExitReason, printResult } from './command.ts';
import { cut, right, statusText, tableText } from './table.ts';
import { withWorkspace, workspaceCatalogue } from './workspace.ts';

/** Lists the models with what callers pay, what channels cost, and what is left of it. */
export function listModels(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const { catalogue } = await workspaceCatalogue(workspace);
    const prices = modelPrices(
      catalogue.models.values(),
      await workspace.store.configuration.load(),
      workspace.clock.now(),
    );
    const { color } = context.output;
    const isWide = context.options['wide'] !== undefined;
    const rows = prices.map((price) => (isWide ? wideCells(price, color) : usualCells(price, color)));
    const note = prices.some(({ costs }) => costs.some(({ tiers }) => tiers === null))
      ? '\n? A channel has no cost that is known: the range leaves it out.'
      : '';
    const text =
      prices.length === 0
        ? 'There are no models yet.'
        : `${tableText(isWide ? wideTitles : usualTitles, rows, color, '  ')}\n\n${unitNote}${note}`;
    printResult(context.output, { models: prices.map(viewOf) }, text);
    return 'ok';
  });
}

const unitNote = 'USD per million tokens; costs and margins over channels, from least to most.';
const usualTitles = ['id', ...['in', 'out', 'cost out', 'margin %'].map(right), 'price from'];
const wideTitles = [
  ...['id', 'name'],
  ...['context', 'in', 'out', 'cost in', 'cost out', 'margin %'].map(right),
  ...['price from', 'channels'],
];

function usualCells(price: ModelPrice, color: boolean): readonly string[] {
  const { model, costs } = price;
  return [
    cut(model.id, 21),
    ...classPrices(price),
    rangeText(costs, 'output'),
    marginText(price),
    sourceText(price, color),
  ];
}

function wideCells(price: ModelPrice, color: boolean): readonly string[] {
  const { model, costs } = price;
  return [
    ...[model.id, model.displayName],
    model.contextWindow?.toLocaleString('en') ?? '–',
    ...classPrices(price),
    rangeText(costs, 'input'),
    rangeText(costs, 'output'),
    marginText(price),
    sourceText(price, color),
    costs.map(({ channel }) => channel).join(', ') || statusText('none', 'bad', color),
  ];
}

function sourceText({ model, stored }: ModelPrice, color: boolean): string {
  if (model.price !== null) return originText(stored);
  return statusText(model.isOffered ? 'none: free' : 'none: hidden', 'bad', color);
}

/** Images that are paid for by the piece have no other price worth showing. */
function classPrices({ model }: ModelPrice): readonly [string, string] {
  const classes = model.price?.tiers[0]?.classes;
  if (classes === undefined) return ['–', '–'];
  if (classes.input === 0n && classes.output === 0n && classes.perImage > 0n)
    return ['–', `${formatDecimal(classes.perImage, 12)}/image`];
  return [perMillion(classes.input), perMillion(outputPrice(classes))];
}

function rangeText(costs: readonly ChannelCost[], priceClass: 'input' | 'output'): string {
  const range = costRange(costs, priceClass);
  const mark = costs.some(({ tiers }) => tiers === null) ? ' ?' : '';
  if (range === null) return mark === '' ? '–' : '?';
  const [least, most] = range.map(perMillion);
  return `${least === most ? least : `${least}–${most}`}${mark}`;
}

function marginText(price: ModelPrice): string {
  const range = marginRange(price);
  if (range === null) return '–';
  const [worst, best] = range;
  return worst === best ? String(best) : `${worst}–${best}`;
}

function viewOf(price: ModelPrice): object {
  const { model, stored, costs } = price;
  const { targets: _, price: version, ...known } = model;
  const classes = version?.tiers[0]?.classes;
  const margin = marginRange(price);
  return {
    ...known,
    price:
      version === null || classes === undefined
        ? null
        : {
            input: formatDecimal(classes.input, 6),
            output: formatDecimal(classes.output, 6),
            version: version.id,
            since: new Date(version.effectiveFromMs).toISOString(),
            origin: stored?.origin ?? null,
          },
    marginPercent: margin === null ? null : { worst: margin[0], best: margin[1] },
    channels: costs.map(({ channel, upstreamModel, tiers }) => ({
      id: channel,
      upstreamModel,
      cost:
        tiers?.[0] === undefined
          ? null
          : {
              input: formatDecimal(tiers[0].classes.input, 6),
              output: formatDecimal(tiers[0].classes.output, 6),
            },
    })),
  };
}

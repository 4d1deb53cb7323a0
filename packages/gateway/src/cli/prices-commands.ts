import {
  disputedPrices,
  type ModelPrice,
  modelPrices,
  originSentence,
  originText,
  type PriceDifference,
  perMillion,
  priceDifferences,
} from '../admin/model-prices.ts';
import { type ListPrice, versionAt } from '../catalogue/price-book.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { PriceTier } from '../money/price.ts';
import { isPiece, type PriceClass, type PriceTierText, writePriceTiers } from '../money/price-terms.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { csvText } from './csv.ts';
import { cut, right, tableText } from './table.ts';
import { type Workspace, withWorkspace, workspaceCatalogue } from './workspace.ts';

const csv = { placeholder: null, help: 'As a table for programs' };

export const pricesCommands: readonly Command[] = [
  command({
    name: 'prices list',
    summary: 'List what callers pay for each model, since when, and who says so',
    options: { csv },
    examples: ['headgate prices list', 'headgate prices list --csv > prices.csv'],
    run: listPrices,
  }),
  command({
    name: 'prices show',
    usage: 'MODEL',
    positionals: { min: 1, max: 1 },
    summary: 'Show all of the price of a model, what its channels cost, and how to change it',
    examples: ['headgate prices show gpt-5'],
    run: showPrice,
  }),
  command({
    name: 'prices diff',
    summary: 'List where prices in force, the list prices and their sources differ, with their days',
    options: {
      all: { placeholder: null, help: 'Every model of the catalogue, and not only those that are served' },
      csv,
    },
    examples: ['headgate prices diff', 'headgate prices diff --all --csv'],
    run: diffPrices,
  }),
];

async function pricesOf(workspace: Workspace): Promise<readonly ModelPrice[]> {
  const { catalogue } = await workspaceCatalogue(workspace);
  return modelPrices(catalogue, await workspace.store.configuration.load());
}

function listPrices(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const prices = await pricesOf(workspace);
    const { output, options } = context;
    const rows = prices.map(({ model, stored }) => {
      const classes = stored?.tiers[0]?.classes;
      const priced = classes === undefined ? [] : [classes.input, classes.cacheRead, classes.output];
      const since = stored === null ? '–' : new Date(stored.effectiveFromMs).toISOString().slice(0, 10);
      return [
        model.id,
        ...[0, 1, 2].map((at) => (priced[at] === undefined ? '–' : perMillion(priced[at]))),
        since,
        originText(stored),
      ];
    });
    if (options['csv'] !== undefined) {
      output.write(csvText(['model', 'input', 'cache_read', 'output', 'since', 'from'], rows));
      return 'ok';
    }
    const columns = ['model', ...['in', 'cached', 'out'].map(right), 'since', 'from'];
    const text =
      rows.length === 0
        ? 'There are no models yet.'
        : `${tableText(
            columns,
            rows.map(([id = '', ...rest]) => [cut(id, 25), ...rest]),
            output.color,
            '  ',
          )}\n\nUSD per million tokens. All of one: headgate prices show MODEL`;
    printResult(output, { prices: prices.map(viewOf) }, text);
    return 'ok';
  });
}

function viewOf({ model, stored, costs }: ModelPrice): object {
  return {
    model: model.id,
    offered: model.isOffered,
    version: stored?.version ?? null,
    since: stored === null ? null : new Date(stored.effectiveFromMs).toISOString(),
    origin: stored?.origin ?? null,
    tiers: stored === null ? null : writePriceTiers(stored.tiers),
    costs: costs.map(({ tiers, ...cost }) => ({
      ...cost,
      tiers: tiers === null ? null : writePriceTiers(tiers),
    })),
  };
}

function showPrice(context: CommandContext): Promise<ExitReason> {
  const [given = ''] = context.positionals;
  return withWorkspace(context, async (workspace) => {
    const prices = await pricesOf(workspace);
    const found = prices.find(({ model }) => model.id === given);
    if (found === undefined) {
      const hint = didYouMean(
        given,
        prices.map(({ model }) => model.id),
      );
      printFailure(context.output, [
        `there is no model "${given}"${hint}; \`headgate models list\` names them`,
      ]);
      return 'failed';
    }
    const { model } = found;
    const list = workspace.catalogueFiles.prices().find(model.pricedAs ?? model.id, workspace.clock.now());
    printResult(
      context.output,
      { ...viewOf(found), listPrice: list === null ? null : listView(list, workspace.clock.now()) },
      showText(found, list, workspace.clock.now(), context.output.color),
    );
    return 'ok';
  });
}

function listView({ list, model }: ListPrice, nowMs: number): object {
  return {
    list: list.id,
    asOf: list.asOf(model),
    tiers: versionAt(model, nowMs)?.tiers ?? [],
    disputed: list.disputed(model),
  };
}

function showText(price: ModelPrice, list: ListPrice | null, nowMs: number, color: boolean): string {
  const { model, stored, costs } = price;
  const since =
    stored === null
      ? ''
      : ` since ${new Date(stored.effectiveFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const head = stored === null ? `${model.id} has no price` : `${model.id}: ${originSentence(stored.origin)}`;
  const fate =
    stored !== null
      ? `in force${since} as ${stored.version}`
      : model.isOffered
        ? 'Its calls are free.'
        : 'Callers are told that there is no such model.';
  const costRows = costs.map(({ channel, tiers }) => [
    tiers === null ? 'not known' : perMillion(tiers[0]?.classes.input ?? 0n),
    tiers === null ? '' : perMillion(tiers[0]?.classes.output ?? 0n),
    cut(channel, 40),
  ]);
  return [
    `${head}\n${fate}`,
    ...(stored === null ? [] : [tiersText(stored.tiers, color)]),
    tableText([right('cost in'), right('cost out'), 'channel'], costRows, color, '  '),
    listText(list, nowMs),
    changeText(model.id, list === null),
  ].join('\n\n');
}

/** The classes that say something: the others follow from them. */
function tiersText(tiers: readonly PriceTier[], color: boolean): string {
  const rows = writePriceTiers(tiers).flatMap((tier) =>
    shortRow(tier).map(([name, price]) => [
      rowName(tier),
      name,
      price,
      isPiece(name) ? 'each' : 'per million tokens',
    ]),
  );
  return tableText(['for', 'of', right('$'), ''], rows, color, '  ');
}

function rowName({ service, aboveInputTokens }: PriceTierText): string {
  const above = aboveInputTokens === 0 ? '' : `over ${aboveInputTokens.toLocaleString('en')} tokens`;
  return [service, above].filter((word) => word !== undefined && word !== '').join(', ') || 'any call';
}

const follows: Readonly<Partial<Record<PriceClass, PriceClass>>> = {
  cacheRead: 'input',
  cacheWrite5m: 'input',
  cacheWrite1h: 'cacheWrite5m',
  audioInput: 'input',
  imageInput: 'input',
  audioOutput: 'output',
  imageOutput: 'output',
};

function shortRow({ prices }: PriceTierText): readonly (readonly [PriceClass, string])[] {
  // The members of a price are its classes.
  const all = Object.entries(prices) as [PriceClass, string][];
  return all.filter(([name, price]) => {
    const plain = follows[name];
    if (plain !== undefined) return price !== prices[plain];
    return price !== '0' || name === 'input' || name === 'output';
  });
}

function listText(list: ListPrice | null, nowMs: number): string {
  if (list === null) return 'The catalogue has no list price of this name.';
  const { prices = {} } = versionAt(list.model, nowMs)?.tiers[0] ?? {};
  const said = (each: PriceTierText['prices']) => `${each.input ?? '–'} in, ${each.output ?? '–'} out`;
  const others = list.list
    .disputed(list.model)
    .map(
      ({ source, asOf, tiers }) => `\n${source} of ${asOf} says otherwise: ${said(tiers[0]?.prices ?? {})}`,
    );
  return `List price of ${list.list.id} as of ${list.list.asOf(list.model)}: ${said(prices)}${others.join('')}`;
}

function changeText(id: string, isUnknown: boolean): string {
  const other = isUnknown
    ? `\nor, where it is a model of the catalogue by another name:\n  models:\n    ${id}: { pricedAs: NAME }`
    : '';
  return `To set it, write in headgate.yaml (USD per million tokens):\n  prices:\n    ${id}: { input: 1.25, output: 10 }${other}`;
}

function diffPrices(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const { catalogueFiles, clock } = workspace;
    const served = await pricesOf(workspace);
    const found = priceDifferences(served, catalogueFiles.prices(), clock.now());
    const all =
      context.options['all'] === undefined ? [] : disputedPrices(catalogueFiles.prices(), clock.now());
    const known = new Set(served.map(({ model }) => model.id));
    const differences = [...found, ...all.filter(({ model }) => !known.has(model))];
    const { output } = context;
    const rows = differences.map(cellsOf);
    const titles = ['model', 'of', 'in_force', 'says', 'other', 'other_says'];
    if (context.options['csv'] !== undefined) output.write(csvText(titles, rows));
    else printResult(output, { differences }, diffText(rows, output.color));
    return 'ok';
  });
}

function cellsOf({ model, what, inForce, inForceBy, other, otherBy }: PriceDifference): readonly string[] {
  return [model, what, inForce ?? '–', inForceBy, other ?? '–', otherBy];
}

/** A name and a day, of which the day is never cut. */
function sourceCell(by: string): string {
  const [name, day] = [by.slice(0, by.lastIndexOf(' ')), by.slice(by.lastIndexOf(' '))];
  return `${cut(name, 12)}${day}`;
}

/** A model is named once: its differences stand under it. */
function diffText(rows: readonly (readonly string[])[], color: boolean): string {
  if (rows.length === 0) return 'Prices in force, list prices and their sources say the same.';
  const models = Map.groupBy(rows, ([model = '']) => model);
  const blocks = [...models].map(([model, found]) => {
    const cells = found.map(([, what = '', inForce = '', by = '', other = '', otherBy = '']) => [
      `  ${cut(what, 14)}`,
      ...[inForce, sourceCell(by), other, sourceCell(otherBy)],
    ]);
    return { model, cells };
  });
  const table = tableText(
    ['  of', right('now'), 'says', right('other'), 'says'],
    blocks.flatMap(({ cells }) => cells),
    color,
    '  ',
  ).split('\n');
  const [head = '', ...lines] = table;
  const text = [head];
  let at = 0;
  for (const { model, cells } of blocks) {
    text.push(cut(model, 78), ...lines.slice(at, at + cells.length));
    at += cells.length;
  }
  return text.join('\n');
}

import {
  type ModelPrice,
  modelPrices,
  originSentence,
  originText,
  type PriceHistory,
  perMillion,
} from '../admin/model-prices.ts';
import {
  disputedPrices,
  type PriceDifference,
  priceDifferences,
  shortPrices,
} from '../admin/price-differences.ts';
import { listView, viewOf } from '../admin/price-views.ts';
import { type ListPrice, versionAt } from '../catalogue/price-book.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { PriceTier } from '../money/price.ts';
import { isPiece, type PriceTierText, writePriceTiers } from '../money/price-terms.ts';
import type { StoredPrice } from '../ports/configuration-store.ts';
import { csvText } from '../ports/csv.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { momentText } from './set-prices-commands.ts';
import { cut, right, tableText, tableWithNotes } from './table.ts';
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
  return modelPrices(
    catalogue.models.values(),
    await workspace.store.configuration.load(),
    workspace.clock.now(),
  );
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
        : `${tableWithNotes(
            columns,
            rows.map(([id = '', ...rest]) => [cut(id, 25), ...rest]),
            prices.map(({ later }) => laterText(later)),
            output,
            '  ',
          )}\n\n${listLegend}`;
    printResult(output, { prices: prices.map(viewOf) }, text);
    return 'ok';
  });
}

const listLegend =
  'USD per million tokens. Yours: as the file says; set: as a command does.\nAll of one, and its history: headgate prices show MODEL';

/** `from 2026-12-01: 1.10 in, 8.00 out (set 2026-11-23)`; null where nothing is planned. */
function laterText(later: PriceHistory['later']): string | null {
  if (later.length === 0) return null;
  return later
    .map(({ fromMs, price }) => {
      const said = price === null ? 'no price' : `${plainText(price)} (${originText(price)})`;
      return `from ${momentText(isoTime(fromMs))}: ${said}`;
    })
    .join('; ');
}

function plainText({ tiers }: StoredPrice): string {
  const classes = tiers[0]?.classes;
  return `${perMillion(classes?.input ?? 0n)} in, ${perMillion(classes?.output ?? 0n)} out`;
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

function showText(price: ModelPrice, list: ListPrice | null, nowMs: number, color: boolean): string {
  const { model, stored, costs, later, versions } = price;
  const since =
    stored === null
      ? ''
      : ` since ${new Date(stored.effectiveFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const how = stored?.source === 'operator' ? ', set by a command' : '';
  const head =
    stored === null ? `${model.id} has no price` : `${model.id}: ${originSentence(stored.origin)}${how}`;
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
  const planned = laterText(later);
  const costTable = tableWithNotes(
    [right('cost in'), right('cost out'), 'channel'],
    costRows,
    costs.map((cost) => laterText(cost.later)),
    { color },
    '  ',
  );
  return [
    `${head}\n${fate}${planned === null ? '' : `\n${planned}`}`,
    ...(stored === null ? [] : [tiersText(stored.tiers, color)]),
    costTable,
    ...(versions.length < 2 ? [] : [historyText(versions, color)]),
    listText(list, nowMs),
    changeText(model.id, list === null),
  ].join('\n\n');
}

/** Versions that a terminal shows; `--json` has all. */
const versionsShown = 10;

function historyText(versions: readonly StoredPrice[], color: boolean): string {
  const rows = versions
    .slice(-versionsShown)
    .map((price) => [
      `@${price.version.slice(price.version.lastIndexOf('@') + 1)}`,
      momentText(isoTime(price.writtenAtMs)),
      momentText(isoTime(price.effectiveFromMs)),
      price.tiers.length === 0 ? 'taken back' : plainText(price),
      price.source === 'operator' ? 'set' : cut(originText(price), 24),
    ]);
  return tableText(['version', 'written', 'from', 'price', 'by'], rows, color, '  ');
}

/** The classes that say something: the others follow from them. */
function tiersText(tiers: readonly PriceTier[], color: boolean): string {
  const rows = writePriceTiers(tiers).flatMap((tier) =>
    shortPrices(tier).map(([name, price]) => [
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
  return `To set it (USD per million tokens):\n  headgate prices set ${id} input=1.25 output=10\nor write in headgate.yaml, of which what was set by a command stands before:\n  prices:\n    ${id}: { input: 1.25, output: 10 }${other}`;
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
    const titles = ['model', 'of', 'in_force', 'says', 'other', 'other_says', 'applies'];
    const coming = [...new Set(differences.filter(({ applies }) => applies).map(({ model }) => model))];
    if (context.options['csv'] !== undefined) output.write(csvText(titles, rows));
    else printResult(output, { differences }, `${diffText(rows, output.color)}${comingText(coming)}`);
    return 'ok';
  });
}

function cellsOf(difference: PriceDifference): readonly string[] {
  const { model, what, inForce, inForceBy, other, otherBy, applies } = difference;
  return [model, what, inForce ?? '–', inForceBy, other ?? '–', otherBy, String(applies)];
}

/** The models that a newer list changes by itself; all others stay as they are until somebody sets them. */
function comingText(models: readonly string[]): string {
  if (models.length === 0) return '';
  return `\n\nThe next start, or \`headgate apply\`, takes the list price for:\n  ${models.map((id) => cut(id, 76)).join('\n  ')}`;
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

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  isKnown,
  listPriceOf,
  type PricePlace,
  type PriceTools,
  pastText,
  placeText,
  readOperatorPrices,
  removalOf,
} from '../admin/operator-prices.ts';
import { commandLine } from '../admin/people/actor.ts';
import { readPriceFile } from '../admin/price-file.ts';
import { type PriceChange, setPrices } from '../admin/set-prices.ts';
import { readTime } from '../config/moment.ts';
import { plainSource } from '../config/plain-source.ts';
import { readPriceWords } from '../config/price-sheet.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { OperatorPrice } from '../ports/configuration-store.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { cut, right, tableText } from './table.ts';
import { type Workspace, withWorkspace } from './workspace.ts';

const channel = {
  placeholder: 'ID',
  help: 'What it costs on this channel, in the place of what callers pay',
};
const from = {
  placeholder: 'TIME',
  help: 'When it begins: a day (midnight UTC) or a time with its offset; at once if left out',
};
const dryRun = { placeholder: null, help: 'Only show what would change' };

export const setPricesCommands: readonly Command[] = [
  command({
    name: 'prices set',
    usage: 'MODEL PRICE…',
    positionals: { min: 2, max: 100 },
    summary: 'Set the price of a model, or what it costs on a channel, before what files and lists say',
    options: { channel, from, 'dry-run': dryRun },
    examples: [
      'headgate prices set gpt-5 input=1.10 output=9',
      'headgate prices set gpt-5 input=1.25 output=8 --from 2026-12-01',
      "headgate prices set gpt-5 '{ tiers: [{ aboveInputTokens: 200000, input: 2.5 }] }' --dry-run",
      'headgate prices set gpt-5 input=1.00 output=8 --channel europe',
    ],
    run: setPrice,
  }),
  command({
    name: 'prices import',
    usage: 'FILE',
    positionals: { min: 1, max: 1 },
    summary: 'Set the prices and costs that a file of YAML, JSON or CSV names, all or none',
    options: { 'dry-run': dryRun },
    examples: ['headgate prices import december.csv --dry-run'],
    run: importPrices,
  }),
  command({
    name: 'prices remove',
    usage: 'MODEL',
    positionals: { min: 1, max: 1 },
    summary: 'Take back what was set: the price of the file holds again, or else the list price',
    options: {
      channel,
      from,
      planned: { placeholder: null, help: 'Only what is planned; what is in force stays' },
      'dry-run': dryRun,
    },
    examples: ['headgate prices remove gpt-5', 'headgate prices remove gpt-5 --planned'],
    run: removePrice,
  }),
];

async function toolsOf({ store, catalogueFiles, clock }: Workspace): Promise<PriceTools> {
  const stored = await store.configuration.load();
  return { stored, catalogue: catalogueFiles, nowMs: clock.now() };
}

function refuse(context: CommandContext, problems: readonly ConfigurationProblem[]): ExitReason {
  printFailure(context.output, problems.map(describeProblem));
  return 'configuration';
}

function setPrice(context: CommandContext): Promise<ExitReason> {
  const { positionals, options } = context;
  const [model = '', ...words] = positionals;
  const place = { model, channel: options['channel'] ?? null };
  const read = readPriceWords(words, { ...place, from: options['from'] ?? null });
  const own = (problems: readonly ConfigurationProblem[]) => {
    printFailure(
      context.output,
      problems.map((problem) => wordProblem(problem, model)),
    );
    return 'configuration' as const;
  };
  if (!read.ok) return Promise.resolve(own(read.error));
  return withWorkspace(context, async (workspace) => {
    const tools = await toolsOf(workspace);
    const prices = readOperatorPrices(read.value, tools);
    return prices.ok ? write(context, workspace, tools, prices.value) : own(prices.error);
  });
}

/** The words of a command line say where they are: neither the file's path nor the model is told again. */
function wordProblem({ where, path, message }: ConfigurationProblem, model: string): string {
  const member = path.split('.').at(-1) ?? '';
  const isSaid = where.includes(member) || path.endsWith(model);
  return [...(where === model ? [] : [where]), ...(isSaid ? [] : [member]), message].join(': ');
}

async function importPrices(context: CommandContext): Promise<ExitReason> {
  const [name = ''] = context.positionals;
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(resolve(context.directory, name));
  } catch {
    printFailure(context.output, [`${name} cannot be read`]);
    return 'unavailable';
  }
  const read = await readPriceFile(bytes, name);
  if (!read.ok) return refuse(context, read.error);
  return withWorkspace(context, async (workspace) => {
    const tools = await toolsOf(workspace);
    const prices = readOperatorPrices(read.value, tools);
    return prices.ok ? write(context, workspace, tools, prices.value) : refuse(context, prices.error);
  });
}

function removePrice(context: CommandContext): Promise<ExitReason> {
  const { positionals, options } = context;
  const place: PricePlace = { model: positionals[0] ?? '', channel: options['channel'] ?? null };
  return withWorkspace(context, async (workspace) => {
    const tools = await toolsOf(workspace);
    const fromMs = momentOf(options['from'], tools.nowMs);
    if (typeof fromMs === 'string') return refuse(context, [{ where: '--from', path: '', message: fromMs }]);
    const problems: ConfigurationProblem[] = [];
    const placed = { file: { source: plainSource({}, () => 'prices remove') }, problems };
    if (!isKnown(placed, tools.stored, place, [])) return refuse(context, problems);
    const removal = removalOf(tools, place, fromMs, options['planned'] !== undefined);
    if (removal !== null) return write(context, workspace, tools, [removal]);
    const list = listPriceOf(tools, place);
    const holds = list === null ? 'the file says what holds' : 'the file says what holds, or else the list';
    printFailure(context.output, [`no price of ${place.model} is set or planned by a command: ${holds}`]);
    return 'failed';
  });
}

/** The moment that is named, or the words against it; null is at once. */
function momentOf(text: string | undefined, nowMs: number): number | string | null {
  if (text === undefined) return null;
  const fromMs = readTime(text);
  if (fromMs === null)
    return `"${text}" must be a day such as 2026-12-01, or a time such as 2026-12-01T00:00:00+08:00`;
  return fromMs > nowMs ? fromMs : pastText(text);
}

async function write(
  context: CommandContext,
  { store }: Workspace,
  tools: PriceTools,
  prices: readonly OperatorPrice[],
): Promise<ExitReason> {
  const isDry = context.options['dry-run'] !== undefined;
  const steps = await setPrices({ ...tools, store, actor: commandLine }, prices, isDry);
  const head = isDry
    ? 'Nothing is written. This would change:'
    : 'Set. A running gateway has it within a second.';
  printResult(
    context.output,
    { written: !isDry, changes: steps },
    steps.length === 0
      ? 'Nothing changes: the prices are so already.'
      : `${head}\n\n${stepsText(steps, context)}`,
  );
  return 'ok';
}

function stepsText(steps: readonly PriceChange[], { output }: CommandContext): string {
  const rows = steps.map(({ subject, from: begin, what, before, after }) => [
    cut(placeText(subject), 28),
    begin === null ? 'now' : momentText(begin),
    cut(what, 20),
    before ?? '–',
    after ?? '–',
  ]);
  const columns = ['model', 'from', 'of', right('was'), right('is')];
  return `${tableText(columns, rows, output.color, '  ')}\n\nUSD, per million tokens or each; times are UTC.`;
}

/** `2026-12-01`, with its time where it is not midnight UTC. */
export function momentText(iso: string): string {
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ');
}

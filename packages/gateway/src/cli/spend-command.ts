import { counted } from '../admin/banner.ts';
import { spendCsv, totalSpend } from '../admin/spend.ts';
import { formatNanoUsd, nanoUsd } from '../money/money.ts';
import { type CallFilter, type Spend, type SpendDimension, spendDimensions } from '../ports/call-reports.ts';
import { callFilterOptions, readCallFilter, readCount } from './call-filter.ts';
import { type CommandContext, command, type ExitReason, printFailure, printResult } from './command.ts';
import { behindText } from './ledger-commands.ts';
import { cut, right, tableText } from './table.ts';
import { marginPercent, usd } from './usd.ts';
import { withWorkspace } from './workspace.ts';

const daysBack = 30;
const limitMax = 10_000;
const limitUsual = 50;

export const spendCommand = command({
  name: 'spend',
  summary: 'Sum up what calls were charged and what they cost',
  options: {
    by: {
      placeholder: spendDimensions.join('|'),
      help: 'A row for each of them (key); days are those of UTC',
    },
    ...callFilterOptions,
    limit: {
      placeholder: 'N',
      help: `So many rows at most (${limitUsual}); the others are summed up in one`,
    },
    csv: { placeholder: null, help: 'As a table for programs, exact and whole' },
  },
  examples: [
    'headgate spend',
    'headgate spend --by channel --since 24h',
    'headgate spend --by day --account partner-one --since 2026-11-01 --csv > november.csv',
  ],
  run: showSpend,
});

function showSpend(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const given = options['by'] ?? 'key';
  const by = spendDimensions.find((dimension) => dimension === given);
  const filter = readCallFilter(options, Date.now(), daysBack);
  const limit = readCount(options['limit'], limitMax, limitUsual);
  if (by === undefined || !filter.ok || limit === null) {
    const problems = [
      ...(by === undefined ? [`--by must be one of ${spendDimensions.join(', ')}`] : []),
      ...(filter.ok ? [] : [filter.error]),
      ...(limit === null ? [`--limit must be a whole number from 1 to ${limitMax}`] : []),
    ];
    printFailure(output, problems);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store }) => {
    const asOfMs = await store.catchUp();
    const rows = await store.calls.spend(by, filter.value);
    if (options['csv'] !== undefined) output.write(spendCsv(by, rows, true));
    else
      printResult(
        output,
        {
          by,
          since: new Date(filter.value.fromMs).toISOString(),
          spend: rows.map(viewOf),
          total: viewOf(totalSpend(rows)),
        },
        textOf(by, rows, filter.value, limit, output.color),
      );
    if (asOfMs !== null) output.writeError(`${behindText(asOfMs)}\n`);
    return 'ok';
  });
}

/** Amounts both ways: decimals for people, integers for programs. */
function viewOf(row: Spend): object {
  const { chargeNanoUsd, costNanoUsd } = row;
  const margin = nanoUsd(chargeNanoUsd - costNanoUsd);
  return {
    ...row,
    marginNanoUsd: margin,
    chargeUsd: formatNanoUsd(chargeNanoUsd),
    costUsd: formatNanoUsd(costNanoUsd),
    marginUsd: formatNanoUsd(margin),
  };
}

function textOf(
  by: SpendDimension,
  rows: readonly Spend[],
  { fromMs, toMs }: CallFilter,
  limit: number,
  color: boolean,
): string {
  const [from, to] = [fromMs, toMs].map((time) =>
    time === undefined ? null : new Date(time).toISOString().slice(0, 16).replace('T', ' '),
  );
  const period = `${from} UTC${to === null ? '' : ` to ${to} UTC`}`;
  if (rows.length === 0) return `There are no such calls since ${period}.`;
  const sum = totalSpend(rows);
  // Four digits would show nothing but zeros of the first calls there are.
  const digits = sum.chargeNanoUsd + sum.costNanoUsd < littleNanoUsd ? 6 : 4;
  const rest = rows.slice(limit);
  const shown = rows.slice(0, limit).map((row) => cellsOf(row.name ?? nameless(by), row, digits));
  const others =
    rest.length === 0 ? [] : [cellsOf(`${counted(rest.length, 'other')}`, totalSpend(rest), digits)];
  const total = rows.length === 1 ? [] : [cellsOf('all', sum, digits)];
  const columns = [by, ...['calls', 'tokens', 'charge $', 'cost $', 'margin $', '%'].map(right)];
  const note =
    sum.unknownCosts === 0
      ? ''
      : `\n? The cost of ${counted(sum.unknownCosts, 'attempt')} is not known, and in no sum.`;
  return `${tableText(columns, [...shown, ...others, ...total], color, '  ')}\n${note}\nSince ${period}`;
}

/** Calls that have nothing of what is asked for. */
function nameless(by: SpendDimension): string {
  return by === 'tag' ? 'no tag' : 'none answered';
}

/** Ten cents. */
const littleNanoUsd = 100_000_000n;

function cellsOf(name: string, row: Spend, digits: number): readonly string[] {
  const { calls, inputTokens, outputTokens, chargeNanoUsd, costNanoUsd, unknownCosts } = row;
  const mark = unknownCosts === 0 ? '' : ' ?';
  const percent = marginPercent(chargeNanoUsd, costNanoUsd);
  return [
    cut(name, 22),
    calls.toLocaleString('en'),
    countText(inputTokens + outputTokens),
    usd(chargeNanoUsd, digits),
    `${usd(costNanoUsd, digits)}${mark}`,
    `${usd(nanoUsd(chargeNanoUsd - costNanoUsd), digits)}${mark}`,
    percent === null || unknownCosts > 0 ? '–' : percent.toFixed(0),
  ];
}

/** `12.3M`: columns stay narrow however much was used. */
function countText(count: number): string {
  if (count < 100_000) return count.toLocaleString('en');
  if (count < 100_000_000) return `${(count / 1e6).toFixed(1)}M`;
  return `${(count / 1e9).toFixed(1)}B`;
}

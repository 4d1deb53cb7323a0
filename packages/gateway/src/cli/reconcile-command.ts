import { createReadStream } from 'node:fs';
import { counted } from '../admin/banner.ts';
import { formatNanoUsd, type NanoUsd, nanoUsd, parseDecimal } from '../money/money.ts';
import type { Drift, Side } from '../store/sqlite/statement-table.ts';
import { readCount } from './call-filter.ts';
import {
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
  readTime,
} from './command.ts';
import { behindText } from './ledger-commands.ts';
import { isReconciled, type MatchedBy, type Reconciliation, reconcile } from './reconcile.ts';
import { cut, right, statusText, tableText } from './table.ts';
import { readMapping, type UsageField, usageFields } from './upstream-usage.ts';
import { usd } from './usd.ts';
import { withWorkspace } from './workspace.ts';

const limitMax = 100_000;
const limitUsual = 20;

export const reconcileCommand = command({
  name: 'ledger reconcile',
  summary: "Hold an upstream's own account of usage or costs against the ledger",
  options: {
    channel: { placeholder: 'ID', help: 'The channel that the file is about' },
    file: {
      placeholder: 'FILE',
      help: 'CSV with a line of titles (docs/billing.md has those that are known)',
    },
    columns: {
      placeholder: 'FIELD=TITLE,…',
      help: `Titles of your own for ${Object.keys(usageFields).join(', ')}`,
    },
    by: { placeholder: 'request|day', help: 'Match by ids of requests, or by UTC day and model' },
    since: { placeholder: 'TIME', help: 'The file is about calls from here on; its first time if left out' },
    until: { placeholder: 'TIME', help: 'And before this one; its last time if left out' },
    tolerance: {
      placeholder: 'USD',
      help: 'Costs may differ by this (0.000001 for a request, 0.005 for a day and model)',
    },
    limit: { placeholder: 'N', help: `So many differences are listed (${limitUsual}); all are counted` },
  },
  examples: [
    'headgate ledger reconcile --channel main --file usage.csv',
    'headgate ledger reconcile --channel main --file costs.csv --columns "cost_usd=Net amount,model=SKU"',
  ],
  run: runReconcile,
});

interface Wanted {
  readonly channelId: string;
  readonly file: string;
  readonly mapping: ReadonlyMap<UsageField, string>;
  readonly by: MatchedBy | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly tolerance: NanoUsd | null;
  readonly driftsMax: number;
}

async function runReconcile(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const wanted = readOptions(options);
  if (!('channelId' in wanted)) {
    printFailure(output, wanted.problems);
    return 'usage';
  }
  return withWorkspace(context, async ({ store }) => {
    const asOfMs = await store.catchUp();
    const chunks: AsyncIterable<Uint8Array> = createReadStream(wanted.file);
    const entries = store.exportEntries.bind(store);
    const found = await reconcile({ ...wanted, chunks, entries });
    if (!found.ok) {
      printFailure(output, [`${wanted.file}: ${found.error}`]);
      return 'usage';
    }
    printResult(
      output,
      viewOf(wanted.channelId, found.value),
      textOf(wanted.channelId, found.value, output.color),
    );
    if (asOfMs !== null) output.writeError(`${behindText(asOfMs)}\n`);
    return isReconciled(found.value) ? 'ok' : 'failed';
  });
}

function readOptions(
  options: Readonly<Record<string, string>>,
): Wanted | { readonly problems: readonly string[] } {
  const { channel, file, columns, by, since, until, tolerance, limit } = options;
  const mapping = columns === undefined ? null : readMapping(columns);
  const [fromMs, toMs] = [since, until].map((time) => (time === undefined ? undefined : readTime(time)));
  const amount = tolerance === undefined ? null : parseDecimal(tolerance, 9);
  const driftsMax = readCount(limit, limitMax, limitUsual);
  const matched = by === 'request' || by === 'day' ? by : null;
  const problems = [
    ...(channel === undefined ? ['say with --channel which channel the file is about'] : []),
    ...(file === undefined ? ['say with --file where the usage is'] : []),
    ...(mapping?.ok === false ? [mapping.error] : []),
    ...(by !== undefined && matched === null ? ['--by must be request or day'] : []),
    ...(fromMs === null || toMs === null
      ? ['--since and --until must be dates or times such as 2026-11-21T08:00Z']
      : []),
    ...(amount?.ok === false ? [`--tolerance: ${amount.error}`] : []),
    ...(driftsMax === null ? [`--limit must be a whole number from 1 to ${limitMax}`] : []),
  ];
  if (problems.length > 0 || channel === undefined || file === undefined) return { problems };
  return {
    ...{ channelId: channel, file, by: matched, fromMs: fromMs ?? null, toMs: toMs ?? null },
    mapping: mapping?.ok === true ? mapping.value : new Map(),
    tolerance: amount?.ok === true ? nanoUsd(amount.value) : null,
    driftsMax: driftsMax ?? limitUsual,
  };
}

function viewOf(channelId: string, found: Reconciliation): object {
  const { by, lines, badLines, badLineCount, totals, drifts, withoutId, unknownCosts } = found;
  const { rows, counts } = totals;
  return {
    ...{ channel: channelId, by, isReconciled: isReconciled(found) },
    since: new Date(found.fromMs).toISOString(),
    until: new Date(found.toMs).toISOString(),
    toleranceUsd: formatNanoUsd(found.tolerance),
    ...{ lines, badLineCount, badLines, rows, counts, withoutId, unknownCosts },
    upstream: sideView(totals.upstream),
    ours: sideView(totals.ours),
    drift: driftView(totals.upstream, totals.ours),
    drifts: drifts.map(({ kind, name, model, upstream, ours }) => ({
      ...{ kind, [by === 'request' ? 'requestId' : 'day']: name, model },
      upstream: upstream === null ? null : sideView(upstream),
      ours: ours === null ? null : sideView(ours),
      drift: driftView(upstream, ours),
    })),
  };
}

function sideView({ requests, inputTokens, outputTokens, costNanoUsd }: Side): object {
  const costUsd = costNanoUsd === null ? null : formatNanoUsd(costNanoUsd);
  return { requests, inputTokens, outputTokens, costNanoUsd, costUsd };
}

/** Upstream's less ours; a side that is missing has nothing, and a number that nobody knows leaves no difference to tell. */
function driftView(upstream: Side | null, ours: Side | null): object {
  const cost = less(upstream, ours, (side) => side.costNanoUsd);
  return {
    inputTokens: numberOf(less(upstream, ours, (side) => side.inputTokens)),
    outputTokens: numberOf(less(upstream, ours, (side) => side.outputTokens)),
    costNanoUsd: cost,
    costUsd: cost === null ? null : formatNanoUsd(cost),
  };
}

function less(
  upstream: Side | null,
  ours: Side | null,
  read: (side: Side) => bigint | number | null,
): NanoUsd | null {
  const [one, other] = [upstream, ours].map((side) => (side === null ? 0n : read(side)));
  return one === null || other === null ? null : nanoUsd(BigInt(one ?? 0) - BigInt(other ?? 0));
}

function numberOf(amount: bigint | null): number | null {
  return amount === null ? null : Number(amount);
}

const words = {
  'missing-here': 'not in the ledger',
  'missing-upstream': 'not in the file',
  differs: 'differs',
} as const satisfies Record<Drift['kind'], string>;

function textOf(channelId: string, found: Reconciliation, color: boolean): string {
  const { by, totals, badLines, badLineCount, drifts, withoutId, unknownCosts } = found;
  const isSame = isReconciled(found);
  const driftCount = Object.values(totals.counts).reduce((sum, count) => sum + count, 0);
  const what = by === 'request' ? 'request' : 'day and model';
  const verdict = statusText(isSame ? 'no drift' : 'drift', isSame ? 'good' : 'bad', color);
  const counts = (['missing-here', 'missing-upstream', 'differs'] as const)
    .filter((kind) => totals.counts[kind] > 0)
    .map((kind) => `${totals.counts[kind]} ${words[kind]}`);
  const times = [found.fromMs, found.toMs].map((time) =>
    new Date(time).toISOString().slice(0, 16).replace('T', ' '),
  );
  const notes = [
    ...(withoutId === 0
      ? []
      : [`${counted(withoutId, 'attempt')} of ours had no id of its request, and cannot be matched.`]),
    ...(unknownCosts === 0
      ? []
      : [`The cost of ${counted(unknownCosts, 'attempt')} of ours is not known: its channel has no price.`]),
    ...(totals.ours.requests === 0
      ? [`The ledger has nothing that was asked of the channel ${channelId} in this time.`]
      : []),
    ...badLines.map(({ line, problem }) => `line ${line}: ${problem}`),
    ...(badLineCount > badLines.length
      ? [`and ${badLineCount - badLines.length} more lines that cannot be read`]
      : []),
  ];
  return [
    `${verdict}: ${channelId}, by ${what}, ${times[0]} to ${times[1]} UTC${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`,
    totalsText(totals.upstream, totals.ours, color),
    ...(drifts.length === 0 ? [] : [driftsText(drifts, by, color)]),
    ...(driftCount > drifts.length ? [`${driftCount - drifts.length} more; --limit shows them.`] : []),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ].join('\n\n');
}

const sideTitles = ['requests', 'input', 'output', 'cost $'].map(right);

function totalsText(upstream: Side, ours: Side, color: boolean): string {
  const rows = [
    ['upstream', ...cellsOf(upstream)],
    ['ledger', ...cellsOf(ours)],
    ['drift', ...driftCells(upstream, ours)],
  ];
  return tableText(['', ...sideTitles], rows, color, '  ');
}

function driftsText(drifts: readonly Drift[], by: MatchedBy, color: boolean): string {
  const titles = by === 'request' ? ['request'] : ['day', 'model'];
  const rows = drifts.map(({ kind, name, model, upstream, ours }) => [
    ...(by === 'request' ? [cut(name, 36)] : [name, cut(model ?? '–', 24)]),
    words[kind],
    ...driftCells(upstream, ours).slice(1),
  ]);
  return tableText([...titles, '', ...['input', 'output', 'cost $'].map(right)], rows, color, '  ');
}

function cellsOf({ requests, inputTokens, outputTokens, costNanoUsd }: Side): readonly string[] {
  const counts = [requests, inputTokens, outputTokens].map((count) => count?.toLocaleString('en') ?? '–');
  return [...counts, costNanoUsd === null ? '–' : usd(costNanoUsd, 6)];
}

function driftCells(upstream: Side | null, ours: Side | null): readonly string[] {
  const tokens = [
    (side: Side) => side.requests,
    (side: Side) => side.inputTokens,
    (side: Side) => side.outputTokens,
  ];
  const cost = less(upstream, ours, (side) => side.costNanoUsd);
  return [
    ...tokens.map((read) => signed(less(upstream, ours, read)?.toLocaleString('en') ?? '–')),
    cost === null ? '–' : signed(usd(cost, 6)),
  ];
}

function signed(text: string): string {
  return /^[1-9]|^0\.0*[1-9]/.test(text) ? `+${text}` : text;
}

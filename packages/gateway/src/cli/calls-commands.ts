import { setTimeout } from 'node:timers/promises';
import { counted } from '../admin/banner.ts';
import { zeroNanoUsd } from '../money/money.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { callFilterOptions, readCallFilter, readCount } from './call-filter.ts';
import { callText, callView } from './call-text.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  jsonText,
  peopleText,
  printFailure,
  printResult,
} from './command.ts';
import { behindText, entryCsvLine, entryCsvTitles } from './ledger-commands.ts';
import { cut, right, statusText, tableText } from './table.ts';
import { usd } from './usd.ts';
import { withWorkspace } from './workspace.ts';

const daysBack = 7;
const limitMax = 1000;
const limitUsual = 20;
const lookEveryMs = 500;

const wide = { placeholder: null, help: 'Whole ids and more columns, however wide that is' };

export const callsCommands: readonly Command[] = [
  command({
    name: 'calls list',
    summary: 'List calls, newest first',
    options: {
      ...callFilterOptions,
      limit: { placeholder: 'N', help: `So many at most, to ${limitMax} (${limitUsual})` },
      before: { placeholder: 'TRACE_ID', help: 'Calls older than this one: the next page' },
      wide,
      csv: { placeholder: null, help: 'As a table for programs, with all columns' },
    },
    examples: [
      'headgate calls list --since 2h --billed no',
      'headgate calls list --key ci --model gpt-5 --csv > calls.csv',
    ],
    run: listCalls,
  }),
  command({
    name: 'calls show',
    usage: 'TRACE_ID',
    positionals: { min: 1, max: 1 },
    summary: 'Show one call: its attempts, its usage and how its charge came about',
    examples: ['headgate calls show 019aa3f0c2b17d4e8f60a1b2c3d4e5f6', 'headgate calls show c3d4e5f6'],
    run: showCall,
  }),
  command({
    name: 'calls tail',
    summary: 'Print calls as they end, until it is stopped',
    options: { ...callFilterOptions, wide },
    examples: ['headgate calls tail --channel main', 'headgate calls tail --status failed --json'],
    run: tailCalls,
  }),
];

function listCalls(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const filter = readCallFilter(options, Date.now(), daysBack);
  const limit = readCount(options['limit'], limitMax, limitUsual);
  if (!filter.ok || limit === null) {
    printFailure(output, [filter.ok ? `--limit must be a whole number from 1 to ${limitMax}` : filter.error]);
    return Promise.resolve('usage');
  }
  // A page is read at once: no thread is worth its start.
  return withWorkspace(context, async ({ store }) => {
    const asOfMs = await store.catchUp();
    const found = await store.calls.list(filter.value, limit + 1, options['before'] ?? null);
    const calls = found.slice(0, limit);
    const next = found.length > limit ? (calls.at(-1)?.traceId ?? null) : null;
    if (options['csv'] !== undefined) output.write(`${entryCsvTitles()}${calls.map(entryCsvLine).join('')}`);
    else {
      const isWide = options['wide'] !== undefined;
      printResult(
        output,
        { calls: calls.map((call) => callView(call, null)), next },
        listText(calls, next, filter.value.fromMs, isWide, output.color),
      );
    }
    if (asOfMs !== null) output.writeError(`${behindText(asOfMs)}\n`);
    return 'ok';
  });
}

function listText(
  calls: readonly LedgerRecord[],
  next: string | null,
  fromMs: number,
  isWide: boolean,
  color: boolean,
): string {
  const since = new Date(fromMs).toISOString().slice(0, 16).replace('T', ' ');
  if (calls.length === 0) return `There are no such calls since ${since} UTC.`;
  const table = tableText(
    titles(isWide),
    calls.map((call) => cellsOf(call, isWide, color)),
    color,
    columnGap,
  );
  return next === null
    ? `${table}\n\n${counted(calls.length, 'call')} since ${since} UTC`
    : `${table}\n\nOlder ones: the same with --before ${next}`;
}

const columnGap = '  ';
const usualTitles = ['time (utc)', 'status', 'model', 'channel', right('charge $'), 'call'];
const wideTitles = [
  ...['time (utc)', 'status', 'model', 'channel', 'key'],
  ...['in', 'out', 'ttft ms', 'ms', 'charge $'].map(right),
  'call',
];

function titles(isWide: boolean): typeof wideTitles {
  return isWide ? wideTitles : usualTitles;
}

/** Enough of a trace id to find the call by: its end, since all of an hour begin alike. */
const endDigits = 8;

function cellsOf(call: LedgerRecord, isWide: boolean, color: boolean): readonly string[] {
  const { traceId, modelRequested, channelId, keyId, usage, ttftMs, durationMs } = call;
  const time = new Date(call.startedAtMs).toISOString();
  const charge = isBilled(call) ? usd(call.chargeNanoUsd, 6) : '–';
  if (!isWide)
    return [
      time.slice(5, 19).replace('T', ' '),
      statusOf(call, color),
      cut(modelRequested, 17),
      cut(channelId ?? '–', 11),
      charge,
      traceId.slice(-endDigits),
    ];
  const spent = [usage.inputFresh + usage.inputCacheRead + usage.inputCacheWrite5m + usage.inputCacheWrite1h];
  return [
    time.slice(0, 23).replace('T', ' '),
    statusOf(call, color),
    ...[modelRequested, channelId ?? '–', keyId],
    ...[...spent, usage.output].map((tokens) => tokens.toLocaleString('en')),
    ttftMs === null ? '–' : Math.round(ttftMs).toLocaleString('en'),
    Math.round(durationMs).toLocaleString('en'),
    charge,
    traceId,
  ];
}

function isBilled({ status, unbilledReason, chargeNanoUsd }: LedgerRecord): boolean {
  return status !== 'open' && (unbilledReason === null || chargeNanoUsd !== zeroNanoUsd);
}

/** Callers end calls so, and nobody has failed. */
const idleStatuses: readonly LedgerRecord['status'][] = ['caller_gone', 'limit_reached'];

function statusOf({ status, unbilledReason }: LedgerRecord, color: boolean): string {
  if (status === 'open') return statusText(status, 'idle', color);
  const isGood = status === 'complete' && unbilledReason === null;
  return statusText(status, isGood ? 'good' : idleStatuses.includes(status) ? 'idle' : 'bad', color);
}

function showCall(context: CommandContext): Promise<ExitReason> {
  const { output } = context;
  const [given = ''] = context.positionals;
  const digits = given.replaceAll('-', '').toLowerCase();
  if (!/^[0-9a-f]{6,32}$/.test(digits)) {
    printFailure(output, [
      `"${given}" is no trace id: write its 32 hexadecimal digits, or its last ${endDigits}`,
    ]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store, clock }) => {
    const fromMs = clock.now() - daysBack * 86_400_000;
    await store.catchUp();
    const found =
      digits.length === 32
        ? [await store.findEntry(digits)].filter((entry) => entry !== null)
        : await store.calls.endingIn(digits, fromMs);
    const [call, ...others] = found;
    if (call === undefined || others.length > 0) {
      const message =
        call === undefined
          ? `there is no call ${digits}${digits.length === 32 ? '' : ` in the last ${daysBack} days; older ones are found by all 32 digits`}`
          : `${found.length} calls end in ${digits}: ${found.map(({ traceId }) => traceId).join(', ')}`;
      printFailure(output, [message]);
      return 'failed';
    }
    const { prices } = await store.configuration.load();
    printResult(output, callView(call, prices), callText(call, prices, output.color));
    return 'ok';
  });
}

function tailCalls(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const filter = readCallFilter(options, Date.now(), daysBack);
  if (!filter.ok) {
    printFailure(output, [filter.error]);
    return Promise.resolve('usage');
  }
  const isWide = options['wide'] !== undefined;
  return withWorkspace(context, async ({ store }) => {
    const stop = context.stopping();
    await store.catchUp();
    let { mark } = await store.calls.follow(filter.value, null);
    let isBegun = false;
    for (;;) {
      // The look that finds itself told to stop is the last one, so that nothing that has ended is left out.
      const isLast = stop.aborted;
      await store.catchUp();
      const { records, mark: next } = await store.calls.follow(filter.value, mark);
      mark = next;
      if (output.json) for (const call of records) output.write(`${jsonText(callView(call, null))}\n`);
      else if (records.length > 0) {
        const rows = records.map((call) => cellsOf(call, isWide, output.color));
        const lines = tableText(titles(isWide), rows, output.color, columnGap, tailWidths).split('\n');
        output.write(`${peopleText(lines.slice(isBegun ? 1 : 0).join('\n'))}\n`);
        isBegun = true;
      }
      if (isLast) return 'ok';
      await setTimeout(lookEveryMs, null, { signal: stop }).catch(() => null);
    }
  });
}

/** Columns stay where they are although their rows come one by one. */
const tailWidths = [14, 11, 17, 11, 10, endDigits];

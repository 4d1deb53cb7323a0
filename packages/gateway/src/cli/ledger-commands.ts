import { counted } from '../admin/banner.ts';
import { formatNanoUsd, type NanoUsd, nanoUsd } from '../money/money.ts';
import { csvCell } from '../ports/csv.ts';
import type { CallStatus } from '../ports/ledger.ts';
import type { EntryFilter, LedgerRecord } from '../ports/store.ts';
import { decodeRoute } from '../route/explain.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  jsonText,
  printFailure,
  printResult,
  readTime,
} from './command.ts';
import { statusText, tableText } from './table.ts';
import { withWorkspace } from './workspace.ts';

export const ledgerCommands: readonly Command[] = [
  command({ name: 'ledger verify', summary: 'Check every invariant of the ledger', run: verify }),
  command({
    name: 'ledger salvage',
    summary: 'Go on past damage in the journals of processes that died, keeping what can be read',
    run: salvage,
  }),
  command({
    name: 'ledger export',
    summary: 'Write ledger entries to standard output, oldest first',
    options: {
      format: { placeholder: 'ndjson|csv', help: 'Lines of JSON with all there is, or a table (ndjson)' },
      from: { placeholder: 'TIME', help: 'Calls begun at this date or time, or later' },
      to: { placeholder: 'TIME', help: 'Calls begun before this date or time' },
      account: { placeholder: 'ID', help: 'Calls of one account' },
      key: { placeholder: 'ID', help: 'Calls of one key' },
      channel: { placeholder: 'ID', help: 'Calls answered by one channel' },
      model: { placeholder: 'ID', help: 'Calls of one model' },
      tag: { placeholder: 'TAG', help: 'Calls that their caller has labelled so' },
      status: {
        placeholder: 'STATUS',
        help: 'complete, failed, timed_out, caller_gone, limit_reached, interrupted or open',
      },
    },
    run: exportEntries,
  }),
];

function verify(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store }) => {
    const verification = await store.verify();
    const { findings, counts, asOfMs } = verification;
    const { color } = context.output;
    const titles = ['rule', 'subject', 'detail'];
    const sound = findings.length === 0;
    const verdict = sound
      ? statusText('sound', 'good', color)
      : statusText(counted(findings.length, 'finding'), 'bad', color);
    const summary = `${verdict}: ${counted(counts.calls, 'call')} (${counts.billed} billed, ${counts.open} open), ${counted(counts.postings, 'posting')}, ${counted(counts.prices, 'price')}${asOfMs === null ? '' : `; ${behindText(asOfMs)}`}`;
    const rows = findings.map(({ rule, subject, detail }) => [rule, subject, detail]);
    printResult(
      context.output,
      verification,
      sound ? summary : `${tableText(titles, rows, color)}\n\n${summary}`,
    );
    return sound ? 'ok' : 'failed';
  });
}

function salvage(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store }) => {
    const salvaged = await store.salvage();
    if (salvaged === null) {
      printFailure(context.output, ['a gateway is running on these journals; stop it first']);
      return 'unavailable';
    }
    const titles = ['file', 'byte', 'damage', 'bytes skipped', 'lines kept'];
    const rows = salvaged.map(({ file, offset, detail, bytesSkipped, linesKept }) =>
      [file, offset, detail, bytesSkipped, linesKept].map(String),
    );
    const kept =
      'The journals are kept beside the others as RUN.damaged; `headgate ledger verify` checks what is stored now.';
    const text =
      rows.length === 0
        ? 'No journal is damaged.'
        : `${tableText(titles, rows, context.output.color)}\n\n${kept}`;
    printResult(context.output, salvaged, text);
    return 'ok';
  });
}

export function behindText(asOfMs: number): string {
  return `entries later than ${new Date(asOfMs).toISOString()} may not be in it yet`;
}

const statuses: readonly CallStatus[] = [
  'open',
  'complete',
  'failed',
  'timed_out',
  'caller_gone',
  'limit_reached',
  'interrupted',
];

function exportEntries(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const format = options['format'] ?? 'ndjson';
  const filter = readFilter(options);
  if (typeof filter === 'string' || (format !== 'ndjson' && format !== 'csv')) {
    printFailure(output, [typeof filter === 'string' ? filter : '--format must be ndjson or csv']);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store }) => {
    const asOfMs = await store.catchUp();
    if (format === 'csv') output.write(entryCsvTitles());
    for await (const entry of store.exportEntries(filter)) {
      output.write(format === 'csv' ? entryCsvLine(entry) : jsonLine(entry));
    }
    if (asOfMs !== null) output.writeError(`${behindText(asOfMs)}\n`);
    return 'ok';
  });
}

/** The filter, or what is wrong with it. */
function readFilter(options: Readonly<Record<string, string>>): EntryFilter | string {
  const { from, to, account, key, channel, model, tag, status } = options;
  const [fromMs, toMs] = [from, to].map((time) => (time === undefined ? undefined : readTime(time)));
  if (fromMs === null || toMs === null)
    return '--from and --to must be dates or times such as 2026-11-21T08:00Z';
  const known = statuses.find((name) => name === status);
  if (status !== undefined && known === undefined) return `--status must be one of ${statuses.join(', ')}`;
  return {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    ...(account === undefined ? {} : { accountId: account }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(channel === undefined ? {} : { channelId: channel }),
    ...(model === undefined ? {} : { model }),
    ...(tag === undefined ? {} : { tag }),
    ...(known === undefined ? {} : { status: known }),
  };
}

const csvColumns: readonly (readonly [string, (entry: LedgerRecord) => string | number | null])[] = [
  ['trace_id', (entry) => entry.traceId],
  ['started_at', (entry) => new Date(entry.startedAtMs).toISOString()],
  ['status', (entry) => entry.status],
  ['unbilled_reason', (entry) => entry.unbilledReason],
  ['account', (entry) => entry.accountId],
  ['key', (entry) => entry.keyId],
  ['group', (entry) => entry.groupId],
  ['model', (entry) => entry.modelRequested],
  ['channel', (entry) => entry.channelId],
  ['stream', (entry) => String(entry.stream)],
  ['input_fresh', (entry) => entry.usage.inputFresh],
  ['input_cache_read', (entry) => entry.usage.inputCacheRead],
  ['input_cache_write_5m', (entry) => entry.usage.inputCacheWrite5m],
  ['input_cache_write_1h', (entry) => entry.usage.inputCacheWrite1h],
  ['input_image', (entry) => entry.usage.inputImage],
  ['output', (entry) => entry.usage.output],
  ['output_reasoning', (entry) => entry.usage.outputReasoning],
  ['output_image', (entry) => entry.usage.outputImage],
  ['images', (entry) => entry.usage.images],
  ['input_audio', (entry) => entry.usage.inputAudio],
  ['input_cache_read_audio', (entry) => entry.usage.inputCacheReadAudio],
  ['output_audio', (entry) => entry.usage.outputAudio],
  ['citation', (entry) => entry.usage.citation],
  ['web_searches', (entry) => entry.usage.webSearches],
  ['file_searches', (entry) => entry.usage.fileSearches],
  ['code_sessions', (entry) => entry.usage.codeSessions],
  ['groundings', (entry) => entry.usage.groundings],
  ['pages', (entry) => entry.usage.pages],
  ['service_tier', (entry) => entry.terms?.service ?? null],
  ['region', (entry) => entry.terms?.region ?? null],
  ['search_context', (entry) => entry.terms?.searchContext ?? null],
  ['image_size', (entry) => entry.terms?.size ?? null],
  ['image_quality', (entry) => entry.terms?.quality ?? null],
  ['usage_source', (entry) => entry.usageSource],
  ['charge_usd', (entry) => formatNanoUsd(entry.chargeNanoUsd)],
  ['price_version', (entry) => entry.priceVersion],
  ['cost_usd', (entry) => formatNanoUsd(costOf(entry))],
  ['stated_cost_usd', (entry) => statedCostOf(entry)],
  ['http_status', (entry) => entry.httpStatus],
  ['error_code', (entry) => entry.errorCode],
  ['ttft_ms', (entry) => wholeMs(entry.ttftMs)],
  ['duration_ms', (entry) => wholeMs(entry.durationMs)],
  ['attempts', (entry) => entry.attempts.length],
  ['tag', (entry) => entry.tag],
];

/** All attempts of a call together. */
function costOf({ attempts }: LedgerRecord): NanoUsd {
  return nanoUsd(attempts.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0n), 0n));
}

/** The sum of what upstreams have said themselves; empty where none has. */
function statedCostOf({ attempts }: LedgerRecord): string | null {
  const stated = attempts.flatMap(({ statedCostNanoUsd }) => statedCostNanoUsd ?? []);
  return stated.length === 0 ? null : formatNanoUsd(nanoUsd(stated.reduce((sum, cost) => sum + cost, 0n)));
}

function wholeMs(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}

function jsonLine(entry: LedgerRecord): string {
  return `${jsonText({ ...entry, route: decodeRoute(entry.route) })}\n`;
}

/** The titles of `entryCsvLine`. */
export function entryCsvTitles(): string {
  return `${csvColumns.map(([title]) => title).join(',')}\n`;
}

export function entryCsvLine(entry: LedgerRecord): string {
  return `${csvColumns.map(([, read]) => csvCell(read(entry))).join(',')}\n`;
}

import { fail, type Result, succeed, totalInput, totalOutput } from '@headgate/protocols';
import { readCsv } from '../config/csv-reader.ts';
import type { NanoUsd } from '../money/money.ts';
import type { AttemptEntry } from '../ports/ledger.ts';
import type { EntryFilter, LedgerRecord } from '../ports/store.ts';
import {
  type Drift,
  type Side,
  StatementTable,
  type StatementTotals,
} from '../store/sqlite/statement-table.ts';
import { type Layout, readLayout, readUsageLine, type UsageField, type UsageLine } from './upstream-usage.ts';

/** How lines and attempts are told to be the same. */
export type MatchedBy = 'request' | 'day';

export interface ReconcileRequest {
  readonly channelId: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly mapping: ReadonlyMap<UsageField, string>;
  /** Null: by request where the file has ids of them. */
  readonly by: MatchedBy | null;
  /** The time that the file is about; null: from its first to its last. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** By how much costs may differ; null: as is usual for what they are matched by. */
  readonly tolerance: NanoUsd | null;
  readonly driftsMax: number;
  readonly entries: (filter: EntryFilter) => AsyncIterable<LedgerRecord>;
}

export interface BadLine {
  readonly line: number;
  readonly problem: string;
}

export interface Reconciliation {
  readonly by: MatchedBy;
  readonly lines: number;
  /** The first of them; `badLineCount` is how many there are. */
  readonly badLines: readonly BadLine[];
  readonly badLineCount: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly tolerance: NanoUsd;
  readonly totals: StatementTotals;
  readonly drifts: readonly Drift[];
  /** Attempts that used something and whose upstream gave no id of the request: they cannot be matched by it. */
  readonly withoutId: number;
  /** Attempts whose cost nobody here knows. */
  readonly unknownCosts: number;
}

const dayMs = 86_400_000;
const badLinesMax = 20;
/** An upstream's clock, and when it counts a request, are not ours. */
const slackMs = 3_600_000;
/** A request is priced in small pieces, and an invoice in cents. */
const usualTolerance = { request: 1_000n, day: 5_000_000n } as const satisfies Record<MatchedBy, bigint>;

/** Holds an upstream's statement against the ledger. The error says what is wrong with the file as a whole. */
export async function reconcile(request: ReconcileRequest): Promise<Result<Reconciliation, string>> {
  using table = new StatementTable();
  const statement = await readStatement(request, table);
  if (!statement.ok) return statement;
  const { layout, by, times, ...file } = statement.value;
  const fromMs = request.fromMs ?? times?.fromMs;
  const toMs = request.toMs ?? times?.toMs;
  if (fromMs === undefined || toMs === undefined)
    return fail('the file has no times, so say with --since and --until what time it is about');
  const ours = await addOurs(request, table, { by, layout, fromMs, toMs });
  const tolerance = request.tolerance ?? (usualTolerance[by] as NanoUsd);
  return succeed({
    ...{ by, fromMs, toMs, tolerance, ...file, ...ours },
    totals: table.totals(tolerance),
    drifts: table.drifts(tolerance, request.driftsMax),
  });
}

interface Statement extends Pick<Reconciliation, 'by' | 'lines' | 'badLines' | 'badLineCount'> {
  readonly layout: Layout;
  readonly times: Period | null;
}

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

async function readStatement(
  { chunks, mapping, by }: ReconcileRequest,
  table: StatementTable,
): Promise<Result<Statement, string>> {
  let layout: Layout | null = null;
  let [lines, badLineCount, columns] = [0, 0, 0];
  let times: Period | null = null;
  let matchedBy: MatchedBy = by ?? 'request';
  const badLines: BadLine[] = [];
  for await (const record of readCsv(chunks)) {
    if (layout === null) {
      if ('problem' in record) return fail(`line ${record.line}: ${record.problem}`);
      const found = readLayout(record.cells, mapping);
      if (!found.ok) return found;
      layout = found.value;
      columns = record.cells.length;
      matchedBy = by ?? (layout.has('request_id') ? 'request' : 'day');
      const missing = missingFor(matchedBy, layout);
      if (missing !== null) return fail(missing);
      continue;
    }
    lines++;
    const read =
      'problem' in record ? fail(record.problem) : readCells(record.cells, columns, layout, matchedBy);
    if (read.ok) {
      times = widened(times, read.value);
      addUpstream(table, read.value, matchedBy);
    } else {
      badLineCount++;
      if (badLines.length < badLinesMax) badLines.push({ line: record.line, problem: read.error });
    }
  }
  if (layout === null) return fail('the file is empty: its first line must be the titles of its columns');
  return succeed({ by: matchedBy, lines, badLines, badLineCount, layout, times });
}

function missingFor(by: MatchedBy, layout: Layout): string | null {
  if (by === 'request' ? layout.has('request_id') : layout.has('time') && layout.has('model')) return null;
  return by === 'request'
    ? 'to match by request the file needs a column request_id; say which it is with --columns'
    : 'to match by day the file needs the columns time and model; say which they are with --columns';
}

function readCells(
  cells: readonly string[],
  columns: number,
  layout: Layout,
  by: MatchedBy,
): Result<UsageLine, string> {
  if (cells.length !== columns) return fail(`it has ${cells.length} cells, and the titles are ${columns}`);
  const read = readUsageLine(cells, layout);
  if (!read.ok) return read;
  const { requestId, atMs, model } = read.value;
  if (by === 'request') return requestId === null ? fail('request_id is empty') : read;
  return atMs === null || model === null ? fail(`${atMs === null ? 'time' : 'model'} is empty`) : read;
}

function widened(times: Period | null, { atMs, isMoment }: UsageLine): Period | null {
  if (atMs === null) return times;
  const toMs = atMs + (isMoment ? 1 : dayMs);
  if (times === null) return { fromMs: atMs, toMs };
  return { fromMs: Math.min(times.fromMs, atMs), toMs: Math.max(times.toMs, toMs) };
}

function addUpstream(table: StatementTable, line: UsageLine, by: MatchedBy): void {
  if (by === 'request') table.add('upstream', line.requestId ?? '', '', line);
  else table.add('upstream', dayOf(line.atMs ?? 0), line.model ?? '', line);
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

interface Scope extends Period {
  readonly by: MatchedBy;
  readonly layout: Layout;
}

async function addOurs(
  { channelId, entries }: ReconcileRequest,
  table: StatementTable,
  scope: Scope,
): Promise<Pick<Reconciliation, 'withoutId' | 'unknownCosts'>> {
  let [withoutId, unknownCosts] = [0, 0];
  const models = scope.by === 'day' ? table.models() : new Set<string>();
  const period = periodOf(scope);
  for await (const entry of entries({ triedChannelId: channelId, ...period })) {
    for (const attempt of entry.attempts) {
      if (attempt.channelId !== channelId) continue;
      const isUsed = isCharged(attempt);
      const name = scope.by === 'day' ? dayOf(entry.startedAtMs) : attempt.upstreamRequestId;
      if (name === null) withoutId += isUsed ? 1 : 0;
      else if (isWanted(table, scope, entry, name, isUsed)) {
        if (attempt.costNanoUsd === null) unknownCosts++;
        const model = scope.by === 'day' ? modelOf(entry, attempt, models) : '';
        table.add('ours', name, model, sideOf(attempt, scope.layout));
      }
    }
  }
  return { withoutId, unknownCosts };
}

/** All days of the file, or around its first and last request. */
function periodOf({ by, fromMs, toMs }: Scope): Period {
  if (by === 'request') return { fromMs: fromMs - slackMs, toMs: toMs + slackMs };
  return { fromMs: Math.floor(fromMs / dayMs) * dayMs, toMs: Math.ceil(toMs / dayMs) * dayMs };
}

/** An attempt that the file names is always wanted. One that it does not is missing there, if it used something in the time of the file. */
function isWanted(
  table: StatementTable,
  { by, fromMs, toMs }: Scope,
  { startedAtMs }: LedgerRecord,
  name: string,
  isUsed: boolean,
): boolean {
  if (by === 'day') return isUsed;
  return table.has(name) || (isUsed && startedAtMs >= fromMs && startedAtMs < toMs);
}

function isCharged({ usage, costNanoUsd }: AttemptEntry): boolean {
  return usage !== null || costNanoUsd === null || costNanoUsd > 0n;
}

/** The name that the file has for the model: as it was asked for, or as its answer calls it. */
function modelOf(
  entry: LedgerRecord,
  { upstreamModel, n }: AttemptEntry,
  models: ReadonlySet<string>,
): string {
  const { modelServed, attempts } = entry;
  if (models.has(upstreamModel) || modelServed === null || n !== attempts.length) return upstreamModel;
  return models.has(modelServed) ? modelServed : upstreamModel;
}

/** Only the file's own fields are compared. */
function sideOf({ usage, costNanoUsd }: AttemptEntry, layout: Layout): Side {
  const hasInput = layout.has('input_tokens') || layout.has('uncached_input_tokens');
  return {
    requests: 1,
    inputTokens: hasInput ? (usage === null ? 0 : totalInput(usage)) : null,
    outputTokens: layout.has('output_tokens')
      ? usage === null
        ? 0
        : totalOutput(usage) - usage.images
      : null,
    costNanoUsd: layout.has('cost_usd') ? costNanoUsd : null,
  };
}

/** The two sides say the same, and every line could be read. */
export function isReconciled({ totals, badLineCount }: Reconciliation): boolean {
  return badLineCount === 0 && Object.values(totals.counts).every((count) => count === 0);
}

import { noTerms, type Usage, type UsageTerms } from '@headgate/protocols';
import { nanoUsd } from '../money/money.ts';
import type { BookedAttempt } from '../money/postings.ts';
import type { AttemptEntry, CallEntry, CallOpening, EntryPart } from '../ports/ledger.ts';
import type { LedgerRecord } from '../ports/store.ts';

/** A value as the store holds it. Usage and money are integers; nothing monetary is ever a float. */
export type Cell = string | number | bigint | null;

/**
 * The columns of `calls` that hold one field of an entry, one column but for usage. `write` gives the field as JSON, a value for
 * each column with commas between: the same on a line of the journal and in the store. `read` makes the field again from
 * the store's cells, which nobody but `write` has filled.
 */
interface Column<Source, Field> {
  readonly names: readonly string[];
  readonly write: (source: Source) => string;
  readonly read: (cells: readonly Cell[]) => Field;
}

type Columns<Source, Fields> = { readonly [Name in keyof Fields]-?: Column<Source, Fields[Name]> };

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Text that is its own JSON needs no more than quotes, and nearly all text is. */
function quote(text: string | null): string {
  if (text === null) return 'null';
  return plain.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed());
}

type Write<Source> = (source: Source) => string;

function text<Source, Field extends string | null>(
  name: string,
  write: Write<Source>,
): Column<Source, Field> {
  return { names: [name], write, read: ([cell]) => (cell ?? null) as Field };
}

function number<Source>(name: string, write: Write<Source>): Column<Source, number> {
  return { names: [name], write, read: ([cell]) => Number(cell) };
}

function optionalNumber<Source>(name: string, write: Write<Source>): Column<Source, number | null> {
  const read = ([cell]: readonly Cell[]) => (cell === null || cell === undefined ? null : Number(cell));
  return { names: [name], write, read };
}

/** An integer that JSON would round: written as text, which the store takes for the integer it is. */
function amount<Source, Field extends bigint>(
  name: string,
  write: Write<Source>,
  brand: (value: bigint) => Field,
): Column<Source, Field> {
  return { names: [name], write, read: ([cell]) => brand(BigInt(cell ?? 0)) };
}

export const usageColumns = [
  'input_fresh',
  'input_cache_read',
  'input_cache_write_5m',
  'input_cache_write_1h',
  'input_audio',
  'input_image',
  'output',
  'output_reasoning',
  'output_audio',
  'output_image',
  'images',
  'input_cache_read_audio',
  'citation',
  'web_searches',
  'file_searches',
  'code_sessions',
  'groundings',
  'pages',
] as const;

function writeUsage(usage: Usage): string {
  const tokens = `${usage.inputFresh},${usage.inputCacheRead},${usage.inputCacheWrite5m},${usage.inputCacheWrite1h},${usage.inputAudio},${usage.inputImage},${usage.output},${usage.outputReasoning},${usage.outputAudio},${usage.outputImage},${usage.images}`;
  return `${tokens},${usage.inputCacheReadAudio},${usage.citation},${usage.webSearches},${usage.fileSearches},${usage.codeSessions},${usage.groundings},${usage.pages}`;
}

/** The parts of usage have the names of their columns, written as a member. */
const partNames = usageColumns.map(
  (column) => column.replace(/_(.)/g, (_, first: string) => first.toUpperCase()) as keyof Usage,
);

/** Usage from its cells, in the order of `usageColumns`; those written before a part was counted lack it. */
export function readUsage(cells: readonly Cell[]): Usage {
  const parts = partNames.map((part, at) => [part, Number(cells[at] ?? 0)]);
  // Every part has its column.
  return Object.fromEntries(parts) as Usage;
}

/** A call and each of its attempts have these alike. */
const alike = {
  httpStatus: optionalNumber(
    'http_status',
    ({ httpStatus }: Pick<CallEntry, 'httpStatus'>) => `${httpStatus}`,
  ),
  ttftMs: optionalNumber('ttft_ms', ({ ttftMs }: Pick<CallEntry, 'ttftMs'>) => `${ttftMs}`),
  durationMs: number('duration_ms', ({ durationMs }: Pick<CallEntry, 'durationMs'>) => `${durationMs}`),
};

const openingFields = {
  traceId: text('trace_id', (call) => quote(call.traceId)),
  accountId: text('account_id', (call) => quote(call.accountId)),
  keyId: text('key_id', (call) => quote(call.keyId)),
  groupId: text('group_id', (call) => quote(call.groupId)),
  surface: text('surface', (call) => quote(call.surface)),
  modelRequested: text('model_requested', (call) => quote(call.modelRequested)),
  stream: {
    names: ['stream'],
    write: (call) => (call.stream ? '1' : '0'),
    read: ([cell]) => Number(cell) === 1,
  },
  startedAtMs: number('started_at_ms', (call) => `${Math.round(call.startedAtMs)}`),
  priceVersion: text('price_version', (call) => quote(call.priceVersion)),
  multiplierPpm: amount(
    'multiplier_ppm',
    (call) => `"${call.multiplierPpm}"`,
    (value) => value,
  ),
  // Few callers say these.
  clientRequestId: text('client_request_id', ({ clientRequestId: id }) => (id === null ? 'null' : quote(id))),
  parentTrace: text('parent_trace', ({ parentTrace }) =>
    parentTrace === null ? 'null' : quote(parentTrace),
  ),
  userAgent: text('user_agent', (call) => quote(call.userAgent)),
  tag: text('tag', ({ tag }) => (tag === null ? 'null' : quote(tag))),
} satisfies Columns<CallOpening, CallOpening>;

/** A call's end, without the two fields that are documents. The status of a record may also be one that only the store gives. */
type Ending = Omit<LedgerRecord, keyof CallOpening | 'attempts' | 'route'>;

const endingFields = {
  status: text<CallEntry, LedgerRecord['status']>('status', (call) => quote(call.status)),
  unbilledReason: text('unbilled_reason', ({ unbilledReason: reason }) =>
    reason === null ? 'null' : quote(reason),
  ),
  channelId: text('channel_id', (call) => quote(call.channelId)),
  modelServed: text('model_served', (call) => quote(call.modelServed)),
  usage: { names: usageColumns, write: (call) => writeUsage(call.usage), read: readUsage },
  usageSource: text('usage_source', (call) => quote(call.usageSource)),
  parts: {
    names: ['parts'],
    write: ({ parts }) => (parts === null ? 'null' : writeParts(parts)),
    read: readPartList,
  },
  terms: {
    names: ['image_kind', 'terms'],
    write: ({ terms }) => (terms === null ? 'null,null' : writeTerms(terms)),
    read: readTerms,
  },
  chargeNanoUsd: amount('charge_nano_usd', (call) => `"${call.chargeNanoUsd}"`, nanoUsd),
  leased: number('leased', (call) => `${call.leased}`),
  finishReason: text('finish_reason', (call) => quote(call.finishReason)),
  finishReasonRaw: text('finish_reason_raw', (call) => quote(call.finishReasonRaw)),
  httpStatus: alike.httpStatus,
  errorCode: text('error_code', ({ errorCode }) => (errorCode === null ? 'null' : quote(errorCode))),
  losses: {
    names: ['losses'],
    // Most lists are empty, and null is the cheapest cell there is.
    write: ({ losses }) =>
      losses.length === 0 ? 'null' : quote(JSON.stringify(losses.map((name) => name.toWellFormed()))),
    read: ([cell]) => (typeof cell === 'string' ? (JSON.parse(cell) as readonly string[]) : []),
  },
  ttftMs: alike.ttftMs,
  durationMs: alike.durationMs,
  overheadUs: number('overhead_us', (call) => `${Math.round(call.overheadUs)}`),
  finishedAtMs: optionalNumber<CallEntry>('finished_at_ms', (call) => `${Math.round(call.finishedAtMs)}`),
} satisfies Columns<CallEntry, Ending>;

/** A list with an array for each part: its version, and its usage behind it. */
function writeParts(parts: readonly EntryPart[]): string {
  const written = parts.map(({ priceVersion, usage }) => `[${quote(priceVersion)},${writeUsage(usage)}]`);
  return quote(`[${written}]`);
}

function readPartList([cell]: readonly Cell[]): readonly EntryPart[] | null {
  if (typeof cell !== 'string') return null;
  const parts = JSON.parse(cell) as readonly (readonly [string, ...Cell[]])[];
  return parts.map(([priceVersion, ...usage]) => ({ priceVersion, usage: readUsage(usage) }));
}

/** Images had a column of their own before there were other terms. */
function writeTerms(terms: UsageTerms): string {
  const { size, quality, service, region, searchContext, promptTokens } = terms;
  const kind = size === null && quality === null ? 'null' : quote(JSON.stringify([size, quality]));
  const words = [service, region, searchContext, promptTokens];
  return `${kind},${words.every((word) => word === null) ? 'null' : quote(JSON.stringify(words))}`;
}

function readTerms([kind, words]: readonly Cell[]): UsageTerms | null {
  if (typeof kind !== 'string' && typeof words !== 'string') return null;
  const [size = null, quality = null] = listIn<string>(kind);
  const [service = null, region = null, searchContext = null] = listIn<string>(words);
  return {
    ...noTerms,
    size,
    quality,
    service,
    region,
    searchContext,
    promptTokens: listIn<number>(words)[3] ?? null,
  };
}

/** The list in a cell that only we have written. */
function listIn<Element>(cell: Cell | undefined): readonly (Element | null)[] {
  return typeof cell === 'string' ? (JSON.parse(cell) as readonly (Element | null)[]) : [];
}

/** Attempts live in their call's row, an array each: they are written with it, read with it, and never change. */
const attemptFields = {
  n: number('n', (attempt) => `${attempt.n}`),
  channelId: text('channel_id', (attempt) => quote(attempt.channelId)),
  upstreamModel: text('upstream_model', (attempt) => quote(attempt.upstreamModel)),
  upstreamRequestId: text('upstream_request_id', (attempt) => quote(attempt.upstreamRequestId)),
  result: text('result', (attempt) => quote(attempt.result)),
  detail: text('detail', ({ detail }) => (detail === null ? 'null' : quote(detail))),
  httpStatus: alike.httpStatus,
  ttftMs: alike.ttftMs,
  durationMs: alike.durationMs,
  usage: {
    names: ['usage'],
    write: ({ usage }) => (usage === null ? 'null' : `[${writeUsage(usage)}]`),
    // An array within the attempt's own.
    read: ([cells]) => (cells === null ? null : readUsage(cells as unknown as readonly Cell[])),
  },
  costNanoUsd: {
    names: ['cost_nano_usd'],
    write: ({ costNanoUsd: cost }) => (cost === null ? 'null' : `"${cost}"`),
    read: ([cell]) => (cell == null ? null : nanoUsd(BigInt(cell))),
  },
  lane: text('lane', (attempt) => quote(attempt.lane)),
  edits: {
    names: ['edits'],
    write: ({ edits }) => (edits.length === 0 ? '[]' : JSON.stringify(edits)),
    // As usage.
    read: ([cells]) => cells as unknown as readonly string[],
  },
  statedCostNanoUsd: {
    names: ['stated_cost_nano_usd'],
    write: ({ statedCostNanoUsd: stated }) => (stated === null ? 'null' : `"${stated}"`),
    read: ([cell]) => (cell === null || cell === undefined ? null : nanoUsd(BigInt(cell))),
  },
} satisfies Columns<AttemptEntry, AttemptEntry>;

const openingList: readonly Column<CallOpening, unknown>[] = Object.values(openingFields);
const endingList: readonly Column<CallEntry, unknown>[] = Object.values(endingFields);
const attemptList: readonly Column<AttemptEntry, unknown>[] = Object.values(attemptFields);

/** The members of an attempt's array. */
export const attemptColumns: readonly string[] = attemptList.flatMap(({ names }) => names);

/** The columns whose cells a line of the journal has. */
export const lineColumns: readonly string[] = [...openingList, ...endingList].flatMap(({ names }) => names);

/** The columns of `calls`; the trace id comes first, the two that are documents last. */
export const callColumns: readonly string[] = [...lineColumns, 'attempts', 'route'];

/** The place of a column among `callColumns`. */
export function placeOf(column: string): number {
  const place = callColumns.indexOf(column);
  if (place < 0) throw new Error(`the ledger has no column ${column}`);
  return place;
}

/** Stands between the cells, the attempts and the route of a line. Within JSON it never stands unescaped. */
export const divider = '\t';

/** The one entry of a call as its line of the journal: `E[cell,…]`, its attempts, and how it was routed. */
export function writeEntry(entry: CallEntry): string {
  let line = `E[${writeAll(openingList, entry)}`;
  for (const column of endingList) line += `,${column.write(entry)}`;
  line += `]${divider}[`;
  for (let at = 0; at < entry.attempts.length; at++) {
    const attempt = entry.attempts[at];
    if (attempt !== undefined) line += `${at === 0 ? '[' : ',['}${writeAll(attemptList, attempt)}]`;
  }
  return `${line}]${divider}${entry.route ?? ''}`;
}

/** A call that has begun as a line of the journal: `O[cell,…]`, with what is known of it. */
export function writeOpen(opening: CallOpening): string {
  return `O[${writeAll(openingList, opening)}]`;
}

function writeAll<Source>(columns: readonly Column<Source, unknown>[], source: Source): string {
  let cells = '';
  for (let at = 0; at < columns.length; at++) {
    if (at > 0) cells += ',';
    cells += columns[at]?.write(source);
  }
  return cells;
}

/** The first value of an entry that no line can hold, in words; null for every entry that is sound. */
export function unwritable(entry: CallEntry): string | null {
  const { usage, attempts, startedAtMs, finishedAtMs, durationMs, overheadUs, ttftMs, httpStatus } = entry;
  // One that is not finite leaves no sum finite.
  const sum = startedAtMs + finishedAtMs + durationMs + overheadUs + (ttftMs ?? 0) + (httpStatus ?? 0);
  if (!Number.isFinite(sum)) return 'a time of the call is no number';
  if (!isWhole(usage)) return 'usage is counted in whole numbers';
  if (entry.parts?.every((part) => isWhole(part.usage)) === false) return 'usage is counted in whole numbers';
  for (const attempt of attempts) {
    const times = attempt.n + attempt.durationMs + (attempt.ttftMs ?? 0) + (attempt.httpStatus ?? 0);
    if (!Number.isFinite(times)) return 'a time of an attempt is no number';
    if (attempt.usage !== null && !isWhole(attempt.usage)) return 'usage is counted in whole numbers';
  }
  return null;
}

function isWhole(usage: Usage): boolean {
  for (const part of partNames) if (!Number.isSafeInteger(usage[part])) return false;
  return true;
}

const recordFields = Object.entries<Column<CallEntry, unknown>>({ ...openingFields, ...endingFields });

/** A row of `calls`, every column of it, as the record it holds. */
export function readRecord(row: Readonly<Record<string, unknown>>): LedgerRecord {
  // The store gives back cells and nothing else.
  const cells = row as Readonly<Record<string, Cell>>;
  const fields = recordFields.map(([field, { names, read }]) => [
    field,
    read(names.map((column) => cells[column] ?? null)),
  ]);
  // Each field has its columns: the tables above have the type of what they describe.
  return {
    ...Object.fromEntries(fields),
    attempts: readAttempts(String(cells['attempts'])),
    route: cells['route'] ?? null,
  } as LedgerRecord;
}

const { traceId, priceVersion, multiplierPpm } = openingFields;
const { usage, parts, terms, chargeNanoUsd } = endingFields;

/** The columns that say what a call is charged, and of which price. */
export const pricingColumns: readonly string[] = [
  ...[traceId, priceVersion, multiplierPpm, usage, parts, terms, chargeNanoUsd].flatMap(({ names }) => names),
];

type Pricing = Pick<
  LedgerRecord,
  'priceVersion' | 'multiplierPpm' | 'usage' | 'parts' | 'terms' | 'chargeNanoUsd'
>;

/** The same of a row. */
export function readPricing(row: Readonly<Record<string, Cell>>): Pricing {
  const cellsOf = (names: readonly string[]) => names.map((name) => row[name] ?? null);
  return {
    priceVersion: priceVersion.read(cellsOf(priceVersion.names)),
    multiplierPpm: multiplierPpm.read(cellsOf(multiplierPpm.names)),
    usage: usage.read(cellsOf(usage.names)),
    parts: parts.read(cellsOf(parts.names)),
    terms: terms.read(cellsOf(terms.names)),
    chargeNanoUsd: chargeNanoUsd.read(cellsOf(chargeNanoUsd.names)),
  };
}

const attemptNames = Object.keys(attemptFields);

function readAttempts(text: string): readonly AttemptEntry[] {
  const attempts = JSON.parse(text) as readonly Cell[][];
  return attempts.map((cells) => {
    const fields = attemptList.map(({ read }, at) => [attemptNames[at], read([cells[at] ?? null])]);
    // As `readRecord`.
    return Object.fromEntries(fields) as AttemptEntry;
  });
}

const channelAt = attemptColumns.indexOf('channel_id');
const resultAt = attemptColumns.indexOf('result');
const costAt = attemptColumns.indexOf('cost_nano_usd');

/** Postings and sums need no more than this of the attempts. */
export function readBooked(text: string): readonly BookedAttempt[] {
  const attempts = JSON.parse(text) as readonly Cell[][];
  return attempts.map((cells) => ({
    channelId: String(cells[channelAt]),
    result: String(cells[resultAt]),
    costNanoUsd: cells[costAt] == null ? null : nanoUsd(BigInt(cells[costAt])),
  }));
}

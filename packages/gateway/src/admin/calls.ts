import { formatNanoUsd } from '../money/money.ts';
import type { CallPage, CallQuery, CallTotals } from '../ports/call-search.ts';
import { csvCell } from '../ports/csv.ts';
import type { LedgerRecord, Store } from '../ports/store.ts';
import { type CallLine, type CallReader, callLine, callStory } from './call-words.ts';
import { includes, type Scope } from './people/actor.ts';

export interface CallTools {
  readonly store: Pick<Store, 'search' | 'findEntry' | 'catchUp'> & {
    readonly configuration: Pick<Store['configuration'], 'load'>;
  };
  readonly reader: CallReader;
}

/** A page of the ledger. Only the first one waits until what is durable can be seen: those behind it are older. */
export async function callPage(
  { store, reader }: CallTools,
  query: CallQuery,
  limit: number,
  before: string | null,
): Promise<Omit<CallPage, 'records'> & { readonly lines: readonly CallLine[] }> {
  if (before === null) await store.catchUp();
  const { records, ...rest } = await store.search.page(query, limit, before);
  return { lines: records.map((record) => callLine(record, reader)), ...rest };
}

/** The sums of a filter, as programs read them. */
export async function callSums({ store, reader }: CallTools, query: CallQuery) {
  const { chargeNanoUsd, costNanoUsd, unknownCosts, ...totals }: CallTotals =
    await store.search.totals(query);
  return {
    ...totals,
    charge: formatNanoUsd(chargeNanoUsd),
    ...(reader.isOperator ? { cost: formatNanoUsd(costNanoUsd), unknownCosts } : {}),
  };
}

/** A call of the accounts that may be seen, with where its charge comes from; null where there is none. */
export async function oneCall({ store, reader }: CallTools, scope: Scope, traceId: string) {
  const record: LedgerRecord | null = await store.findEntry(traceId);
  if (record === null || !includes(scope, record.accountId)) return null;
  const { prices } = await store.configuration.load();
  return callStory(record, prices, reader);
}

export type ExportFormat = 'csv' | 'ndjson';

/** Calls that are read at a time. */
const exportStep = 500;

const columns = [
  ...([
    'traceId',
    'startedAt',
    'finishedAt',
    'status',
    'unbilledReason',
    'accountId',
    'keyId',
    'keyName',
  ] as const),
  ...([
    'groupId',
    'surface',
    'modelRequested',
    'modelServed',
    'stream',
    'inputTokens',
    'cachedTokens',
  ] as const),
  ...(['outputTokens', 'charge', 'ttftMs', 'durationMs', 'attempts', 'httpStatus', 'errorCode'] as const),
  ...(['finishReason', 'tag', 'losses'] as const),
] as const;
const operatorColumns = ['channelId', 'cost'] as const;

/** The calls of a filter as text, newest first, a step at a time: whoever reads slowly holds no more than that. */
export async function* exportCalls(
  { store, reader }: CallTools,
  query: CallQuery,
  format: ExportFormat,
): AsyncGenerator<string> {
  const named = [...columns, ...(reader.isOperator ? operatorColumns : [])];
  if (format === 'csv') yield `${named.join(',')}\r\n`;
  await store.catchUp();
  let before: string | null = null;
  do {
    const { records, next }: CallPage = await store.search.page(query, exportStep, before);
    const lines = records.map((record) => callLine(record, reader));
    const text = lines.map((line) =>
      format === 'csv'
        ? `${named.map((name) => csvCell(cellOf(line[name]))).join(',')}\r\n`
        : `${JSON.stringify(line)}\n`,
    );
    if (text.length > 0) yield text.join('');
    before = next;
  } while (before !== null);
}

function cellOf(value: CallLine[keyof CallLine]): string | number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? value.join(' ') : value;
}

import { formatNanoUsd, nanoUsd } from '../money/money.ts';
import type { CallFilter, Spend, SpendDimension } from '../ports/call-reports.ts';
import { csvText } from '../ports/csv.ts';
import type { KeyDirectory } from '../ports/key-directory.ts';
import type { Store } from '../ports/store.ts';
import type { Scope } from './people/actor.ts';

export interface SpendTools {
  readonly store: Pick<Store, 'catchUp'> & {
    readonly calls: Pick<Store['calls'], 'spend'>;
    readonly keys: Pick<KeyDirectory, 'choices'>;
  };
  readonly isOperator: boolean;
  readonly nowMs: number;
  keyOf(id: string): { readonly name: string } | null;
}

/** Tells what calls were charged, by one thing that they have in common, as programs read it: so many rows, and all others in one. */
export async function spendReport(
  tools: SpendTools,
  scope: Scope,
  { by, filter, limit }: { readonly by: SpendDimension; readonly filter: CallFilter; readonly limit: number },
) {
  const rows = await spentIn(tools, by, filter);
  const nameOf = await namesOf(tools, scope, by);
  const view = (row: Spend) => ({ id: row.name, name: nameOf(row.name), ...sumsOf(row, tools.isOperator) });
  const others = rows.slice(limit);
  return {
    by,
    from: isoOf(filter.fromMs),
    to: filter.toMs === undefined ? null : isoOf(filter.toMs),
    items: rows.slice(0, limit).map(view),
    others:
      others.length === 0 ? null : { count: others.length, ...sumsOf(totalSpend(others), tools.isOperator) },
    total: sumsOf(totalSpend(rows), tools.isOperator),
  };
}

/** The same as a table for programs, exact and whole. */
export async function spendTable(
  tools: SpendTools,
  { by, filter }: { readonly by: SpendDimension; readonly filter: CallFilter },
): Promise<string> {
  return spendCsv(by, await spentIn(tools, by, filter), tools.isOperator);
}

async function spentIn({ store }: SpendTools, by: SpendDimension, filter: CallFilter) {
  await store.catchUp();
  return store.calls.spend(by, filter);
}

/** The sum of all rows. */
export function totalSpend(rows: readonly Spend[]): Spend {
  const sum = (read: (row: Spend) => number) => rows.reduce((total, row) => total + read(row), 0);
  const amount = (read: (row: Spend) => bigint) =>
    nanoUsd(rows.reduce((total, row) => total + read(row), 0n));
  return {
    name: null,
    calls: sum(({ calls }) => calls),
    billedCalls: sum(({ billedCalls }) => billedCalls),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    chargeNanoUsd: amount(({ chargeNanoUsd }) => chargeNanoUsd),
    costNanoUsd: amount(({ costNanoUsd }) => costNanoUsd),
    unknownCosts: sum(({ unknownCosts }) => unknownCosts),
  };
}

/** A line for each row; what calls cost is for operators. */
export function spendCsv(by: SpendDimension, rows: readonly Spend[], isOperator: boolean): string {
  const titles = [
    ...[by, 'calls', 'billed_calls', 'input_tokens', 'output_tokens', 'charge_usd'],
    ...(isOperator ? ['cost_usd', 'margin_usd', 'unknown_costs'] : []),
  ];
  return csvText(
    titles,
    rows.map((row) => [
      ...[row.name, row.calls, row.billedCalls, row.inputTokens, row.outputTokens],
      formatNanoUsd(row.chargeNanoUsd),
      ...(isOperator ? [formatNanoUsd(row.costNanoUsd), formatNanoUsd(marginOf(row)), row.unknownCosts] : []),
    ]),
  );
}

function marginOf({ chargeNanoUsd, costNanoUsd }: Spend) {
  return nanoUsd(chargeNanoUsd - costNanoUsd);
}

function sumsOf(row: Spend, isOperator: boolean) {
  const { calls, billedCalls, inputTokens, outputTokens, chargeNanoUsd, costNanoUsd, unknownCosts } = row;
  return {
    ...{ calls, billedCalls, inputTokens, outputTokens, charge: formatNanoUsd(chargeNanoUsd) },
    ...(isOperator
      ? { cost: formatNanoUsd(costNanoUsd), margin: formatNanoUsd(marginOf(row)), unknownCosts }
      : {}),
  };
}

/** Names beside ids, of what has both. */
async function namesOf({ store, keyOf }: SpendTools, scope: Scope, by: SpendDimension) {
  if (by === 'key') return (id: string | null) => (id === null ? null : (keyOf(id)?.name ?? null));
  if (by !== 'account' && by !== 'group') return () => null;
  const { accounts, groups } = await store.keys.choices(scope);
  const names = new Map((by === 'account' ? accounts : groups).map(({ id, name }) => [id, name]));
  return (id: string | null) => (id === null ? null : (names.get(id) ?? null));
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

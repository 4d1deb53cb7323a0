import { type Kysely, type Selectable, sql } from 'kysely';
import { type NanoUsd, nanoUsd } from '../money/money.ts';
import { adjustmentPosting } from '../money/postings.ts';
import type { AccountMoney, Adjustment, AdjustmentResult, SpendingPeriod } from '../ports/accounts.ts';
import { lineageOfKeys } from './key-lineage.ts';
import type { AdjustmentsTable, Schema } from './schema.ts';

/** Half of what an integer of the store holds: sums of two balances fit. */
const balanceMax = 2n ** 62n;

/** Writes an adjustment with its posting in the transaction that moves the balances, or says why not. */
export function adjust(
  database: Kysely<Schema>,
  adjustment: Adjustment,
  isForced: boolean,
): Promise<AdjustmentResult> {
  return database.transaction().execute(async (transaction): Promise<AdjustmentResult> => {
    const { accountId, amountNanoUsd } = adjustment;
    const account = await transaction
      .selectFrom('accounts')
      .select(['prepaid', 'credit_limit_nano_usd'])
      .where('id', '=', accountId)
      .where('removed', '=', 0n)
      .executeTakeFirst();
    if (account === undefined) return { kind: 'unknown-account' };
    const before = await balanceOf(transaction, `account:${accountId}`);
    const known = await findByReference(transaction, adjustment);
    if (known !== null) {
      return known.amountNanoUsd === amountNanoUsd
        ? { kind: 'known', adjustment: known, balanceNanoUsd: before }
        : { kind: 'other-amount', adjustment: known };
    }
    const after = nanoUsd(before + amountNanoUsd);
    const creditLimitNanoUsd = nanoUsd(account.credit_limit_nano_usd ?? 0n);
    const mayOweMore = amountNanoUsd > 0n || account.prepaid === 0n || isForced;
    if (!mayOweMore && after < -creditLimitNanoUsd)
      return { kind: 'below-limit', balanceNanoUsd: before, creditLimitNanoUsd };
    const granted = (await balanceOf(transaction, 'credit')) - amountNanoUsd;
    if ([after, granted].some((balance) => balance > balanceMax || balance < -balanceMax))
      return { kind: 'too-large' };
    await write(transaction, adjustment);
    return { kind: 'posted', adjustment, balanceNanoUsd: after };
  });
}

async function balanceOf(transaction: Kysely<Schema>, ledgerAccount: string): Promise<NanoUsd> {
  const row = await transaction
    .selectFrom('balances')
    .select('balance_nano_usd')
    .where('ledger_account', '=', ledgerAccount)
    .executeTakeFirst();
  return nanoUsd(row?.balance_nano_usd ?? 0n);
}

async function findByReference(
  transaction: Kysely<Schema>,
  { accountId, reference }: Adjustment,
): Promise<Adjustment | null> {
  if (reference === null) return null;
  const row = await transaction
    .selectFrom('adjustments')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('reference', '=', reference)
    .executeTakeFirst();
  return row === undefined ? null : toAdjustment(row);
}

async function write(transaction: Kysely<Schema>, adjustment: Adjustment): Promise<void> {
  const { id, accountId, reason, reference, madeBy, atMs } = adjustment;
  await transaction
    .insertInto('adjustments')
    .values({
      ...{ id, account_id: accountId, amount_nano_usd: adjustment.amountNanoUsd, reason, reference },
      ...{ made_by: madeBy, at_ms: BigInt(atMs) },
    })
    .execute();
  const { debit, credit, amountNanoUsd } = adjustmentPosting(accountId, adjustment.amountNanoUsd);
  await transaction
    .insertInto('postings')
    .values({ debit, credit, amount_nano_usd: amountNanoUsd, reference: id })
    .execute();
  const moves = [
    { account: debit, change: -amountNanoUsd },
    { account: credit, change: amountNanoUsd },
  ];
  for (const { account, change } of moves)
    await sql`insert into balances (ledger_account, balance_nano_usd) values (${account}, ${change})
      on conflict (ledger_account) do update
      set balance_nano_usd = balances.balance_nano_usd + excluded.balance_nano_usd`.execute(transaction);
}

function toAdjustment(row: Selectable<AdjustmentsTable>): Adjustment {
  const { id, reason, reference } = row;
  return {
    ...{ id, accountId: row.account_id, amountNanoUsd: nanoUsd(row.amount_nano_usd), reason, reference },
    ...{ madeBy: row.made_by, atMs: Number(row.at_ms) },
  };
}

/** The newest first, those before one where its id is given. */
export async function listAdjustments(
  database: Kysely<Schema>,
  accountId: string,
  limit: number,
  before: string | null = null,
): Promise<readonly Adjustment[]> {
  const rows = await database
    .selectFrom('adjustments')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(before !== null, (query) =>
      query.where('number', '<', sql<bigint>`(select number from adjustments where id = ${before})`),
    )
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toAdjustment);
}

/** The balance of each account that has one, and what is leased of it. */
export async function accountMoney(database: Kysely<Schema>): Promise<readonly AccountMoney[]> {
  const { rows } = await sql<{ subject: string; balance: bigint; leased: bigint }>`
    select subject, sum(balance) as balance, sum(leased) as leased from (
      select ledger_account as subject, balance_nano_usd as balance, 0 as leased from balances
      union all
      select subject, 0, max(outstanding, 0) from leases where measure = 'money') as money
    where subject like 'account:%' group by subject order by subject`.execute(database);
  return rows.map(({ subject, balance, leased }) => ({
    accountId: subject.slice('account:'.length),
    balanceNanoUsd: nanoUsd(balance),
    leasedNanoUsd: nanoUsd(leased),
  }));
}

/** The charges of calls that began in each period; for good where it is null. */
export async function spentIn(
  database: Kysely<Schema>,
  subject: string,
  periods: readonly (SpendingPeriod | null)[],
): Promise<readonly NanoUsd[]> {
  const sums: NanoUsd[] = [];
  for (const period of periods) {
    const span =
      period === null
        ? sql`width_ms = 0`
        : sql`width_ms = 900000 and start_ms >= ${period.fromMs} and start_ms < ${period.toMs}`;
    const { rows } = await sql<{ charge: bigint }>`
      with recursive line (subject) as (select ${subject} as subject ${sql.raw(lineageOfKeys)})
      select coalesce(sum(charge_nano_usd), 0) as charge from spending
      where subject in (select subject from line) and ${span}`.execute(database);
    sums.push(nanoUsd(rows[0]?.charge ?? 0n));
  }
  return sums;
}

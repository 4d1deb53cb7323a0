import type { AdjustmentReport, BalanceReport, OwnerReport } from '../admin/owner-report.ts';
import type { RateStanding } from '../admin/rate-standings.ts';
import type { WrittenDiscount } from '../catalogue/discount.ts';
import { rateMembers } from '../catalogue/limit-fields.ts';
import { right, tableText } from './table.ts';

/** An owner with how its rates stand. */
interface ShownOwner extends OwnerReport {
  readonly rates: readonly RateStanding[];
}

/** Everything about an owner's money and limits, for people. */
export function ownerText(report: ShownOwner, color: boolean): string {
  const { name, id, kind, source, timezone, account, keys, keyCount } = report;
  const parts = [
    `${name} (${kind} ${id}, from ${source})`,
    ...(account === null ? [] : [moneyText(account.money) + discountText(account.discount)]),
    budgetsText(report, color) ?? `No budgets. Days begin by the clocks of ${timezone}.`,
    ratesText(report.rates, color) ?? 'No rate limits.',
  ];
  if (keys.length > 0)
    parts.push(
      tableText(
        ['key', 'name', 'begins and ends', 'state'],
        keys.map((key) => [key.id, key.name, key.hint, key.status]),
        color,
      ),
    );
  if (keyCount > keys.length) parts.push(`${keyCount - keys.length} more keys: headgate keys list has all.`);
  if (account !== null && account.adjustments.length > 0)
    parts.push(adjustmentsText(account.adjustments, color));
  return parts.join('\n\n');
}

function moneyText({ balance, leased, prepaid, creditLimit }: BalanceReport): string {
  const lines = [
    `Balance ${balance} USD${leased === '0' ? '' : `, of which ${leased} is held for calls that run or come`}.`,
    prepaid
      ? `Prepaid: it may go down to ${creditLimit === '0' ? '0' : `-${creditLimit}`} USD.`
      : 'Unlimited: it may owe any amount.',
  ];
  return lines.join('\n');
}

/** `20 % less for gpt-5, 5 % less for all others` */
function discountText(discount: WrittenDiscount | null): string {
  if (discount === null) return '';
  if (!Array.isArray(discount)) return `\nIt pays ${discount} % less than its group.`;
  const parts = discount.map(
    ({ percent, models }) => `${percent} % less for ${models?.join(', ') ?? 'all others'}`,
  );
  return `\nIt pays, beside its group: ${parts.join('; ')}.`;
}

function budgetsText({ budgets, alertAt, timezone }: OwnerReport, color: boolean): string | null {
  if (budgets.length === 0) return null;
  const rows = budgets.map(({ span, amount, spent, remaining, resetsAt }) => [
    span,
    amount,
    spent,
    remaining,
    resetsAt === null ? 'never' : resetsAt.replace(/\.000Z$/, 'Z'),
  ]);
  const titles = ['budget', right('usd'), right('spent'), right('left'), 'begins anew'];
  const when = `You are told at ${alertAt} of a budget. Days begin by the clocks of ${timezone}.`;
  return `${tableText(titles, rows, color)}\n${when}`;
}

function ratesText(rates: readonly RateStanding[], color: boolean): string | null {
  if (rates.length === 0) return null;
  const figure = (value: number) => value.toLocaleString('en');
  const rows = rates.map(({ rate, model, amount, used, held }) => [
    ...[rateMembers[rate].replaceAll('-', ' '), model ?? 'all', figure(amount)],
    // A gateway knows how many calls are under way; what is known here is how many it has leased places for.
    ...[rate === 'concurrency' ? '–' : figure(used), figure(held)],
  ]);
  const table = tableText(['limit', 'models', right('at most'), right('used'), right('held')], rows, color);
  return rates.some(({ held }) => held > 0)
    ? `${table}\nHeld: taken by gateways for calls that run or come; what they do not need they give back.`
    : table;
}

/** Credits and debits as rows, the newest first. */
export function adjustmentsText(adjustments: readonly AdjustmentReport[], color: boolean): string {
  const rows = adjustments.map(({ at, amount, reason, reference, madeBy }) => [
    at.replace(/\.\d+Z$/, 'Z'),
    amount.startsWith('-') ? amount : `+${amount}`,
    reason,
    reference ?? '–',
    madeBy,
  ]);
  return tableText(['time', right('usd'), 'reason', 'reference', 'by'], rows, color);
}

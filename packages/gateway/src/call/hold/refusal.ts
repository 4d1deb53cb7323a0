import { type Fault, fault, retryAfterSeconds } from '@headgate/protocols';
import type { BudgetSpan, OwnerKind, OwnerLimits, RateKind } from '../../catalogue/limits.ts';
import { formatNanoUsd, nanoUsd } from '../../money/money.ts';
import type { Demand, HoldRefusal, LimitName, Standing } from '../../ports/holds.ts';
import { mayBeTold, momentText } from './rate-headers.ts';

const ownerWords = {
  key: 'this key',
  group: "this key's group",
  account: "this key's account",
} as const satisfies Record<OwnerKind, string>;

/** Limits of money, for people and for programs. */
const moneyWords = {
  balance: { text: 'balance', name: 'balance' },
  day: { text: 'daily budget', name: 'budget-per-day' },
  month: { text: 'monthly budget', name: 'budget-per-month' },
  total: { text: 'total budget', name: 'budget-total' },
} as const satisfies Record<'balance' | BudgetSpan, { text: string; name: string }>;

const rateWords = {
  'requests-per-minute': 'requests per minute',
  'tokens-per-minute': 'tokens per minute',
  'requests-per-day': 'requests per day',
  'images-per-minute': 'images per minute',
  'concurrent-calls': 'concurrent calls',
} as const satisfies Record<RateKind, string>;

/**
 * The error of a call that may not take what it needs. Everybody is told whose limit it is, of what kind and when it begins anew; its amounts,
 * only who may know them. `demand` is null where an answer ends in its midst.
 */
export function faultOfHold(
  refusal: HoldRefusal,
  owners: readonly OwnerLimits[],
  demand: Demand | null,
): Fault {
  if (refusal.kind === 'store-unavailable') return fault('store_unavailable', { retryAfterMs: 2_000 });
  const { limit, retryAfterMs } = refusal;
  const told = mayBeTold(limit, owners);
  const { kind } = limit;
  return isRate(kind)
    ? faultOfRate({ ...limit, kind }, told, retryAfterMs, demand)
    : faultOfMoney({ ...limit, kind }, told, demand);
}

function isRate(kind: LimitName['kind']): kind is RateKind {
  return kind in rateWords;
}

type OfKind<Kind> = Omit<Standing, 'kind'> & { readonly kind: Kind };

function faultOfMoney(limit: OfKind<keyof typeof moneyWords>, told: boolean, demand: Demand | null): Fault {
  const { text, name } = moneyWords[limit.kind];
  const subject = `The ${text} of ${ownerWords[limit.owner]}`;
  const dollars = (amount: bigint) => `$${formatNanoUsd(nanoUsd(amount))}`;
  const whole = limit.kind === 'balance' ? '' : ` of ${dollars(limit.amount)}`;
  const amounts = told ? `: ${dollars(limit.remaining)}${whole} is left` : '';
  const what =
    demand === null
      ? `${subject} is used up, so the answer ends here${amounts}.`
      : `${subject} does not cover this call, which may cost up to ${dollars(demand.chargeNanoUsd)}${amounts}.`;
  const when =
    limit.resetsAtMs === null
      ? 'Only the operator can add to it.'
      : `It begins anew at ${momentText(limit.resetsAtMs)}.`;
  const { owner, model } = limit;
  return fault('insufficient_balance', { message: `${what} ${when}`, limit: { kind: name, owner, model } });
}

function faultOfRate(
  limit: OfKind<RateKind>,
  told: boolean,
  retryAfterMs: number | null,
  demand: Demand | null,
): Fault {
  const { kind, owner, model, amount } = limit;
  const subject = `${told ? `The limit of ${amount}` : 'The limit on'} ${rateWords[kind]} of ${ownerWords[owner]}`;
  const scope = model === null ? '' : ` for the model '${model}'`;
  const need =
    kind === 'tokens-per-minute' && demand !== null ? `, and this call may use ${demand.tokens}` : '';
  const what = `${subject}${scope} is reached${demand === null ? ', so the answer ends here' : need}.`;
  const when =
    retryAfterMs === null
      ? `The same call will not be possible later either${need === '' ? '' : ', but one that allows fewer tokens may be'}.`
      : `Try again in ${retryAfterSeconds(retryAfterMs)} s.`;
  return fault('rate_limited', { message: `${what} ${when}`, retryAfterMs, limit: { kind, owner, model } });
}

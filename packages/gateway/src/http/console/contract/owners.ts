import { z } from 'zod';
import { type RateMember, rateMembers, ratesSchema } from '../../../catalogue/limit-fields.ts';
import { pageOf, timeText, usdText } from './common.ts';

export const budgetView = z
  .strictObject({
    span: z.enum(['day', 'month', 'total']),
    amount: usdText,
    spent: usdText,
    remaining: usdText.meta({ description: '0 where more was spent.' }),
    resetsAt: timeText.nullable().meta({ description: 'Null of a budget for good.' }),
  })
  .meta({ id: 'BudgetView' });
export type BudgetView = z.infer<typeof budgetView>;

const balance = {
  balance: usdText,
  leased: usdText.meta({ description: 'Taken by processes, to be spent on calls that run or come.' }),
  prepaid: z.boolean(),
  creditLimit: usdText.nullable().meta({ description: 'Null of an account that may owe any amount.' }),
  available: usdText.nullable().meta({ description: 'Balance and credit limit together; null as before.' }),
};

const percent = z.union([z.string(), z.number()]);
const discount = z
  .union([percent, z.array(z.strictObject({ percent, models: z.array(z.string()).optional() }))])
  .nullable()
  .meta({ description: 'As a file would say it; null of none.' });

/** An account, as one of many. */
export const accountItem = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    source: z.string().meta({ description: 'Where it is declared: `file`, `operator`, …' }),
    ...balance,
    discount,
    keys: z.int().meta({ description: 'Keys that may be used.' }),
  })
  .meta({ id: 'AccountItem' });
export type AccountItem = z.infer<typeof accountItem>;

export const accountPage = pageOf(accountItem).meta({ id: 'AccountPage' });
export type AccountPage = z.infer<typeof accountPage>;

/** A credit or a debit. */
export const adjustmentView = z
  .strictObject({
    id: z.string(),
    amount: usdText.meta({ description: 'Below zero for a debit.' }),
    reason: z.string(),
    reference: z.string().nullable(),
    madeBy: z.string(),
    at: timeText,
  })
  .meta({ id: 'AdjustmentView' });
export type AdjustmentView = z.infer<typeof adjustmentView>;

export const adjustmentPage = pageOf(adjustmentView).meta({ id: 'AdjustmentPage' });
export type AdjustmentPage = z.infer<typeof adjustmentPage>;

/** A credit or a debit that was made, and what the balance is now. */
export const adjustedView = z
  .strictObject({
    ...adjustmentView.shape,
    account: z.string(),
    balance: usdText,
    isNew: z.boolean().meta({ description: 'False where it had been made before under the same reference.' }),
  })
  .meta({ id: 'AdjustedView' });
export type AdjustedView = z.infer<typeof adjustedView>;

const keyOfOwner = z.strictObject({
  id: z.string(),
  name: z.string(),
  hint: z.string(),
  status: z.string(),
});

/** Everything about the money and the limits of an account, a group or a key. */
export const ownerView = z
  .strictObject({
    kind: z.enum(['account', 'group', 'key']),
    id: z.string(),
    name: z.string(),
    source: z.string(),
    timezone: z.string(),
    budgets: z.array(budgetView),
    alertAt: z.string().nullable(),
    limits: ratesSchema
      .nullable()
      .meta({ description: 'The rates, as a file would say them; null where there are none.' }),
    account: z
      .strictObject({
        money: z.strictObject(balance),
        showBalance: z.boolean(),
        showKeys: z.boolean(),
        groups: z
          .array(z.string())
          .nullable()
          .meta({ description: 'Groups that its people may make keys in; null: those that it has keys in.' }),
        discount,
        adjustments: z.array(adjustmentView),
      })
      .nullable()
      .meta({ description: 'The part that only accounts have.' }),
    keys: z.array(keyOfOwner).meta({ description: 'Those that may be used first, a hundred at the most.' }),
    keyCount: z.int(),
  })
  .meta({ id: 'OwnerView' });
export type OwnerView = z.infer<typeof ownerView>;

/** A rate as it stands. */
export const rateView = z
  .strictObject({
    rate: z.literal(Object.keys(rateMembers) as RateMember[]),
    model: z.string().nullable().meta({ description: 'Set where it is of one model.' }),
    amount: z.int(),
    used: z.int().meta({
      description: 'Within its window, to a second or two; nothing of what is only under way or not.',
    }),
    held: z.int().meta({
      description: 'Not used, but taken: by calls that run here, or by other processes for those that come.',
    }),
  })
  .meta({ id: 'RateView' });
export type RateView = z.infer<typeof rateView>;

export const ratesView = z.strictObject({ rates: z.array(rateView) }).meta({ id: 'RatesView' });
export type RatesView = z.infer<typeof ratesView>;

/** The charges of an account or a group, by day of UTC. */
export const spendView = z
  .strictObject({ days: z.array(z.strictObject({ day: z.iso.date(), charge: usdText })) })
  .meta({ id: 'SpendView' });
export type SpendView = z.infer<typeof spendView>;

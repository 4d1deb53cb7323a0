import { z } from 'zod';
import {
  formatDecimal,
  formatNanoUsd,
  type NanoUsd,
  nanoUsd,
  parseDecimal,
  readUsd,
} from '../money/money.ts';
import { convertedOrUnset, field, flag, text, unset } from './fields.ts';
import { modelId } from './identifiers.ts';
import type { BudgetSpan, RateKind } from './limits.ts';
import { readTimeZone } from './time-zone.ts';

export const budgetSpans = ['day', 'month', 'total'] as const satisfies readonly BudgetSpan[];

/** The budgets of an owner as they are declared; null of a span that has none. */
export interface DeclaredBudgets extends Readonly<Record<BudgetSpan, NanoUsd | null>> {
  /** Parts per million of a budget. */
  readonly alertAtPpm: number;
}

/** The member of a file for each rate. */
export const rateMembers = {
  requestsPerMinute: 'requests-per-minute',
  tokensPerMinute: 'tokens-per-minute',
  requestsPerDay: 'requests-per-day',
  imagesPerMinute: 'images-per-minute',
  concurrency: 'concurrent-calls',
} as const satisfies Readonly<Record<string, RateKind>>;

export type RateMember = keyof typeof rateMembers;

type Rates = { readonly [Member in RateMember]?: number };

/** The rates of an owner as they are declared: of all its calls, and of those of single models. */
export interface DeclaredRates extends Rates {
  readonly models?: Readonly<Record<string, Rates>>;
}

const rateMax = 1_000_000_000_000;

export const rateAmount = z
  .int('must be a whole number')
  .min(1, 'must be 1 or more; leave it out for no limit')
  .max(rateMax, `must be ${rateMax} or less; leave it out for no limit`);

const rate = (meaning: string) => rateAmount.exactOptional().describe(`${meaning}; no limit if left out.`);

const rates = {
  requestsPerMinute: rate('Calls within any minute'),
  tokensPerMinute: rate('Tokens of input and output together within any minute'),
  requestsPerDay: rate('Calls within any 24 hours'),
  imagesPerMinute: rate('Images made within any minute'),
  concurrency: rate('Calls under way at once'),
} satisfies Readonly<Record<RateMember, z.ZodType>>;

export const ratesSchema = z.strictObject({
  ...rates,
  models: z
    .record(modelId, z.strictObject(rates))
    .exactOptional()
    .describe('Further limits on calls of single models, by public id; each also counts to those above.'),
}) satisfies z.ZodType<DeclaredRates>;

/** Members are kept in one order and empty ones not at all, so that what is the same is the same text. */
const limitsField = unset<DeclaredRates>(
  ratesSchema.describe('How much may be asked for at a time; no limit if left out.'),
  {
    write: (declared) => JSON.stringify(ordered(declared)),
    // The store is the only writer of the column, and the file's schema has checked what is in it.
    read: (cell) => JSON.parse(String(cell)) as DeclaredRates,
  },
);

function ordered({ models = {}, ...own }: DeclaredRates): DeclaredRates {
  const named = Object.entries(models)
    .map(([model, each]) => [model, orderedRates(each)] as const)
    .filter(([, each]) => Object.keys(each).length > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...orderedRates(own), ...(named.length === 0 ? {} : { models: Object.fromEntries(named) }) };
}

function orderedRates(given: Rates): Rates {
  return Object.fromEntries(
    Object.keys(rateMembers).flatMap((member) => {
      // The names are those of the table.
      const amount = given[member as RateMember];
      return amount === undefined ? [] : [[member, amount]];
    }),
  );
}

const amount = z.union([z.number(), z.string()], 'must be an amount in USD such as 12.50');

const budget = (meaning: string) => amount.exactOptional().describe(`USD that may be spent ${meaning}`);

const budgetsSchema = z.strictObject({
  day: budget('in a calendar day; no limit if left out, and 0 lets nothing be spent.'),
  month: budget('in a calendar month; no limit if left out.'),
  total: budget('in all; no limit if left out.'),
  alertAt: amount
    .exactOptional()
    .describe('The part of a budget at which the operator is told, once; 0.8 if left out.'),
});

type WrittenBudgets = z.infer<typeof budgetsSchema>;

/** The operator is told at this part of a budget that does not say when. */
export const usualAlertPpm = 800_000;

/** Budgets, whose amounts have been held against `limitMistakes`. */
const budgetsField = convertedOrUnset<DeclaredBudgets, WrittenBudgets>(
  budgetsSchema.describe('How much may be spent; no limit if left out.'),
  {
    write: (budgets) => JSON.stringify(writeBudgets(budgets)),
    read: (cell) => readBudgets(JSON.parse(String(cell)) as WrittenBudgets),
  },
  readBudgets,
  writeBudgets,
);

function readBudgets({ day, month, total, alertAt }: WrittenBudgets): DeclaredBudgets {
  return {
    day: written(day),
    month: written(month),
    total: written(total),
    alertAtPpm: alertAt === undefined ? usualAlertPpm : Number(partOf(String(alertAt)) ?? 0n),
  };
}

function written(given: string | number | undefined): NanoUsd | null {
  return given === undefined ? null : amountOf(given);
}

/** Throws where nobody has held the amount against `limitMistakes`. */
function amountOf(given: string | number): NanoUsd {
  const read = readUsd(String(given));
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

function writeBudgets(budgets: DeclaredBudgets): WrittenBudgets {
  const amounts = budgetSpans.flatMap((span): [string, string][] => {
    const spending = budgets[span];
    return spending === null ? [] : [[span, formatNanoUsd(spending)]];
  });
  const { alertAtPpm } = budgets;
  const alertAt = alertAtPpm === usualAlertPpm ? {} : { alertAt: formatDecimal(BigInt(alertAtPpm), 6) };
  return { ...Object.fromEntries(amounts), ...alertAt };
}

const creditLimitField = {
  ...convertedOrUnset<NanoUsd, string | number>(
    amount.describe('USD that the balance may go below zero, where it is prepaid; 0 if left out.'),
    { write: (limit) => limit, read: (cell) => nanoUsd(BigInt(String(cell))) },
    amountOf,
    formatNanoUsd,
  ),
  member: 'creditLimit',
};

export const timeZoneName = z
  .string('must be an IANA name such as Europe/Berlin')
  .refine((name) => readTimeZone(name) !== null, 'must be an IANA name such as Europe/Berlin');

/** Canonical, so that a zone of two names is one. */
const timeZoneField = {
  ...field(
    timeZoneName.describe(
      'Days and months of its budgets begin by the clocks there, an IANA name; UTC if left out.',
    ),
    text,
    () => 'UTC',
  ),
  fromFile: (name: string) => readTimeZone(name) ?? name,
  member: 'timezone',
};

const prepaidField = field(
  z
    .boolean()
    .describe(
      'Whether its calls must be covered by its balance, which `headgate accounts credit` raises; false if left out: then it may owe any amount.',
    ),
  flag,
  () => false,
);

export const keyLimitFields = { budgets: budgetsField, limits: limitsField };

export const groupLimitFields = { timeZone: timeZoneField, ...keyLimitFields };

export const accountLimitFields = {
  prepaid: prepaidField,
  creditLimitNanoUsd: creditLimitField,
  ...groupLimitFields,
};

/** Something wrong with what is said of an owner's money, by its path below the owner. */
export interface LimitMistake {
  readonly path: readonly string[];
  readonly message: string;
}

/** The members that amounts are in, whoever owns them. */
export interface WrittenLimits {
  readonly prepaid?: boolean;
  readonly creditLimit?: string | number;
  readonly budgets?: WrittenBudgets;
}

/** Everything that no shape can say: amounts are read from their text, as it was written, and some mean something only beside others. */
export function limitMistakes({
  prepaid,
  creditLimit,
  budgets = {},
}: WrittenLimits): readonly LimitMistake[] {
  const mistakes: LimitMistake[] = [];
  const complain = (path: readonly string[], message: string | null): void => {
    if (message !== null) mistakes.push({ path, message });
  };
  if (creditLimit !== undefined) {
    complain(['creditLimit'], amountMistake(creditLimit));
    if (prepaid !== true)
      complain(['creditLimit'], 'means something only beside prepaid: true; add that, or leave this out');
  }
  for (const span of budgetSpans) {
    const spending = budgets[span];
    if (spending !== undefined) complain(['budgets', span], amountMistake(spending));
  }
  const { alertAt } = budgets;
  if (alertAt === undefined) return mistakes;
  complain(['budgets', 'alertAt'], partMistake(String(alertAt)));
  if (!budgetSpans.some((span) => budgets[span] !== undefined))
    complain(['budgets', 'alertAt'], 'has no budget to tell of; write day, month or total beside it');
  return mistakes;
}

function amountMistake(given: string | number): string | null {
  const read = readUsd(String(given));
  return read.ok ? null : read.error;
}

function partMistake(given: string): string | null {
  return partOf(given) === null
    ? `"${given.slice(0, 40)}" must be a number above 0 and at most 1, such as 0.8`
    : null;
}

/** Parts per million; null of what is no part. */
function partOf(given: string): bigint | null {
  const read = parseDecimal(given, 6);
  return read.ok && read.value > 0n && read.value <= 1_000_000n ? read.value : null;
}

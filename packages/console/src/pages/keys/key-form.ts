import type { KeyView } from '@headgate/gateway/console';
import { budgetNames, rateNames } from './limit-names.ts';

/** The values of the form of a key: text as it is typed, by the names that the API's mistakes have. */
export interface KeyFormValues extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly account: string;
  readonly group: string;
  readonly models: readonly string[];
  /** As a field of date and time has it, on the clocks of whoever types. */
  readonly expires: string;
  readonly strict: boolean;
  readonly addressRanges: string;
  readonly 'budgets.day': string;
  readonly 'budgets.month': string;
  readonly 'budgets.total': string;
  readonly 'budgets.alertAt': string;
  readonly 'limits.requestsPerMinute': string;
  readonly 'limits.tokensPerMinute': string;
  readonly 'limits.requestsPerDay': string;
  readonly 'limits.imagesPerMinute': string;
  readonly 'limits.concurrency': string;
  readonly 'limits.models': readonly ModelLimit[];
}

type RateName = (typeof rateNames)[number];

/** The limits of one model, as they are typed. One that was taken out stays, empty, so that the change says so. */
export interface ModelLimit {
  readonly model: string;
  readonly rates: Readonly<Record<RateName, string>>;
  readonly isGone: boolean;
}

export const noRates: ModelLimit['rates'] = {
  ...{ requestsPerMinute: '', tokensPerMinute: '', requestsPerDay: '' },
  ...{ imagesPerMinute: '', concurrency: '' },
};

/** Limits of single models as the form shows them. */
export function modelLimitsOf(limits: KeyView['limits']): readonly ModelLimit[] {
  return Object.entries(limits?.models ?? {}).map(([model, rates]) => {
    const typed = rateNames.map((name) => [name, String(rates[name] ?? '')] as const);
    return { model, rates: { ...noRates, ...Object.fromEntries<string>(typed) }, isGone: false };
  });
}

/** The members of a change of them; nothing where there are none. */
function modelLimitPatch(rows: readonly ModelLimit[]): object {
  if (rows.length === 0) return {};
  return {
    models: Object.fromEntries(
      rows.map(({ model, rates }) => [
        model,
        Object.fromEntries(rateNames.map((name) => [name, numberOrNull(rates[name])])),
      ]),
    ),
  };
}

export const emptyKey: KeyFormValues = {
  ...{ name: '', account: '', group: '', models: [], expires: '', strict: false, addressRanges: '' },
  ...{ 'budgets.day': '', 'budgets.month': '', 'budgets.total': '', 'budgets.alertAt': '' },
  ...{ 'limits.requestsPerMinute': '', 'limits.tokensPerMinute': '', 'limits.requestsPerDay': '' },
  ...{ 'limits.imagesPerMinute': '', 'limits.concurrency': '', 'limits.models': [] },
};

/** A key as the form shows it. */
export function formOfKey(key: KeyView): KeyFormValues {
  const amounts = Object.fromEntries<string>(
    key.budgets.map(({ span, amount }) => [`budgets.${span}`, amount]),
  );
  const rates = rateNames.flatMap((name): [string, string][] => {
    const rate = key.limits?.[name];
    return rate === undefined ? [] : [[`limits.${name}`, String(rate)]];
  });
  return {
    ...emptyKey,
    ...{ name: key.name, account: key.account, group: key.group, models: key.models ?? [] },
    ...{ strict: key.strict, addressRanges: (key.addressRanges ?? []).join(', ') },
    expires: key.expires === null ? '' : localTime(key.expires),
    ...amounts,
    'budgets.alertAt': key.alertAt ?? '',
    ...Object.fromEntries<string>(rates),
    'limits.models': modelLimitsOf(key.limits),
  };
}

/** The body that makes a key: what is empty is left out. */
export function draftOf(values: KeyFormValues): object {
  const { name, account, group, models, expires, strict } = values;
  const ranges = listIn(values.addressRanges);
  const [budgets, limits] = [filled(budgetPatch(values)), filled(ratePatch(values))];
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(account === '' ? {} : { account }),
    ...(group === '' ? {} : { group }),
    ...(models.length === 0 ? {} : { models }),
    ...(expires === '' ? {} : { expires: new Date(expires).toISOString() }),
    ...(strict ? { strict } : {}),
    ...(ranges.length === 0 ? {} : { addressRanges: ranges }),
    ...(Object.keys(budgets).length === 0 ? {} : { budgets }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** The body that changes a key: what was taken out of the form is null. */
export function patchOf(values: KeyFormValues): object {
  const { name, models, expires, strict } = values;
  const ranges = listIn(values.addressRanges);
  return {
    ...{ name: name.trim(), models: models.length === 0 ? null : models, strict },
    expires: expires === '' ? null : new Date(expires).toISOString(),
    addressRanges: ranges.length === 0 ? null : ranges,
    ...{ budgets: budgetPatch(values), limits: ratePatch(values) },
  };
}

type TypedBudgets = Pick<KeyFormValues, `budgets.${(typeof budgetNames)[number]}` | 'budgets.alertAt'>;
type TypedRates = Pick<KeyFormValues, `limits.${RateName}` | 'limits.models'>;

/** Budgets and when to tell of them; without any there is nothing to be told of. */
export function budgetPatch(values: TypedBudgets): object {
  const budgets = budgetNames.map((span) => [span, values[`budgets.${span}`].trim() || null] as const);
  const isAny = budgets.some(([, amount]) => amount !== null);
  const alertAt = isAny ? values['budgets.alertAt'].trim() || null : null;
  return { ...Object.fromEntries(budgets), alertAt };
}

/** Rates of all calls, and of those of single models. */
export function ratePatch(values: TypedRates): object {
  return {
    ...Object.fromEntries(rateNames.map((name) => [name, numberOrNull(values[`limits.${name}`])])),
    ...modelLimitPatch(values['limits.models']),
  };
}

function filled(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** A text that is no number goes as it is: the API says what it must be. */
function numberOrNull(text: string): number | string | null {
  const typed = text.trim();
  return /^\d{1,15}$/.test(typed) ? Number(typed) : typed || null;
}

function listIn(text: string): readonly string[] {
  return text
    .split(/[\s,]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** `2027-01-31T12:00`, as `<input type="datetime-local">` has it. */
function localTime(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

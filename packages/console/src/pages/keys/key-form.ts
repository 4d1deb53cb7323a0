import type { KeyChoicesView, KeyView } from '@headgate/gateway/console';

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
  readonly 'limits.requestsPerMinute': string;
  readonly 'limits.tokensPerMinute': string;
  readonly 'limits.requestsPerDay': string;
  readonly 'limits.imagesPerMinute': string;
  readonly 'limits.concurrency': string;
}

export const budgetNames = ['day', 'month', 'total'] as const;
export const rateNames = [
  'requestsPerMinute',
  'tokensPerMinute',
  'requestsPerDay',
  'imagesPerMinute',
  'concurrency',
] as const;

export const emptyKey: KeyFormValues = {
  ...{ name: '', account: '', group: '', models: [], expires: '', strict: false, addressRanges: '' },
  ...{ 'budgets.day': '', 'budgets.month': '', 'budgets.total': '' },
  ...{ 'limits.requestsPerMinute': '', 'limits.tokensPerMinute': '', 'limits.requestsPerDay': '' },
  ...{ 'limits.imagesPerMinute': '', 'limits.concurrency': '' },
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
    ...Object.fromEntries<string>(rates),
  };
}

/** Models that keys of a group may call. */
export function modelsOf(group: string, { groups, models }: KeyChoicesView): readonly string[] {
  const own = groups.find(({ id }) => id === group)?.models ?? null;
  return models.map(({ id }) => id).filter((id) => own === null || own.includes(id));
}

/** The body that makes a key: what is empty is left out. */
export function draftOf(values: KeyFormValues): object {
  const { name, account, group, models, expires, strict } = values;
  const budgets = given(
    budgetNames,
    (span) => values[`budgets.${span}`],
    (text) => text,
  );
  const limits = given(rateNames, (rate) => values[`limits.${rate}`], wholeNumber);
  const ranges = listIn(values.addressRanges);
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
    budgets: Object.fromEntries(budgetNames.map((span) => [span, values[`budgets.${span}`].trim() || null])),
    limits: Object.fromEntries(
      rateNames.map((rate) => {
        const text = values[`limits.${rate}`].trim();
        return [rate, text === '' ? null : wholeNumber(text)];
      }),
    ),
  };
}

function given<Name extends string>(
  names: readonly Name[],
  textOf: (name: Name) => string,
  read: (text: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(name).trim();
      return text === '' ? [] : [[name, read(text)]];
    }),
  );
}

/** A text that is no number goes as it is: the API says what it must be. */
function wholeNumber(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

export function listIn(text: string): readonly string[] {
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

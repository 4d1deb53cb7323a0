import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { discountMistakes, type WrittenDiscount } from './discount.ts';
import { declare, exported, type Fields, type ValuesOf } from './fields.ts';
import { modelId } from './identifiers.ts';
import {
  type LimitMistake,
  limitMistakes,
  type RateMember,
  rateAmount,
  timeZoneName,
} from './limit-fields.ts';
import type { OwnerKind } from './limits.ts';

/**
 * A change of an owner's limits: the members of a file, amounts as text, and null for what goes. What it does not name stays
 * (a merge patch, RFC 7396).
 */
export type LimitPatch = Readonly<Record<string, unknown>>;

const isMap = (error: string) => ({
  error: ({ code }: { readonly code?: string | undefined }) =>
    code === 'unrecognized_keys' ? undefined : error,
});
const members = isMap('must be an object of members, or null');

const amount = z.string('must be text such as "12.50": an exact decimal, or null').nullable().exactOptional();

const budgets = z
  .strictObject({ day: amount, month: amount, total: amount, alertAt: amount }, members)
  .nullable()
  .exactOptional();

const rate = rateAmount.nullable().exactOptional();

const rates = {
  requestsPerMinute: rate,
  tokensPerMinute: rate,
  requestsPerDay: rate,
  imagesPerMinute: rate,
  concurrency: rate,
} satisfies Record<RateMember, z.ZodType>;

const ratesOfModel = z.strictObject(rates, members).nullable();

const limits = z
  .strictObject(
    { ...rates, models: z.record(modelId, ratesOfModel, members).nullable().exactOptional() },
    members,
  )
  .nullable()
  .exactOptional();

const percent = z.string();
const discountText =
  'must be a percentage as text such as "12.5", a list of such as { "percent": "20", "models": ["gpt-5"] }, or null';
const discounts = z.strictObject({ percent, models: z.array(modelId).min(1, discountText).exactOptional() });

const discount = z
  .union(
    [percent, z.array(discounts).min(1, discountText).max(100, 'must be 100 entries at the most')],
    discountText,
  )
  .nullable()
  .exactOptional();

const keyMembers = { budgets, limits };
const groupMembers = { timezone: timeZoneName.exactOptional(), ...keyMembers };

/** The members of a patch for each kind of owner. */
export const patchMembers = {
  account: {
    prepaid: z.boolean('must be true or false').exactOptional(),
    creditLimit: amount,
    discount,
    ...groupMembers,
  },
  group: groupMembers,
  key: keyMembers,
} satisfies Readonly<Record<OwnerKind, z.ZodRawShape>>;

export const patchBodies = {
  account: z.strictObject(patchMembers.account, members),
  group: z.strictObject(patchMembers.group, members),
  key: z.strictObject(patchMembers.key, members),
} satisfies Readonly<Record<OwnerKind, z.ZodType>>;

/** Reads a patch that a program or a person has written. The mistakes are those that its own members show. */
export function readLimitPatch(
  owner: OwnerKind,
  given: unknown,
): Result<LimitPatch, readonly LimitMistake[]> {
  const read = patchBodies[owner].safeParse(given);
  return read.success ? succeed(read.data) : fail(read.error.issues.flatMap(mistakesOf));
}

/** An issue in the words of whoever wrote the value. */
export function mistakesOf(issue: z.core.$ZodIssue): readonly LimitMistake[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, 5).map((name) => ({
      path: [...path, name.slice(0, 100)],
      message: 'there is no such member',
    }));
  const [inner] = issue.code === 'invalid_key' ? issue.issues : [];
  return [{ path, message: inner === undefined ? issue.message : `the name ${inner.message}` }];
}

/** The models that a patch names for what it sets, each with its path. */
export function modelsOf({
  limits: patched,
  discount: given,
}: LimitPatch): readonly { readonly model: string; readonly path: readonly string[] }[] {
  const models = isRecord(patched) ? patched['models'] : null;
  // Taking away is no mistake where the model is gone already.
  const limited = Object.entries(isRecord(models) ? models : {}).filter(
    ([, ofModel]) => isRecord(ofModel) && Object.values(ofModel).some((each) => each !== null),
  );
  const entries = Array.isArray(given) ? (given as Exclude<WrittenDiscount, number | string>) : [];
  return [
    ...limited.map(([model]) => ({ model, path: ['limits', 'models', model] })),
    ...entries.flatMap(({ models: named = [] }, at) =>
      named.map((model, index) => ({ model, path: ['discount', String(at), 'models', String(index)] })),
    ),
  ];
}

/** The values of an owner after a patch, or what would be wrong with them. */
export function patched<Table extends Fields>(
  fields: Table,
  id: string,
  values: ValuesOf<Table>,
  patch: LimitPatch,
): Result<ValuesOf<Table>, readonly LimitMistake[]> {
  const merged = withoutRemains(mergePatch({ ...exported(fields, id, values) }, patch), patch);
  const { discount: less } = merged as { readonly discount?: WrittenDiscount };
  const mistakes = [
    ...limitMistakes(merged),
    ...discountMistakes(less ?? []).map((each) => ({ ...each, path: ['discount', ...each.path] })),
  ];
  return mistakes.length === 0 ? succeed(declare(fields, id, merged)) : fail(mistakes);
}

/** A map that is left with no members is left out. */
function mergePatch(target: LimitPatch, patch: LimitPatch): LimitPatch {
  const merged = new Map(Object.entries(target));
  for (const [name, change] of Object.entries(patch)) {
    const before = merged.get(name);
    const after = isRecord(change) ? mergePatch(isRecord(before) ? before : {}, change) : change;
    const isEmpty = after === null || (isRecord(after) && Object.keys(after).length === 0);
    if (isEmpty) merged.delete(name);
    else merged.set(name, after);
  }
  return Object.fromEntries(merged);
}

/** Whoever takes the last budget away need not say that there is nothing to tell of any more. */
function withoutRemains(merged: LimitPatch, patch: LimitPatch): LimitPatch {
  const { budgets: left, ...others } = merged;
  const asked = patch['budgets'];
  const saysWhen = isRecord(asked) && typeof asked['alertAt'] === 'string';
  const isMeant = isRecord(left) && Object.keys(left).some((name) => name !== 'alertAt' || saysWhen);
  return isMeant ? merged : others;
}

function isRecord(value: unknown): value is LimitPatch {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

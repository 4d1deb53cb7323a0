import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { addressRanges } from './address-range.ts';
import { discountMistakes, readMultiplier, type WrittenDiscount } from './discount.ts';
import { type DeclaredRouting, routingFields } from './entities.ts';
import { declare, exported, type Fields, type ValuesOf } from './fields.ts';
import { identifier, modelId } from './identifiers.ts';
import {
  type LimitMistake,
  limitMistakes,
  type RateMember,
  rateAmount,
  timeZoneName,
} from './limit-fields.ts';
import type { OwnerKind } from './limits.ts';

/**
 * A change of an owner, of its limits above all: the members of a file, amounts as text, and null for what goes. What it does not name stays
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

/** One line of plain characters: `what` says which. */
export const lineOf = (what: string, max: number) =>
  z
    .string(`must be text: ${what}`)
    .min(1, `is missing; write ${what}`)
    .max(max, `must be of ${max} characters at the most`)
    .regex(/^[^\p{Cc}\u2028-\u202e\u2066-\u2069]*$/u, 'must be one line of plain characters');

const name = lineOf('the name that people know it by', 200).exactOptional();
const flag = z.boolean('must be true or false').exactOptional();
const models = z
  .array(modelId, 'must be a list of model ids, or null for every model')
  .min(1, 'must name a model, or be null for every model')
  .max(1_000, 'must be 1000 models at the most')
  .nullable()
  .exactOptional();
const listOfIds = (what: string) =>
  z
    .array(identifier, `must be a list of ${what}, or null`)
    .max(1_000, `must be 1000 ${what} at the most`)
    .nullable()
    .exactOptional();
const expires = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2027-01-31T00:00:00Z, or null' })
  .nullable()
  .exactOptional();
const multiplier = z
  .string('must be text such as "1.15": an exact decimal')
  .refine(
    (text) => readMultiplier(text) !== null,
    'must be a plain decimal such as "1.15", with six digits after the point at most',
  )
  .exactOptional();
const preset = z.enum(['cost', 'balanced', 'latency'], 'must be cost, balanced or latency').exactOptional();
const rescue = z.enum(['none', 'continue'], 'must be none or continue').exactOptional();
const routing = z
  .strictObject({ preset, channels: listOfIds('channels'), hedging: flag, rescue }, members)
  .exactOptional();

const limitMembers = { budgets, limits };
const keyMembers = {
  ...{ name, models, expires, strict: flag },
  addressRanges: addressRanges.nullable().exactOptional(),
  ...limitMembers,
};
const timezone = timeZoneName.exactOptional();
const groupMembers = { name, models, multiplier, routing, timezone, ...limitMembers };

/** The members of a patch for each kind of owner. */
export const patchMembers = {
  account: {
    ...{ name, showBalance: flag, showKeys: flag, groups: listOfIds('groups') },
    ...{ prepaid: flag, creditLimit: amount, discount, timezone, ...limitMembers },
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

/** A name that a patch refers to, and where. */
export interface NamedByPatch {
  readonly kind: 'model' | 'group' | 'channel';
  readonly name: string;
  readonly path: readonly string[];
}

/** All that a patch refers to by name in what it sets. */
export function namedBy(patch: LimitPatch): readonly NamedByPatch[] {
  const { limits: rated, discount: given, routing: routed } = patch;
  const ofModels = isRecord(rated) ? rated['models'] : null;
  // Taking away is no mistake where the model is gone already.
  const limited = Object.entries(isRecord(ofModels) ? ofModels : {}).filter(
    ([, ofModel]) => isRecord(ofModel) && Object.values(ofModel).some((each) => each !== null),
  );
  const entries = Array.isArray(given) ? (given as Exclude<WrittenDiscount, number | string>) : [];
  return [
    ...limited.map(([model]) => ({
      ...{ kind: 'model' as const, name: model },
      path: ['limits', 'models', model],
    })),
    ...entries.flatMap(({ models: some }, at) => listed('model', some, ['discount', String(at), 'models'])),
    ...listed('model', patch['models'], ['models']),
    ...listed('group', patch['groups'], ['groups']),
    ...listed('channel', isRecord(routed) ? routed['channels'] : null, ['routing', 'channels']),
  ];
}

function listed(
  kind: NamedByPatch['kind'],
  names: unknown,
  path: readonly string[],
): readonly NamedByPatch[] {
  if (!Array.isArray(names)) return [];
  return names.map((name: unknown, at) => ({ kind, name: String(name), path: [...path, String(at)] }));
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

/** A group's routing after a patch, whose members its schema has checked. */
export function patchedRouting(id: string, values: DeclaredRouting, patch: unknown): DeclaredRouting {
  const merged = mergePatch({ ...exported(routingFields, id, values) }, isRecord(patch) ? patch : {});
  return declare(routingFields, id, merged);
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

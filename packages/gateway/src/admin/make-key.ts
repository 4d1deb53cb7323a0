import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import type { Catalogue, KeyStatus } from '../catalogue/catalogue.ts';
import { type DeclaredKey, keyFields } from '../catalogue/entities.ts';
import { declare, type ValuesOf } from '../catalogue/fields.ts';
import { identifier } from '../catalogue/identifiers.ts';
import { keyHint } from '../catalogue/key.ts';
import { budgetSpans, type LimitMistake, type RateMember, rateMembers } from '../catalogue/limit-fields.ts';
import {
  type LimitPatch,
  mistakesOf,
  patched,
  patchMembers,
  readLimitPatch,
} from '../catalogue/limit-patch.ts';
import type { BudgetSpan } from '../catalogue/limits.ts';
import { didYouMean } from '../config/suggestion.ts';
import { formatDecimal, formatNanoUsd, readUsd } from '../money/money.ts';
import type { KeyChoices, ListedKey } from '../ports/key-directory.ts';
import { type AccountRefusal, amendOwner, type ChangeTools, invalid, unknownName } from './accounts.ts';
import { noting } from './audit.ts';
import { generateKey, hashKey } from './keys.ts';
import type { Peppers } from './owner-files.ts';
import { includes, type Scope } from './people/actor.ts';

export interface KeyTools extends ChangeTools {
  readonly peppers: Peppers;
  /** Accounts whose keys this person may make and change; and those where nothing but the operator's word bounds it. */
  readonly scope: Scope;
  readonly unbounded: Scope;
}

/** A key just made: the one moment its text is known. */
export interface NewKey {
  readonly key: string;
  readonly record: DeclaredKey;
}

export const keyBody = z.strictObject(
  {
    ...patchMembers.key,
    account: identifier.exactOptional(),
    group: identifier.exactOptional(),
  },
  { error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object of members') },
);

/** Makes a key. An account or a group may be left out where only one can be meant. */
export async function createKey(tools: KeyTools, given: unknown): Promise<Result<NewKey, AccountRefusal>> {
  const read = keyBody.safeParse(given);
  if (!read.success) return fail({ kind: 'invalid', mistakes: read.error.issues.flatMap(mistakesOf) });
  const { account: payer, group: named, ...members } = read.data;
  const choices = await tools.store.keys.choices(tools.scope);
  const account = chooseOne('account', payer, idsOf(choices.accounts));
  if (!account.ok) return account;
  const groups = groupsFor(account.value, tools, choices);
  const group = chooseOne('group', named, groups);
  if (!group.ok) return group;
  const unknown = unknownName(members, choices);
  if (unknown !== null) return fail(unknown);
  const mistakes = [
    ...pastExpiry(members, tools.nowMs),
    ...keyBoundMistakes(members, account.value, tools, choices),
  ];
  if (mistakes.length > 0) return fail({ kind: 'invalid', mistakes });
  const id = newId();
  const rights = patched(
    keyFields,
    id,
    declare(keyFields, id, { group: group.value, account: account.value }),
    members,
  );
  if (!rights.ok) return fail({ kind: 'invalid', mistakes: rights.error });
  const key = newKey(tools, { ...rights.value, id });
  const { configuration } = noting(tools, {
    ...{ action: 'key.create', target: targetOf(key.record), accountId: account.value },
    after: { ...members, account: account.value, group: group.value, hint: key.record.hint },
  });
  await configuration.insertKey(key.record, tools.nowMs);
  return succeed(key);
}

/** Groups that keys of an account may be made in: all for operators, else those that the account names, or has keys in already. */
function groupsFor(
  accountId: string,
  { unbounded }: Pick<KeyTools, 'unbounded'>,
  { accounts, groups, groupsInUse }: KeyChoices,
): readonly string[] {
  if (unbounded === 'all') return idsOf(groups);
  const allowed = accounts.find(({ id }) => id === accountId)?.groups ?? groupsInUse.get(accountId) ?? [];
  return idsOf(groups).filter((id) => allowed.includes(id));
}

function pastExpiry({ expires }: LimitPatch, nowMs: number): readonly LimitMistake[] {
  if (typeof expires !== 'string' || Date.parse(expires) > nowMs) return [];
  return [{ path: ['expires'], message: 'is over already; name a time to come' }];
}

/**
 * The bounds of a member are those of its account: no budget and no rate above the account's own. Those who administer the account may, as its
 * own limits hold in any case.
 */
function keyBoundMistakes(
  patch: LimitPatch,
  accountId: string,
  { unbounded }: Pick<KeyTools, 'unbounded'>,
  { accounts }: KeyChoices,
): readonly LimitMistake[] {
  if (unbounded === 'all' || unbounded.includes(accountId)) return [];
  const account = accounts.find(({ id }) => id === accountId);
  const { budgets = null, limits = null } = patch as WrittenBounds;
  return [
    ...budgetSpans.flatMap((span) => {
      const [most, asked] = [account?.budgets?.[span] ?? null, budgets?.[span] ?? null];
      const read = asked === null ? null : readUsd(asked);
      if (most === null || read === null || !read.ok || read.value <= most) return [];
      return [aboveAccount(['budgets', span], `${formatNanoUsd(most)} USD`)];
    }),
    ...(Object.keys(rateMembers) as RateMember[]).flatMap((member) => {
      const [most, asked] = [account?.limits?.[member], limits?.[member]];
      if (most === undefined || typeof asked !== 'number' || asked <= most) return [];
      return [aboveAccount(['limits', member], String(most))];
    }),
  ];
}

/** The members of a patch that bounds are held against, as its schema has checked them. */
interface WrittenBounds {
  readonly budgets?: Readonly<Partial<Record<BudgetSpan, string | null>>> | null;
  readonly limits?: Readonly<Partial<Record<RateMember, number | null>>> | null;
}

function aboveAccount(path: readonly string[], most: string): LimitMistake {
  return { path, message: `is more than the ${most} of its account; ask an administrator of the account` };
}

/** Changes a key that the person may change. */
export async function changeKey(
  tools: KeyTools,
  { id, accountId }: Pick<ListedKey, 'id' | 'accountId'>,
  body: unknown,
): Promise<Result<string, AccountRefusal>> {
  const patch = readLimitPatch('key', body);
  if (!patch.ok) return fail({ kind: 'invalid', mistakes: patch.error });
  const choices = await tools.store.keys.choices([accountId]);
  const mistakes = [
    ...pastExpiry(patch.value, tools.nowMs),
    ...keyBoundMistakes(patch.value, accountId, tools, choices),
  ];
  if (mistakes.length > 0) return fail({ kind: 'invalid', mistakes });
  return amendOwner(tools, 'key', id, patch.value);
}

/** Everything that a new key of these accounts may have, for whoever is to choose. */
export async function keyChoices(tools: KeyTools, scope: Scope, catalogue: Pick<Catalogue, 'models'>) {
  const choices = await tools.store.keys.choices(scope);
  const accounts = choices.accounts.map(({ id, name }) => ({
    // All groups of every account would be as many names as there are of both together, multiplied.
    ...{ id, name, groups: tools.unbounded === 'all' ? null : groupsFor(id, tools, choices) },
    mayMake: includes(tools.scope, id),
  }));
  const visible = new Set(
    accounts.flatMap(({ id, groups }) => [...(groups ?? []), ...(choices.groupsInUse.get(id) ?? [])]),
  );
  return {
    accounts,
    groups: choices.groups
      .filter(({ id }) => scope === 'all' || visible.has(id))
      .map(({ id, name, platform, multiplierPpm, models }) => ({
        ...{ id, name, platform, models, multiplier: formatDecimal(multiplierPpm, 6) },
      })),
    models: [...catalogue.models.values()]
      .filter(({ isOffered, targets }) => isOffered && targets.length > 0)
      .map(({ id, displayName: name, inputModalities: input, outputModalities: output, contextWindow }) => ({
        ...{ id, name, input, output, contextWindow },
      })),
  };
}

/** Makes a successor with the same rights; the old key works beside it for the grace period. */
export async function rotateKey(
  tools: Omit<KeyTools, 'scope' | 'unbounded'>,
  old: KeyRights & { readonly id: string },
  graceMs: number,
): Promise<Result<NewKey, string>> {
  const { nowMs } = tools;
  const retiresAtMs = nowMs + graceMs;
  const successor = newKey(tools, { ...rightsOf(old), id: newId() });
  const { id, hint } = successor.record;
  const { configuration } = noting(tools, {
    ...{ action: 'key.rotate', target: targetOf(old), accountId: old.accountId },
    after: { replacedBy: id, hint, retiresAt: new Date(retiresAtMs).toISOString() },
  });
  const rotated = await configuration.rotateKey(old.id, successor.record, retiresAtMs, nowMs);
  return rotated ? succeed(successor) : fail(`the key ${old.id} is not active, so it cannot be rotated`);
}

/** Lets a key work, or not; revoking is for good. */
export async function setKeyStatus(
  tools: ChangeTools,
  key: Pick<ListedKey, 'id' | 'name' | 'accountId' | 'status'>,
  status: KeyStatus,
): Promise<Result<null, string>> {
  const verbs = { active: 'enable', disabled: 'disable', revoked: 'revoke' } as const;
  const { configuration } = noting(tools, {
    ...{ action: `key.${verbs[status]}`, target: targetOf(key), accountId: key.accountId },
    ...{ before: { status: key.status }, after: { status } },
  });
  const isSet = await configuration.setKeyStatus(key.id, status);
  return isSet || status === 'revoked'
    ? succeed(null)
    : fail(`the key ${key.id} is revoked, and that is for good`);
}

function targetOf({ id, name }: { readonly id: string; readonly name: string }) {
  return { kind: 'key', id, name } as const;
}

function newId(): string {
  return `key-${randomBytes(6).toString('hex')}`;
}

type KeyRights = ValuesOf<typeof keyFields>;

/** The fields of a key and nothing else of it. */
function rightsOf(key: KeyRights): KeyRights {
  // The names are those of the table.
  return Object.fromEntries(
    (Object.keys(keyFields) as (keyof KeyRights)[]).map((name) => [name, key[name]]),
  ) as unknown as KeyRights;
}

function newKey({ peppers }: Pick<KeyTools, 'peppers'>, rights: KeyRights & { readonly id: string }): NewKey {
  const key = generateKey();
  return { key, record: { ...rights, hash: hashKey(key, peppers[0]), hint: keyHint(key) } };
}

function chooseOne(
  kind: 'account' | 'group',
  given: string | undefined,
  ids: readonly string[],
): Result<string, AccountRefusal> {
  if (given !== undefined) {
    return ids.includes(given)
      ? succeed(given)
      : invalid(kind, `there is no ${kind} "${given}"${didYouMean(given, ids)}`);
  }
  const [only, another] = ids;
  if (only === undefined)
    return invalid(
      kind,
      `there is no ${kind} that keys may be made in; an operator makes one, or names it for the account`,
    );
  return another === undefined
    ? succeed(only)
    : invalid(kind, `is missing; name one of ${ids.slice(0, 20).join(', ')}`);
}

function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map((row) => row.id);
}

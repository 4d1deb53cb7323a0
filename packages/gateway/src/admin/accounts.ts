import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { accountFields, type DeclaredAccount } from '../catalogue/entities.ts';
import { declare, exported, type Fields } from '../catalogue/fields.ts';
import { identifier } from '../catalogue/identifiers.ts';
import { type LimitMistake, limitFieldsOf } from '../catalogue/limit-fields.ts';
import {
  type LimitPatch,
  mistakesOf,
  modelsOf,
  patched,
  patchMembers,
  readLimitPatch,
} from '../catalogue/limit-patch.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import { didYouMean } from '../config/suggestion.ts';
import { formatNanoUsd, nanoUsd, readUsd } from '../money/money.ts';
import type { Adjustment, AdjustmentResult } from '../ports/accounts.ts';
import type { AuditMembers } from '../ports/audit.ts';
import type { StoredConfiguration } from '../ports/configuration-store.ts';
import type { Store } from '../ports/store.ts';
import { type AuditTools, writeAudit } from './audit.ts';
import { findKey } from './keys.ts';

/** The sources of whoever reads of money and limits. */
export interface AccountReading {
  readonly store: Pick<Store, 'configuration' | 'accounts' | 'catchUp'>;
  readonly nowMs: number;
}

/** The same, to change them. */
export interface AccountTools extends AccountReading, AuditTools {
  readonly store: Pick<Store, 'configuration' | 'accounts' | 'audit' | 'catchUp'>;
}

/** Why nothing was done. */
export type AccountRefusal =
  /** The question is wrong in itself: its members, and what is wrong with them. */
  | { readonly kind: 'invalid'; readonly mistakes: readonly LimitMistake[] }
  | { readonly kind: 'unknown'; readonly message: string }
  /** It does not go together with how things are. */
  | { readonly kind: 'conflict'; readonly message: string; readonly member: string };

function invalid(path: string, message: string): Result<never, AccountRefusal> {
  return fail({ kind: 'invalid', mistakes: [{ path: path.split('.'), message }] });
}

const line = (name: string, max: number) =>
  z
    .string(`must be text: ${name}`)
    .min(1, `is missing; write ${name}`)
    .max(max, `must be of ${max} characters at the most`)
    .regex(/^[^\p{Cc}\u2028-\u202e\u2066-\u2069]*$/u, 'must be one line of plain characters');

export const accountBody = z.strictObject(
  {
    id: identifier,
    name: line('the name that people know it by', 200).exactOptional(),
    showBalance: z.boolean('must be true or false').exactOptional(),
    ...patchMembers.account,
  },
  { error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object of members') },
);

/** Adds an account of the operator's. */
export async function createAccount(
  tools: AccountTools,
  given: unknown,
): Promise<Result<DeclaredAccount, AccountRefusal>> {
  const read = accountBody.safeParse(given);
  if (!read.success) return fail({ kind: 'invalid', mistakes: read.error.issues.flatMap(mistakesOf) });
  const { id, name, showBalance, ...limits } = read.data;
  const unknown = unknownModel(modelsOf(limits), await tools.store.configuration.load());
  if (unknown !== null) return fail(unknown);
  const declared = patched(limitFieldsOf.account, id, declare(limitFieldsOf.account, id, {}), limits);
  if (!declared.ok) return fail({ kind: 'invalid', mistakes: declared.error });
  const own = {
    ...(name === undefined ? {} : { name }),
    ...(showBalance === undefined ? {} : { showBalance }),
  };
  const account = { id, ...declare(accountFields, id, own), ...declared.value };
  if (!(await tools.store.configuration.insertAccount(account)))
    return fail({ kind: 'conflict', member: 'id', message: `there is an account "${id}" already` });
  const target = { kind: 'account', id, name: account.name } as const;
  await writeAudit(tools, { action: 'account.create', target, accountId: id, after: read.data });
  return succeed(account);
}

function unknownModel(
  models: ReturnType<typeof modelsOf>,
  stored: StoredConfiguration,
): AccountRefusal | null {
  const known = stored.models.map(({ id }) => id);
  const unknown = models.find(({ model }) => !known.includes(model));
  if (unknown === undefined) return null;
  const { model, path } = unknown;
  const message = `there is no model "${model}"${didYouMean(model, known)}`;
  return { kind: 'invalid', mistakes: [{ path, message }] };
}

/** Changes the limits of an account, a group or a key; gives its id. */
export async function amendOwner(
  tools: AccountTools,
  owner: OwnerKind,
  given: string,
  body: unknown,
): Promise<Result<string, AccountRefusal>> {
  const { store } = tools;
  const stored = await store.configuration.load();
  const found = findOwner(stored, owner, given);
  if (!found.ok) return fail({ kind: 'unknown', message: found.error });
  const id = found.value;
  const patch = readLimitPatch(owner, body);
  if (!patch.ok) return fail({ kind: 'invalid', mistakes: patch.error });
  if (Object.keys(patch.value).length === 0) return invalid('', 'says nothing to change');
  const unknown = unknownModel(modelsOf(patch.value), stored);
  if (unknown !== null) return fail(unknown);
  const amended = await store.configuration.amendLimits(owner, id, patch.value);
  if (amended.ok) {
    await noteAmendment(tools, owner, id, stored, patch.value);
    return succeed(id);
  }
  switch (amended.error.kind) {
    case 'unknown':
      return fail({ kind: 'unknown', message: `there is no ${owner} "${id}" any more` });
    case 'declared':
      return fail({
        kind: 'conflict',
        member: 'id',
        message: `the ${owner} "${id}" is declared in the configuration file: change ${owner}s.${id} there`,
      });
    case 'mistaken':
      return fail({ kind: 'invalid', mistakes: amended.error.mistakes });
  }
}

/** The members that were named, as they were and as they are. */
async function noteAmendment(
  tools: AccountTools,
  owner: OwnerKind,
  id: string,
  stored: StoredConfiguration,
  patch: LimitPatch,
): Promise<void> {
  const names = Object.keys(patch);
  const membersOf = (configuration: StoredConfiguration) => {
    const found = ownersOf(configuration, owner).find((each) => each.id === id);
    const fields: Fields = limitFieldsOf[owner];
    // An owner has the fields of its kind.
    const written = found === undefined ? {} : (exported(fields, id, { ...found }) as AuditMembers);
    return Object.fromEntries(names.map((name) => [name, written[name] ?? null]));
  };
  const found = ownersOf(stored, owner).find((each) => each.id === id);
  await writeAudit(tools, {
    action: `${owner}.change`,
    target: { kind: owner, id, name: found?.name ?? null },
    accountId: accountOf(stored, owner, id),
    before: membersOf(stored),
    after: membersOf(await tools.store.configuration.load()),
  });
}

function ownersOf(stored: StoredConfiguration, owner: OwnerKind) {
  return { account: stored.accounts, group: stored.groups, key: stored.keys }[owner];
}

/** The account that an owner belongs to; null of a group, which belongs to none. */
function accountOf(stored: StoredConfiguration, owner: OwnerKind, id: string): string | null {
  if (owner === 'account') return id;
  return owner === 'group' ? null : (stored.keys.find((key) => key.id === id)?.accountId ?? null);
}

/** The id of an owner; of a key a beginning that only one id has will do. The error says what there is. */
export function findOwner(
  stored: StoredConfiguration,
  owner: OwnerKind,
  given: string,
): Result<string, string> {
  if (owner === 'key') {
    const key = findKey(stored, given);
    return key.ok ? succeed(key.value.id) : key;
  }
  const ids = (owner === 'account' ? stored.accounts : stored.groups).map(({ id }) => id);
  return ids.includes(given)
    ? succeed(given)
    : fail(`there is no ${owner} "${given}"${didYouMean(given, ids)}`);
}

export const adjustmentBody = z.strictObject(
  {
    amount: z.string('must be text such as "12.50": an exact decimal'),
    reason: line('why, for whoever reads it later', 500),
    reference: line('a name of its own, such as that of a payment', 200).nullable().exactOptional(),
    force: z.boolean('must be true or false').exactOptional(),
  },
  { error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object of members') },
);

/** An adjustment as it stands in the books. */
export interface Adjusted {
  readonly adjustment: Adjustment;
  readonly balanceNanoUsd: Adjustment['amountNanoUsd'];
  /** False where it had been made before under the same reference. */
  readonly isNew: boolean;
}

/** Gives money to an account, or takes it away: a posting with a reason. */
export async function adjustAccount(
  tools: AccountTools,
  direction: 'credit' | 'debit',
  accountId: string,
  body: unknown,
  madeBy: string,
): Promise<Result<Adjusted, AccountRefusal>> {
  const { store, nowMs } = tools;
  const read = adjustmentBody.safeParse(body);
  if (!read.success) return fail({ kind: 'invalid', mistakes: read.error.issues.flatMap(mistakesOf) });
  const { amount: text, reason, reference = null, force = false } = read.data;
  if (force && direction === 'credit') return invalid('force', 'means something only for a debit');
  const amount = readUsd(text);
  if (!amount.ok) return invalid('amount', amount.error);
  if (amount.value === 0n) return invalid('amount', 'must be above 0');
  const amountNanoUsd = direction === 'credit' ? amount.value : nanoUsd(-amount.value);
  const id = `adj-${randomBytes(8).toString('hex')}`;
  const adjustment = { id, accountId, amountNanoUsd, reason, reference, madeBy, atMs: nowMs };
  // A debit is held against what calls have really spent.
  await store.catchUp();
  const result = await store.accounts.adjust(adjustment, force);
  if (result.kind === 'posted')
    await writeAudit(tools, {
      action: `account.${direction}`,
      target: { kind: 'account', id: accountId },
      accountId,
      after: { amount: text, reason, reference, force },
    });
  return outcomeOf(result, adjustment);
}

function outcomeOf(result: AdjustmentResult, asked: Adjustment): Result<Adjusted, AccountRefusal> {
  switch (result.kind) {
    case 'posted':
    case 'known': {
      const { adjustment, balanceNanoUsd } = result;
      return succeed({ adjustment, balanceNanoUsd, isNew: result.kind === 'posted' });
    }
    case 'other-amount':
      return fail({
        kind: 'conflict',
        member: 'reference',
        message: `"${asked.reference}" is the reference of ${amountText(result.adjustment)} of ${new Date(result.adjustment.atMs).toISOString()} already, and this is ${amountText(asked)}: name another one`,
      });
    case 'below-limit':
      return fail({
        kind: 'conflict',
        member: 'force',
        message: `the balance is ${formatNanoUsd(result.balanceNanoUsd)} USD and may not go below ${formatNanoUsd(nanoUsd(-result.creditLimitNanoUsd))} USD by a debit, unless it is forced (--force, in a body "force": true)`,
      });
    case 'too-large':
      return invalid('amount', 'is more than a balance can hold');
    case 'unknown-account':
      return fail({ kind: 'unknown', message: `there is no account "${asked.accountId}"` });
  }
}

/** `a debit of 2.5 USD` */
function amountText({ amountNanoUsd }: Adjustment): string {
  const size = nanoUsd(amountNanoUsd < 0n ? -amountNanoUsd : amountNanoUsd);
  return `a ${amountNanoUsd < 0n ? 'debit' : 'credit'} of ${formatNanoUsd(size)} USD`;
}

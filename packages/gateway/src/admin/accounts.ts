import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { accountFields, type DeclaredAccount } from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import { identifier } from '../catalogue/identifiers.ts';
import type { LimitMistake } from '../catalogue/limit-fields.ts';
import {
  type LimitPatch,
  lineOf,
  mistakesOf,
  namedBy,
  patched,
  patchMembers,
  readLimitPatch,
} from '../catalogue/limit-patch.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import { didYouMean } from '../config/suggestion.ts';
import { formatNanoUsd, nanoUsd, readUsd } from '../money/money.ts';
import type { Adjustment, AdjustmentResult } from '../ports/accounts.ts';
import type { AmendRefusal, StoredConfiguration } from '../ports/configuration-store.ts';
import type { KeyChoices } from '../ports/key-directory.ts';
import type { Store } from '../ports/store.ts';
import { type AuditTools, noting } from './audit.ts';
import { findKey } from './keys.ts';

/** The sources of whoever reads of money and limits. */
export interface AccountReading {
  readonly store: Pick<Store, 'configuration' | 'accounts' | 'catchUp' | 'keys'>;
  readonly nowMs: number;
}

/** The same, to change them. */
export interface AccountTools extends AccountReading, AuditTools {
  readonly store: Pick<Store, 'configuration' | 'accounts' | 'audit' | 'catchUp' | 'keys'>;
}

/** The tools of whoever changes what an account, a group or a key is. */
export interface ChangeTools extends AuditTools {
  readonly store: Pick<Store, 'configuration' | 'audit' | 'keys'>;
}

/** Why nothing was done. */
export type AccountRefusal =
  /** The question is wrong in itself: its members, and what is wrong with them. */
  | { readonly kind: 'invalid'; readonly mistakes: readonly LimitMistake[] }
  | { readonly kind: 'unknown'; readonly message: string }
  /** It does not go together with how things are. */
  | { readonly kind: 'conflict'; readonly message: string; readonly member: string };

export function invalid(path: string, message: string): Result<never, AccountRefusal> {
  return fail({ kind: 'invalid', mistakes: [{ path: path.split('.'), message }] });
}

export const accountBody = z.strictObject(
  {
    id: identifier,
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
  const { id, ...members } = read.data;
  const unknown = unknownName(members, await tools.store.keys.choices('all'));
  if (unknown !== null) return fail(unknown);
  const declared = patched(accountFields, id, declare(accountFields, id, {}), members);
  if (!declared.ok) return fail({ kind: 'invalid', mistakes: declared.error });
  const account = { id, ...declared.value };
  const target = { kind: 'account', id, name: account.name } as const;
  const change = { action: 'account.create', target, accountId: id, after: read.data } as const;
  if (!(await noting(tools, change).configuration.insertAccount(account)))
    return fail({ kind: 'conflict', member: 'id', message: `there is an account "${id}" already` });
  return succeed(account);
}

/** Everything that a patch names must be there. */
export function unknownName(patch: LimitPatch, choices: KeyChoices): AccountRefusal | null {
  const known = {
    model: choices.modelIds,
    group: choices.groups.map(({ id }) => id),
    channel: choices.channelIds,
  };
  const unknown = namedBy(patch).find(({ kind, name }) => !known[kind].includes(name));
  if (unknown === undefined) return null;
  const { kind, name, path } = unknown;
  const message = `there is no ${kind} "${name}"${didYouMean(name, known[kind])}`;
  return { kind: 'invalid', mistakes: [{ path, message }] };
}

/** Changes an account, a group or a key, which may be named by what only one has; gives its id. */
export async function amendOwner(
  tools: ChangeTools,
  owner: OwnerKind,
  given: string,
  body: unknown,
): Promise<Result<string, AccountRefusal>> {
  const { configuration, keys } = tools.store;
  const patch = readLimitPatch(owner, body);
  if (!patch.ok) return fail({ kind: 'invalid', mistakes: patch.error });
  if (Object.keys(patch.value).length === 0) return invalid('', 'says nothing to change');
  const unknown = unknownName(patch.value, await keys.choices('all'));
  if (unknown !== null) return fail(unknown);
  const first = await amendById(tools, owner, given, patch.value);
  if (first.ok || first.error.kind !== 'unknown') return first;
  // Only where nothing has this very id all of the configuration is read, to find what is meant.
  const found = findOwner(await configuration.load(), owner, given);
  return found.ok
    ? amendById(tools, owner, found.value, patch.value)
    : fail({ kind: 'unknown', message: found.error });
}

async function amendById(
  tools: ChangeTools,
  owner: OwnerKind,
  id: string,
  patch: LimitPatch,
): Promise<Result<string, AccountRefusal>> {
  // The store says what it was and is, as it changes it.
  const note = { action: `${owner}.change`, target: { kind: owner, id }, accountId: null } as const;
  const amended = await noting(tools, note).configuration.amendLimits(owner, id, patch);
  return amended.ok ? succeed(id) : fail(refusalOf(amended.error, owner, id));
}

function refusalOf(refusal: AmendRefusal, owner: OwnerKind, id: string): AccountRefusal {
  switch (refusal.kind) {
    case 'unknown':
      return { kind: 'unknown', message: `there is no ${owner} "${id}"` };
    case 'declared':
      return {
        kind: 'conflict',
        member: 'id',
        message: `the ${owner} "${id}" is declared in the configuration file: change ${owner}s.${id} there`,
      };
    case 'mistaken':
      return { kind: 'invalid', mistakes: refusal.mistakes };
  }
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
    : fail(
        `there is no ${owner} "${given}"${didYouMean(given, ids) || `; headgate ${owner}s list names them`}`,
      );
}

export const adjustmentBody = z.strictObject(
  {
    amount: z.string('must be text such as "12.50": an exact decimal'),
    reason: lineOf('why, for whoever reads it later', 500),
    reference: lineOf('a name of its own, such as that of a payment', 200).nullable().exactOptional(),
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
  const { accounts } = noting(tools, {
    action: `account.${direction}`,
    target: { kind: 'account', id: accountId },
    accountId,
    after: { amount: text, reason, reference, force },
  });
  const result = await accounts.adjust(adjustment, force);
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

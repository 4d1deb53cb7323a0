import { fail, type Result, succeed } from '@headgate/protocols';

/** The rights that a claim of an identity provider stands for. */
export interface RoleRule {
  /** A value of the claim. */
  readonly value: string;
  readonly grant: RoleGrant;
}

/** Rights that are given to a person: all of them, or a role in one account. */
export type RoleGrant =
  | { readonly role: 'operator' }
  | { readonly role: 'admin' | 'member' | 'viewer'; readonly accountId: string };

const form = 'VALUE=operator or VALUE=admin|member|viewer:ACCOUNT, separated by commas';

/** Reads `headgate-admins=operator, research=member:lab`. */
export function readRoleRules(text: string): Result<readonly RoleRule[], string> {
  const rules = text.split(',').map((part) => readRule(part.trim()));
  const read = rules.filter((rule) => rule !== null);
  return read.length === rules.length ? succeed(read) : fail(`is not ${form}`);
}

function readRule(text: string): RoleRule | null {
  const [, value = '', role = '', accountId = ''] =
    /^([^=,]+)=(operator|admin|member|viewer)(?::([a-z0-9][a-z0-9._-]{0,63}))?$/.exec(text) ?? [];
  if (role === 'operator') return accountId === '' ? { value: value.trim(), grant: { role } } : null;
  if (accountId === '' || (role !== 'admin' && role !== 'member' && role !== 'viewer')) return null;
  return { value: value.trim(), grant: { role, accountId } };
}

/** The grants of all rules whose value the claim has; a claim is a text or a list of them, and anything else has no value. */
export function grantsOf(rules: readonly RoleRule[], claim: unknown): readonly RoleGrant[] {
  const values = Array.isArray(claim) ? claim : [claim];
  return rules.filter(({ value }) => values.includes(value)).map(({ grant }) => grant);
}

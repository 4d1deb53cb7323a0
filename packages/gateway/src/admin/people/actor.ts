import { type Membership, type Role, roles } from '../../ports/people.ts';

/** Whoever asks for something of the console, or changes it. The address is that of the connection; null where there is none. */
export type Actor =
  | { readonly kind: 'nobody'; readonly address: string | null }
  | { readonly kind: 'operator-token'; readonly address: string | null }
  | { readonly kind: 'command-line'; readonly address: null }
  | PersonActor;

/** A person who has signed in. */
export interface PersonActor {
  readonly kind: 'person';
  readonly personId: string;
  readonly name: string;
  readonly isOperator: boolean;
  readonly memberships: readonly Membership[];
  readonly sessionId: string;
  /** When they last proved who they are, by all that they sign in with. */
  readonly provenAtMs: number;
  readonly address: string | null;
}

/** The accounts that something may be seen or changed of. */
export type Scope = 'all' | readonly string[];

/** The words of the command line are the operator's. */
export const commandLine: Actor = { kind: 'command-line', address: null };

export function isOperator(actor: Actor): boolean {
  switch (actor.kind) {
    case 'nobody':
      return false;
    case 'operator-token':
    case 'command-line':
      return true;
    case 'person':
      return actor.isOperator;
  }
}

/** The accounts in which the actor has this role, or one above it. */
export function scopeOf(actor: Actor, role: Role): Scope {
  if (isOperator(actor)) return 'all';
  if (actor.kind !== 'person') return [];
  const least = roles.indexOf(role);
  return actor.memberships
    .filter((membership) => roles.indexOf(membership.role) >= least)
    .map(({ accountId }) => accountId);
}

export function includes(scope: Scope, accountId: string): boolean {
  return scope === 'all' || scope.includes(accountId);
}

/** The actor as notes of what was done name it. */
export function nameOf(actor: Actor): string {
  switch (actor.kind) {
    case 'nobody':
      return 'nobody';
    case 'operator-token':
      return 'operator token';
    case 'command-line':
      return 'command line';
    case 'person':
      return actor.name;
  }
}

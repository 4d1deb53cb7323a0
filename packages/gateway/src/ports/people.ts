/** A role in an account, the least first: each may do all that the one before it may. */
export const roles = ['viewer', 'member', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A person belongs to an account. */
export interface Membership {
  readonly accountId: string;
  readonly role: Role;
}

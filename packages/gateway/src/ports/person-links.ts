import type { KnownPerson, Role } from './people.ts';

/** The rights that somebody is invited to: all of them, or a role in an account. */
export interface InvitedTo {
  readonly isOperator: boolean;
  readonly accountId: string | null;
  readonly role: Role | null;
}

/** An invitation by link, good once. The link itself is nowhere but with whoever it was given to. */
export interface Invitation extends InvitedTo {
  readonly id: string;
  /** For the list; whoever has the link may come by another one. */
  readonly email: string | null;
  /** The name of whoever made it. */
  readonly madeBy: string;
  readonly madeAtMs: number;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
}

/** Keeps links that are good once, as hashes. Each take is one transaction. */
export interface PersonLinkStore {
  addInvitation(invitation: Invitation, hash: string): Promise<void>;
  /** The open ones, newest first; of all accounts and of operators for `all`. */
  openInvitations(accounts: 'all' | readonly string[], nowMs: number): Promise<readonly Invitation[]>;
  findInvitation(hashes: readonly string[], nowMs: number): Promise<Invitation | null>;
  /** Adds the person, who has what the invitation gives, and takes it; where they cannot be added it stays open. */
  acceptAsNew(
    hashes: readonly string[],
    person: KnownPerson,
    nowMs: number,
  ): Promise<'added' | 'login-taken' | 'gone'>;
  /** Gives a person what the invitation gives, beside what they have, and ends all of their sessions but one. False where it is gone. */
  acceptAsPerson(
    hashes: readonly string[],
    personId: string,
    keptSession: string,
    nowMs: number,
  ): Promise<boolean>;
  withdrawInvitation(id: string): Promise<boolean>;
  /** Ends all earlier ones of the person. */
  addPasswordLink(personId: string, hash: string, expiresAtMs: number): Promise<void>;
  /** The person whose password it sets. */
  findPasswordLink(hashes: readonly string[], nowMs: number): Promise<string | null>;
  takePasswordLink(hashes: readonly string[], nowMs: number): Promise<string | null>;
  /** The name of an account; null where there is none. */
  accountName(id: string): Promise<string | null>;
}

/** A role in an account, the least first: each may do all that the one before it may. */
export const roles = ['viewer', 'member', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A person belongs to an account. */
export interface Membership {
  readonly accountId: string;
  readonly role: Role;
}

/** Somebody who may sign in to the console. */
export interface Person {
  /** `person-` and hexadecimal digits. */
  readonly id: string;
  /** An e-mail address, or a name; nobody else has it, also with other capitals. */
  readonly login: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** Null while they may sign in. */
  readonly disabledAtMs: number | null;
  /** Null for the one of the deployment. */
  readonly language: string | null;
  /** Null for the one of their system. */
  readonly theme: string | null;
  readonly createdAtMs: number;
}

/** A person with all that decides how they sign in and what they may do. */
export interface KnownPerson extends Person {
  readonly memberships: readonly Membership[];
  /** The hash of their password, with its parameters; null of who has none. */
  readonly passwordHash: string | null;
}

/** Members of a person that change; what is left out stays. */
export interface PersonPatch {
  readonly login?: string;
  readonly name?: string;
  readonly isOperator?: boolean;
  readonly disabledAtMs?: number | null;
  readonly language?: string | null;
  readonly theme?: string | null;
  readonly passwordHash?: string | null;
}

/** A change of what a person may do; what is left out stays. */
export interface AccessChange {
  readonly isOperator?: boolean;
  readonly disabledAtMs?: number | null;
  /** Null takes a membership away; those that are not named stay. */
  readonly roles: readonly { readonly accountId: string; readonly role: Role | null }[];
  /** All other sessions of the person end, which had other rights. */
  readonly keptSession: string | null;
}

/** One browser of a person, from signing in to signing out. */
export interface PersonSession {
  readonly id: string;
  readonly personId: string;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  /** When the person last proved who they are. */
  readonly provenAtMs: number;
  /** `password`, `totp`, `passkey`, `oidc`, …: how that was. */
  readonly how: string;
  readonly userAgent: string | null;
  readonly address: string | null;
}

/** A proof of who somebody is, behind the one that they signed in with. */
export interface SessionProof {
  readonly atMs: number;
  readonly how: string;
}

export interface PersonAccount {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** Keeps the people of the console, what they belong to, and where they are signed in. Each method is one transaction. */
export interface PeopleStore {
  /** How many there are, those who are disabled among them. */
  count(): Promise<number>;
  /** `onlyFirst` adds nobody beside others. */
  insert(person: KnownPerson, onlyFirst: boolean): Promise<'added' | 'login-taken' | 'not-first'>;
  find(id: string): Promise<KnownPerson | null>;
  findByLogin(login: string): Promise<KnownPerson | null>;
  /** In the order of their logins, from behind one where it is given; of some accounts alone where these are named. */
  list(
    accounts: 'all' | readonly string[],
    limit: number,
    after: string | null,
  ): Promise<readonly KnownPerson[]>;
  amend(id: string, patch: PersonPatch): Promise<'changed' | 'login-taken' | 'unknown'>;
  /** Null takes the membership away. False when there is no such person or account. */
  setMembership(personId: string, accountId: string, role: Role | null): Promise<boolean>;
  /** Tells if somebody else who may sign in is an admin of the account. */
  hasOtherAdmin(accountId: string, id: string): Promise<boolean>;
  /** Leaves everything as it is where nobody else who may sign in would be an operator. */
  changeAccess(id: string, change: AccessChange): Promise<'changed' | 'unknown' | 'last-operator'>;
  /** Takes the person away with all that is theirs, but the last operator. */
  remove(id: string): Promise<'removed' | 'unknown' | 'last-operator'>;
  /** The accounts that a person belongs to, by name. */
  accountsOf(personId: string): Promise<readonly PersonAccount[]>;

  /** Keeps the hash of a session's secret alone. Sessions that are over go, and of many of one person the oldest. */
  openSession(session: PersonSession, secretHash: string): Promise<void>;
  /** The session of a secret, with its person, unless it was last seen too long ago, is over, or its person is disabled. */
  findSession(
    secretHash: string,
    nowMs: number,
    seenSinceMs: number,
  ): Promise<{ readonly session: PersonSession; readonly person: KnownPerson } | null>;
  seeSession(id: string, atMs: number): Promise<void>;
  /** Another secret in the place of the one before; with a proof, for who has proved who they are. */
  rotateSession(id: string, secretHash: string, proof: SessionProof | null): Promise<boolean>;
  /** The newest first. */
  listSessions(personId: string, nowMs: number, seenSinceMs: number): Promise<readonly PersonSession[]>;
  endSession(personId: string, id: string): Promise<boolean>;
  /** Ends all sessions of a person but one. Gives how many these were. */
  endSessions(personId: string, exceptId: string | null): Promise<number>;
}

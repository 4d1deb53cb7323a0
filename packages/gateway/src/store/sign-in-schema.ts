import type { Role } from '../ports/people.ts';

type Integer = bigint;

/** See `StoredTotp`. */
export interface TotpTable {
  person_id: string;
  key_id: string;
  sealed: string;
  is_confirmed: Integer;
  last_step: Integer | null;
}

export interface RecoveryCodesTable {
  hash: string;
  person_id: string;
  used_at_ms: Integer | null;
}

/** See `StoredPasskey`. */
export interface PasskeysTable {
  id: string;
  person_id: string;
  credential_id: string;
  name: string;
  public_key: string;
  counter: Integer;
  /** JSON. */
  transports: string;
  created_at_ms: Integer;
  used_at_ms: Integer | null;
}

/** See `StoredIdentity`. */
export interface PersonIdentitiesTable {
  id: string;
  person_id: string;
  issuer: string;
  subject: string;
  label: string;
  is_managed: Integer;
  created_at_ms: Integer;
  used_at_ms: Integer | null;
}

/** See `Invitation`. */
export interface InvitationsTable {
  id: string;
  hash: string;
  email: string | null;
  is_operator: Integer;
  account_id: string | null;
  role: Role | null;
  made_by: string;
  made_at_ms: Integer;
  expires_at_ms: Integer;
  used_at_ms: Integer | null;
}

export interface PasswordLinksTable {
  hash: string;
  person_id: string;
  expires_at_ms: Integer;
}

/** The tables of what people sign in with. */
export interface SignInSchema {
  totp: TotpTable;
  recovery_codes: RecoveryCodesTable;
  passkeys: PasskeysTable;
  person_identities: PersonIdentitiesTable;
  invitations: InvitationsTable;
  password_links: PasswordLinksTable;
}

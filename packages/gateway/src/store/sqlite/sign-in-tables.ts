/** Everything that people sign in with beside passwords, and the links by which they come. */
export const signInTables = `
CREATE TABLE totp (
  person_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  is_confirmed INTEGER NOT NULL,
  last_step INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE recovery_codes (
  hash TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  used_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_by_person ON recovery_codes (person_id);
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_by_person ON passkeys (person_id);
CREATE TABLE person_identities (
  id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  label TEXT NOT NULL,
  is_managed INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER,
  UNIQUE (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_identities_by_person ON person_identities (person_id);
CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  email TEXT,
  is_operator INTEGER NOT NULL,
  account_id TEXT,
  role TEXT,
  made_by TEXT NOT NULL,
  made_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE password_links (
  hash TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

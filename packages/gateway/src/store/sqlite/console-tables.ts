/** Who changed what. Rows are added and never changed: triggers refuse it. */
export const auditTable = `
CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  person_id TEXT,
  actor_name TEXT NOT NULL,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_name TEXT,
  account_id TEXT,
  before TEXT,
  after TEXT,
  address TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_account ON audit (account_id, id);
CREATE INDEX audit_by_target ON audit (target_kind, target_id, id);
CREATE INDEX audit_by_person ON audit (person_id, id) WHERE person_id IS NOT NULL;
CREATE INDEX audit_by_action ON audit (action, id);
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END;
`;

/** Creates of the console that their askers have named, for a day. */
export const createClaimTable = `
CREATE TABLE create_claims (
  id TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  body TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX create_claims_by_age ON create_claims (at_ms);
`;

/** People of the console, what they belong to, and where they are signed in. All that is a person's goes with them. */
export const peopleTables = `
CREATE TABLE persons (
  id TEXT PRIMARY KEY,
  login TEXT NOT NULL,
  login_folded TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  is_operator INTEGER NOT NULL,
  disabled_at_ms INTEGER,
  language TEXT,
  theme TEXT,
  password_hash TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE memberships (
  person_id TEXT NOT NULL REFERENCES persons (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (person_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_by_account ON memberships (account_id, person_id);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  person_id TEXT NOT NULL REFERENCES persons (id) ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  proven_at_ms INTEGER NOT NULL,
  how TEXT NOT NULL,
  user_agent TEXT,
  address TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_person ON sessions (person_id, created_at_ms);
CREATE INDEX sessions_by_end ON sessions (expires_at_ms);
`;

/** Settings that were made in the console; those of secrets are sealed, and have no text. */
export const consoleSettingsTable = `
CREATE TABLE console_settings (
  name TEXT PRIMARY KEY,
  text TEXT,
  key_id TEXT,
  sealed TEXT,
  changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

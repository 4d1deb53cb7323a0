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

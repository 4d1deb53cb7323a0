/** The money and the rates that accounts, groups and keys may take, and whose clocks their days go by. */
export const limitsOfOwners = `
ALTER TABLE accounts ADD COLUMN prepaid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE groups ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
${['accounts', 'groups', 'keys']
  .map(
    (table) => `ALTER TABLE ${table} ADD COLUMN budgets TEXT;\nALTER TABLE ${table} ADD COLUMN limits TEXT;`,
  )
  .join('\n')}
${['groups', 'keys']
  .flatMap((table) =>
    ['day', 'month', 'total'].map((span) => `ALTER TABLE ${table} DROP COLUMN budget_${span}_nano_usd;`),
  )
  .join('\n')}
`;

/** Credits and debits of operators, with their reasons: a posting has only the id. */
export const adjustments = `
CREATE TABLE adjustments (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  amount_nano_usd INTEGER NOT NULL CHECK (amount_nano_usd <> 0),
  reason TEXT NOT NULL,
  reference TEXT,
  made_by TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  UNIQUE (account_id, reference)
) STRICT;
CREATE INDEX adjustments_by_account ON adjustments (account_id, number);
CREATE TRIGGER adjustments_are_never_updated BEFORE UPDATE ON adjustments
BEGIN SELECT RAISE(ABORT, 'adjustments are append-only'); END;
CREATE TRIGGER adjustments_are_never_deleted BEFORE DELETE ON adjustments
BEGIN SELECT RAISE(ABORT, 'adjustments are append-only'); END;
`;

/** The addresses that keys may be used from, and the groups that people of an account may make keys in. */
export const boundsOfKeys = `
ALTER TABLE keys ADD COLUMN address_ranges TEXT;
ALTER TABLE accounts ADD COLUMN key_groups TEXT;
`;

import { attemptColumns, usageColumns } from '../columns.ts';

/** The parts of usage that the first schema counts; later steps add the others. */
export const firstParts = 11;

const usageSums = usageColumns
  .slice(0, firstParts)
  .map((column) => `${column} INTEGER NOT NULL`)
  .join(',\n  ');

/** A view of what is in the columns of calls: it knows all members of an attempt, also of rows that lack the last ones. */
export const attempts = `CREATE VIEW attempts AS
SELECT trace_id, ${attemptColumns.map((column, index) => `attempt.value ->> ${index} AS ${column}`).join(', ')}
FROM calls, json_each(calls.attempts) AS attempt;`;

const budgets = ['day', 'month', 'total'].map((span) => `budget_${span}_nano_usd INTEGER`).join(',\n  ');

const declared = `id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0`;

const ledger = `
CREATE TABLE calls (
  trace_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  group_id TEXT NOT NULL,
  surface TEXT NOT NULL,
  model_requested TEXT NOT NULL,
  stream INTEGER NOT NULL,
  started_at_ms INTEGER NOT NULL,
  price_version TEXT,
  multiplier_ppm INTEGER NOT NULL,
  client_request_id TEXT,
  parent_trace TEXT,
  user_agent TEXT,
  status TEXT NOT NULL,
  unbilled_reason TEXT,
  channel_id TEXT,
  model_served TEXT,
  ${usageSums},
  usage_source TEXT NOT NULL,
  charge_nano_usd INTEGER NOT NULL,
  finish_reason TEXT,
  finish_reason_raw TEXT,
  http_status INTEGER,
  error_code TEXT,
  losses TEXT,
  ttft_ms REAL,
  duration_ms REAL NOT NULL,
  overhead_us INTEGER NOT NULL,
  finished_at_ms INTEGER,
  attempts TEXT NOT NULL,
  run INTEGER
) STRICT;
CREATE INDEX calls_by_key ON calls (key_id, started_at_ms);
CREATE INDEX calls_open ON calls (run) WHERE run IS NOT NULL;

${attempts}

CREATE TABLE postings (
  id INTEGER PRIMARY KEY,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount_nano_usd INTEGER NOT NULL CHECK (amount_nano_usd > 0),
  reference TEXT NOT NULL
) STRICT;
CREATE TRIGGER postings_are_never_updated BEFORE UPDATE ON postings
BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER postings_are_never_deleted BEFORE DELETE ON postings
BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;

CREATE TABLE balances (
  ledger_account TEXT PRIMARY KEY,
  balance_nano_usd INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_slots (
  key_id TEXT NOT NULL,
  slot_start_ms INTEGER NOT NULL,
  model TEXT NOT NULL,
  account_id TEXT NOT NULL,
  group_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  billed_calls INTEGER NOT NULL,
  ${usageSums},
  charge_nano_usd INTEGER NOT NULL,
  PRIMARY KEY (key_id, slot_start_ms, model, account_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at_ms INTEGER NOT NULL
) STRICT;
`;

const configuration = `
CREATE TABLE prices (
  subject TEXT NOT NULL,
  version TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  effective_from_ms INTEGER NOT NULL,
  tiers TEXT NOT NULL,
  UNIQUE (subject, number)
) STRICT;
CREATE TRIGGER prices_are_never_updated BEFORE UPDATE ON prices
BEGIN SELECT RAISE(ABORT, 'prices are immutable'); END;
CREATE TRIGGER prices_are_never_deleted BEFORE DELETE ON prices
BEGIN SELECT RAISE(ABORT, 'prices are immutable'); END;

CREATE TABLE providers (
  ${declared},
  document TEXT NOT NULL
) STRICT;

CREATE TABLE accounts (
  ${declared},
  name TEXT NOT NULL,
  credit_limit_nano_usd INTEGER
) STRICT;

CREATE TABLE groups (
  ${declared},
  name TEXT NOT NULL,
  platform TEXT NOT NULL,
  multiplier_ppm INTEGER NOT NULL CHECK (multiplier_ppm >= 0),
  models TEXT,
  ${budgets}
) STRICT;

CREATE TABLE models (
  ${declared},
  display_name TEXT NOT NULL,
  owned_by TEXT NOT NULL,
  created INTEGER NOT NULL,
  context_window INTEGER,
  max_output_tokens INTEGER,
  input_modalities TEXT NOT NULL,
  output_modalities TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  reasoning INTEGER NOT NULL
) STRICT;

CREATE TABLE channels (
  ${declared},
  alias TEXT NOT NULL,
  provider_id TEXT NOT NULL, -- of a row of providers, or of the catalogue that comes with the program
  base_url TEXT,
  credential_environment TEXT,
  priority INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  allow_private INTEGER NOT NULL
) STRICT;

CREATE TABLE channel_models (
  channel_id TEXT NOT NULL REFERENCES channels,
  model_id TEXT NOT NULL,
  upstream_model TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (channel_id, model_id, upstream_model)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  ${declared},
  name TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts,
  group_id TEXT NOT NULL REFERENCES groups,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  models TEXT,
  expires_at_ms INTEGER,
  status TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  retires_at_ms INTEGER,
  replaced_by TEXT,
  ${budgets}
) STRICT;

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('configuration_revision', 0);
`;

/** The first schema that was released. */
export const firstTables = ledger + configuration;

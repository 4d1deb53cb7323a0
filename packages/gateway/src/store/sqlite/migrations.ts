import type { DatabaseSync } from 'node:sqlite';
import { attemptColumns, usageColumns } from '../columns.ts';
import { keysBySuccessor } from '../key-lineage.ts';
import { archiveTable } from './archive-table.ts';
import { claimTable } from './call-claims.ts';
import { eventTables, webhookTable } from './event-tables.ts';
import { balanceNews, gatheredSpending, leaseTables } from './lease-tables.ts';
import { adjustments, boundsOfKeys, limitsOfOwners } from './limits-migration.ts';
import { spendIsMadeLater, tagsAndSpend } from './spend-migration.ts';
import { usageSpans } from './usage-spans.ts';

/** The parts of usage that the first schema counts; later steps add the others. */
const firstParts = 11;

const usageSums = usageColumns
  .slice(0, firstParts)
  .map((column) => `${column} INTEGER NOT NULL`)
  .join(',\n  ');

/** A view of what is in the columns of calls: it knows all members of an attempt, also of rows that lack the last ones. */
const attempts = `CREATE VIEW attempts AS
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

/** An image is priced by size and quality, which are kept so that its charge can be worked out again. */
const imageKinds = 'ALTER TABLE calls ADD COLUMN image_kind TEXT;';

/** The router keeps here what it has learned of targets, credentials and models; none of it is worth a backup. */
const routerStates = `
CREATE TABLE router_states (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  saved_at_ms INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX router_states_by_age ON router_states (saved_at_ms);
`;

/** Each call keeps what its plans were made from. */
const routes = 'ALTER TABLE calls ADD COLUMN route TEXT;';

/** Several credentials of a channel, what channels are short of, and how groups are routed. */
const routing = `
ALTER TABLE channels ADD COLUMN credential_environments TEXT NOT NULL DEFAULT '[]';
UPDATE channels SET credential_environments = json_array(credential_environment)
  WHERE credential_environment IS NOT NULL;
ALTER TABLE channels DROP COLUMN credential_environment;
ALTER TABLE channels ADD COLUMN drain INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channels ADD COLUMN max_concurrency INTEGER;
ALTER TABLE channel_models ADD COLUMN context_window INTEGER;
ALTER TABLE channel_models ADD COLUMN lacks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE groups ADD COLUMN routing_preset TEXT NOT NULL DEFAULT 'balanced';
ALTER TABLE groups ADD COLUMN routing_channels TEXT;
ALTER TABLE groups ADD COLUMN hedging INTEGER NOT NULL DEFAULT 0;
`;

/** How far the journal of a run is fed, and the lines that the store would not take. */
const journals = `
ALTER TABLE runs ADD COLUMN fed INTEGER;
ALTER TABLE runs ADD COLUMN fed_at_ms INTEGER;
CREATE TABLE set_aside (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  place INTEGER NOT NULL,
  reason TEXT NOT NULL,
  line TEXT NOT NULL
) STRICT;
`;

/** Calls that several models served: what each used, and the version of its price. */
const partsOfCalls = 'ALTER TABLE calls ADD COLUMN parts TEXT;';

/** Who says what a price is, and the model of the catalogue that another one is priced as. */
const salePrices = `
ALTER TABLE prices ADD COLUMN origin TEXT;
ALTER TABLE models ADD COLUMN priced_as TEXT;
`;

const furtherParts = usageColumns
  .slice(firstParts)
  .flatMap((column) =>
    ['calls', 'usage_slots'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0;`,
    ),
  );

/** Terms that prices go by beside amounts, further parts of usage, and costs as upstreams state them. */
const priceDimensions = `
ALTER TABLE calls ADD COLUMN terms TEXT;
${furtherParts.join('\n')}
DROP VIEW attempts;
${attempts}
`;

/** Credentials of channels by where they are, and those that the store keeps, sealed. */
const credentials = `
ALTER TABLE channels ADD COLUMN credentials TEXT NOT NULL DEFAULT '[]';
UPDATE channels SET credentials = (
  SELECT json_group_array(json_object('kind', 'environment', 'name', value)) FROM json_each(credential_environments)
);
ALTER TABLE channels DROP COLUMN credential_environments;
CREATE TABLE credentials (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  rotated_at_ms INTEGER
) STRICT, WITHOUT ROWID;
`;

const revokedSecrets = `
CREATE TABLE revoked_secrets (hash TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO revoked_secrets (hash)
  SELECT hash FROM keys WHERE status = 'revoked' AND hash NOT LIKE 'removed:%';
`;

/** Headers, a proxy and time-outs of one channel. */
const waysOfChannels = `
ALTER TABLE channels ADD COLUMN headers TEXT NOT NULL DEFAULT '[]';
ALTER TABLE channels ADD COLUMN proxy TEXT;
ALTER TABLE channels ADD COLUMN connect_timeout_ms INTEGER;
ALTER TABLE channels ADD COLUMN first_content_timeout_ms INTEGER;
ALTER TABLE channels ADD COLUMN stall_timeout_ms INTEGER;
ALTER TABLE channels ADD COLUMN total_timeout_ms INTEGER;
`;

/** How callers who leave early are billed. */
const hangUps = 'ALTER TABLE channels ADD COLUMN hang_up TEXT;';

/** Keys see the balance of their account only where it says so. */
const shownBalances = 'ALTER TABLE accounts ADD COLUMN show_balance INTEGER NOT NULL DEFAULT 0;';

/** The name that sums have for the model of a call. */
export const summedModel = `CASE WHEN price_version IS NULL AND attempts = '[]' THEN '(unknown)' ELSE model_requested END`;

/** The parts of usage that were counted when sums were made anew. */
const partsThen = usageColumns.slice(0, 18);

/** Sums name only models that a call was admitted to, and have what attempts cost. Those that were there are made anew. */
const namedSums = `
ALTER TABLE calls ADD COLUMN model_summed TEXT GENERATED ALWAYS AS (${summedModel}) VIRTUAL;
ALTER TABLE usage_slots ADD COLUMN cost_nano_usd INTEGER NOT NULL DEFAULT 0;
DELETE FROM usage_slots;
INSERT INTO usage_slots (
  key_id, slot_start_ms, model, account_id, group_id, calls, billed_calls, charge_nano_usd, cost_nano_usd, ${partsThen.join(', ')}
)
SELECT key_id, started_at_ms - started_at_ms % 900000, model_summed, account_id, group_id, count(*),
  sum(unbilled_reason IS NULL), sum(charge_nano_usd),
  sum((SELECT coalesce(sum(cast(attempt.value ->> 10 AS INTEGER)), 0) FROM json_each(calls.attempts) AS attempt)),
  ${partsThen.map((column) => `sum(${column})`).join(', ')}
FROM calls WHERE status <> 'open' GROUP BY 1, 2, 3, 4, 5;
`;

/** Costs that nobody knows are no zero any more: sums say how many they leave out. */
const unknownCosts = 'ALTER TABLE usage_slots ADD COLUMN unknown_costs INTEGER NOT NULL DEFAULT 0;';

/** Who wrote a price, and when: the operator's own stand before all that is declared. */
const priceSources = `
ALTER TABLE prices ADD COLUMN source TEXT;
ALTER TABLE prices ADD COLUMN written_at_ms INTEGER;
`;

/** Keys read about the other keys of their account only where it says so. */
const shownKeys = 'ALTER TABLE accounts ADD COLUMN show_keys INTEGER NOT NULL DEFAULT 0;';

/** Accounts that pay less than their groups do. */
const discounts = 'ALTER TABLE accounts ADD COLUMN discount TEXT;';

/** Forward only: a released step never changes, a new one is appended. The file's `user_version` counts those done. */
const steps: readonly string[] = [
  ledger + configuration,
  'ALTER TABLE keys ADD COLUMN strict INTEGER NOT NULL DEFAULT 0;',
  imageKinds,
  routerStates,
  routes,
  routing,
  journals,
  partsOfCalls,
  salePrices,
  priceDimensions,
  credentials,
  revokedSecrets,
  waysOfChannels,
  hangUps,
  shownBalances,
  namedSums,
  unknownCosts,
  // Groups have their broken streams continued elsewhere.
  "ALTER TABLE groups ADD COLUMN rescue TEXT NOT NULL DEFAULT 'none';",
  usageSpans,
  priceSources,
  tagsAndSpend,
  eventTables,
  limitsOfOwners,
  leaseTables,
  ...[shownKeys, discounts, balanceNews],
  ...[webhookTable, archiveTable, adjustments, claimTable, keysBySuccessor],
  ...[gatheredSpending, spendIsMadeLater, boundsOfKeys],
];

/** The schema that this version writes. */
export const newestVersion = steps.length;

/**
 * Brings the file to the newest schema, or to an older one in tests of upgrades; safe when several processes open it at once.
 */
export function migrate(database: DatabaseSync, version = newestVersion): void {
  if (versionOf(database) > newestVersion) throw new Error('the store was written by a newer Headgate');
  if (versionOf(database) >= version) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated while this one waited for the lock.
    for (const step of steps.slice(versionOf(database), version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${version}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** How many steps the database has had. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}

import type { DatabaseSync } from 'node:sqlite';
import { usageColumns } from '../columns.ts';
import { keysBySuccessor } from '../key-lineage.ts';
import { archiveTable } from './archive-table.ts';
import { claimTable } from './call-claims.ts';
import { auditTable, consoleSettingsTable, createClaimTable, peopleTables } from './console-tables.ts';
import { inTransaction } from './database.ts';
import { acknowledgements, eventTables, signingSecretTable, webhookTable } from './event-tables.ts';
import { facetTables } from './facet-tables.ts';
import { firstStepsAtOnce, firstStepsCount } from './first-steps.ts';
import { attempts, firstParts, firstTables } from './first-tables.ts';
import { balanceNews, gatheredSpending, leaseTables } from './lease-tables.ts';
import { adjustments, boundsOfKeys, limitsOfOwners } from './limits-migration.ts';
import { signInTables } from './sign-in-tables.ts';
import { spendIsMadeLater, tagsAndSpend } from './spend-migration.ts';
import { channelFailureTable, probingTable, statusTables } from './status-tables.ts';
import { usageSpans } from './usage-spans.ts';

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
  firstTables,
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
  ...[auditTable, createClaimTable, facetTables, statusTables],
  ...[signInTables, peopleTables, channelFailureTable, acknowledgements, probingTable],
  ...[consoleSettingsTable, signingSecretTable],
];

/** The schema that this version writes. */
export const newestVersion = steps.length;

/** Brings the file to the newest schema, or to an older one in tests of upgrades; safe when several processes open it at once. */
export function migrate(database: DatabaseSync, version = newestVersion): void {
  if (versionOf(database) > newestVersion) throw new Error('the store was written by a newer Headgate');
  if (versionOf(database) >= version) return;
  inTransaction(database, () => {
    // Another process may have migrated while this one waited for the lock.
    if (versionOf(database) > 0 || version < firstStepsCount) return stepByStep(database, version);
    database.exec(`${firstStepsAtOnce()} PRAGMA user_version = ${firstStepsCount}`);
    stepByStep(database, version);
  });
}

/** Within a transaction of the caller. */
export function stepByStep(database: DatabaseSync, version: number): void {
  for (const step of steps.slice(versionOf(database), version)) database.exec(step);
  if (versionOf(database) < version) database.exec(`PRAGMA user_version = ${version}`);
}

/** How many steps the database has had. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}

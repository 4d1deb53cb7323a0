import type { Generated } from 'kysely';
import type { AlertKind, Severity } from '../catalogue/alert-kinds.ts';
import type { KeyStatus } from '../catalogue/catalogue.ts';
import type { AuditRow } from '../ports/audit.ts';
import type { ConfigurationSource } from '../ports/configuration-store.ts';
import type { DeliveryResult, EventPhase } from '../ports/events.ts';
import type { CallStatus, UnbilledReason } from '../ports/ledger.ts';
import type { Role } from '../ports/people.ts';
import type { RouterState } from '../ports/store.ts';
import type { usageColumns } from './columns.ts';
import type { SignInSchema } from './sign-in-schema.ts';

/** Integers come out as bigint and go in as either: no store may round one on the way. */
type Integer = bigint;

type UsageColumns = Record<(typeof usageColumns)[number], Integer>;

/** The columns of calls that queries name. `columns.ts` has all of them. */
export interface CallsTable extends UsageColumns {
  trace_id: string;
  account_id: string;
  key_id: string;
  model_requested: string;
  /** The model that sums count it under. */
  model_summed: string;
  started_at_ms: Integer;
  status: CallStatus;
  unbilled_reason: UnbilledReason | null;
  channel_id: string | null;
  tag: string | null;
  charge_nano_usd: Integer;
}

export interface PostingsTable {
  id: Generated<Integer>;
  debit: string;
  credit: string;
  amount_nano_usd: Integer;
  /** Trace id of the call, or id of the operator's adjustment. */
  reference: string;
}

/** See `Adjustment`. */
export interface AdjustmentsTable {
  number: Generated<Integer>;
  id: string;
  account_id: string;
  amount_nano_usd: Integer;
  reason: string;
  reference: string | null;
  made_by: string;
  at_ms: Integer;
}

export interface BalancesTable {
  ledger_account: string;
  balance_nano_usd: Integer;
}

/** Sums over the ended calls that began in a quarter of an hour. */
export interface UsageSlotsTable extends UsageColumns {
  key_id: string;
  slot_start_ms: Integer;
  model: string;
  account_id: string;
  group_id: string;
  calls: Integer;
  billed_calls: Integer;
  charge_nano_usd: Integer;
  /** The cost of all attempts of these calls. */
  cost_nano_usd: Integer;
}

/** Sums of a key over an hour, over a day for each model, and in all; made of those by quarter of an hour (sqlite/usage-spans.ts). */
export interface UsageSpansTable extends UsageColumns {
  key_id: string;
  span: 'hour' | 'day' | 'total';
  start_ms: Integer;
  /** Empty where the sums are of all models. */
  model: string;
  calls: Integer;
  billed_calls: Integer;
  charge_nano_usd: Integer;
}

export interface PricesTable {
  subject: string;
  version: string;
  /** Counts the versions of a subject from 1. */
  number: Integer;
  effective_from_ms: Integer;
  /** JSON of the tiers, prices as decimal strings of pico-dollars; an empty array withdraws the price. */
  tiers: string;
  /** JSON of a `PriceOrigin`; null where it was not noted. */
  origin: string | null;
  /** Null where it was not noted. */
  source: ConfigurationSource | 'operator' | null;
  written_at_ms: Integer | null;
}

/** The columns of every entity; those of its fields stand in its field table (catalogue/entities.ts). */
export interface Declared {
  id: string;
  source: ConfigurationSource | 'operator';
  /** 1 once its source no longer declares it; kept because the ledger names it. */
  removed: Integer;
}

export interface ProvidersTable extends Declared {
  document: string;
}

/** Its field table has further columns, for what is declared. */
export interface ChannelModelsTable {
  channel_id: string;
  model_id: string;
  position: Integer;
}

export interface KeysTable extends Declared {
  name: string;
  account_id: string;
  status: KeyStatus;
  created_at_ms: Integer;
  retires_at_ms: Integer | null;
  replaced_by: string | null;
}

/** Secrets of channels, sealed; see admin/secrets. */
export interface CredentialsTable {
  id: string;
  channel_id: string;
  name: string;
  key_id: string;
  sealed: string;
  created_at_ms: Integer;
  rotated_at_ms: Integer | null;
}

/** Signing secrets of webhooks, sealed; see admin/secrets. */
export interface SigningSecretsTable {
  id: string;
  webhook: string;
  key_id: string;
  sealed: string;
  created_at_ms: Integer;
  /** Null of the one that is in force. */
  retires_at_ms: Integer | null;
}

/** The router keeps here what it has learned; see `RouterState`. */
export interface RouterStatesTable {
  kind: RouterState['kind'];
  key: string;
  saved_at_ms: Integer;
  text: string;
}

export interface MetaTable {
  name: string;
  value: Integer;
}

/** See `KeptEvent`. */
export interface EventsTable {
  id: string;
  /** Counts the beginnings and ends of all events. */
  change: Integer;
  kind: AlertKind;
  severity: Severity;
  subject: string;
  fold: string;
  /** JSON of an `AlertDetail`. */
  detail: string;
  count: Integer;
  first_at_ms: Integer;
  last_at_ms: Integer;
  ended_at_ms: Integer | null;
  acknowledged_at_ms: Integer | null;
  acknowledged_by: string | null;
}

/** Messages of events to webhooks. */
export interface EventDeliveriesTable {
  event_id: string;
  phase: EventPhase;
  webhook: string;
  state: DeliveryResult['state'];
  attempts: Integer;
  /** When it is to be tried; null when it is not any more. */
  due_at_ms: Integer | null;
  tried_at_ms: Integer | null;
  problem: string | null;
}

/** See `AuditRow`. */
export interface AuditTable {
  id: string;
  at_ms: Integer;
  actor_kind: AuditRow['actor']['kind'];
  person_id: string | null;
  actor_name: string;
  action: string;
  target_kind: string;
  target_id: string;
  target_name: string | null;
  account_id: string | null;
  /** JSON, as `after` is. */
  before: string | null;
  after: string | null;
  address: string | null;
}

export interface PersonsTable {
  id: string;
  login: string;
  /** The login as it is compared. */
  login_folded: string;
  name: string;
  is_operator: Integer;
  disabled_at_ms: Integer | null;
  language: string | null;
  theme: string | null;
  password_hash: string | null;
  created_at_ms: Integer;
}

/** See `PersonSession`. */
export interface SessionsTable {
  id: string;
  secret_hash: string;
  person_id: string;
  created_at_ms: Integer;
  last_seen_at_ms: Integer;
  expires_at_ms: Integer;
  proven_at_ms: Integer;
  how: string;
  user_agent: string | null;
  address: string | null;
}

/** See `CreateClaim`. */
export interface CreateClaimsTable {
  id: string;
  request: string;
  at_ms: Integer;
  /** JSON of the answer; null while it is made. */
  body: string | null;
}

/** See `StoredSetting`. */
export interface ConsoleSettingsTable {
  name: string;
  text: string | null;
  key_id: string | null;
  sealed: string | null;
  changed_at_ms: Integer;
}

/** Every table, as the queries see it on any store. */
export interface Schema extends SignInSchema {
  calls: CallsTable;
  postings: PostingsTable;
  balances: BalancesTable;
  usage_slots: UsageSlotsTable;
  usage_spans: UsageSpansTable;
  /** Keys whose longer sums have not been made yet. */
  usage_spans_due: { key_id: string };
  /** Keys whose sums by channel have not been made yet, and from when on. */
  spend_slots_due: { key_id: string };
  prices: PricesTable;
  providers: ProvidersTable;
  accounts: Declared & {
    prepaid: Integer;
    credit_limit_nano_usd: Integer | null;
    show_balance: Integer;
    show_keys: Integer;
  };
  adjustments: AdjustmentsTable;
  groups: Declared;
  models: Declared;
  channels: Declared;
  webhooks: Declared;
  channel_models: ChannelModelsTable;
  keys: KeysTable;
  revoked_secrets: { hash: string };
  credentials: CredentialsTable;
  signing_secrets: SigningSecretsTable;
  meta: MetaTable;
  router_states: RouterStatesTable;
  events: EventsTable;
  event_deliveries: EventDeliveriesTable;
  audit: AuditTable;
  create_claims: CreateClaimsTable;
  console_settings: ConsoleSettingsTable;
  persons: PersonsTable;
  memberships: { person_id: string; account_id: string; role: Role };
  sessions: SessionsTable;
}

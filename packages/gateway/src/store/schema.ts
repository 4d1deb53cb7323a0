import type { FinishReason, Platform, ProtocolId } from '@headgate/protocols';
import type { Generated } from 'kysely';
import type { KeyStatus, RoutingPreset } from '../core/catalogue.ts';
import type { ConfigurationSource } from '../ports/configuration-store.ts';
import type { CallStatus, UnbilledReason, UsageSource } from '../ports/ledger.ts';
import type { RouterState } from '../ports/router-state-store.ts';
import type { usageColumns } from './call-row.ts';

/** Integers come out as bigint and go in as either: no store may round one on the way. */
type Integer = bigint;

type UsageColumns = Record<(typeof usageColumns)[number], Integer>;

export interface CallsTable extends UsageColumns {
  trace_id: string;
  account_id: string;
  key_id: string;
  group_id: string;
  surface: ProtocolId;
  model_requested: string;
  stream: Integer;
  started_at_ms: Integer;
  price_version: string | null;
  multiplier_ppm: Integer;
  client_request_id: string | null;
  parent_trace: string | null;
  user_agent: string | null;
  status: CallStatus;
  unbilled_reason: UnbilledReason | null;
  channel_id: string | null;
  model_served: string | null;
  usage_source: UsageSource;
  /** JSON array of size and quality, either of them null; null when no images were asked for. */
  image_kind: string | null;
  charge_nano_usd: Integer;
  finish_reason: FinishReason | null;
  finish_reason_raw: string | null;
  http_status: Integer | null;
  error_code: string | null;
  /** JSON array; null when empty. */
  losses: string | null;
  ttft_ms: number | null;
  duration_ms: number;
  overhead_us: Integer;
  finished_at_ms: Integer | null;
  /** JSON; see `encodeCall`. The view `attempts` shows it as rows. */
  attempts: string;
  /** What the router's plans were made from; see `encodeRoute`. Null of a call that was never planned. */
  route: string | null;
  /** The process that holds the call open; null once it has ended. */
  run: Integer | null;
}

export interface PostingsTable {
  id: Generated<Integer>;
  debit: string;
  credit: string;
  amount_nano_usd: Integer;
  /** Trace id of the call, or id of the operator's adjustment. */
  reference: string;
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
}

/** A process that may hold calls open. It is alive as long as it holds the lock of this id. */
export interface RunsTable {
  id: Generated<Integer>;
  started_at_ms: Integer;
}

export interface PricesTable {
  subject: string;
  version: string;
  /** Counts the versions of a subject from 1. */
  number: Integer;
  effective_from_ms: Integer;
  /** JSON of the tiers, prices as decimal strings of pico-dollars; an empty array withdraws the price. */
  tiers: string;
}

interface Declared {
  id: string;
  source: ConfigurationSource | 'operator';
  /** 1 once its source no longer declares it; kept because the ledger names it. */
  removed: Integer;
}

interface Budgets {
  budget_day_nano_usd: Integer | null;
  budget_month_nano_usd: Integer | null;
  budget_total_nano_usd: Integer | null;
}

export interface ProvidersTable extends Declared {
  document: string;
}

export interface AccountsTable extends Declared {
  name: string;
  /** How far below zero the balance may fall; null is no limit. */
  credit_limit_nano_usd: Integer | null;
}

export interface GroupsTable extends Declared, Budgets {
  name: string;
  platform: Platform;
  multiplier_ppm: Integer;
  models: string | null;
  routing_preset: RoutingPreset;
  routing_channels: string | null;
  hedging: Integer;
}

export interface ModelsTable extends Declared {
  display_name: string;
  owned_by: string;
  created: Integer;
  context_window: Integer | null;
  max_output_tokens: Integer | null;
  input_modalities: string;
  output_modalities: string;
  capabilities: string;
  reasoning: Integer;
}

export interface ChannelsTable extends Declared {
  alias: string;
  provider_id: string;
  base_url: string | null;
  /** JSON of the variables' names. */
  credential_environments: string;
  priority: Integer;
  enabled: Integer;
  allow_private: Integer;
  drain: Integer;
  max_concurrency: Integer | null;
}

export interface ChannelModelsTable {
  channel_id: string;
  model_id: string;
  upstream_model: string;
  position: Integer;
  context_window: Integer | null;
  /** JSON of what it cannot do. */
  lacks: string;
}

export interface KeysTable extends Declared, Budgets {
  name: string;
  account_id: string;
  group_id: string;
  hash: string;
  hint: string;
  models: string | null;
  expires_at_ms: Integer | null;
  strict: Integer;
  status: KeyStatus;
  created_at_ms: Integer;
  retires_at_ms: Integer | null;
  replaced_by: string | null;
}

/** What the router has learned; see `RouterState`. */
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

/** Every table, as the queries see it on any store. */
export interface Schema {
  calls: CallsTable;
  postings: PostingsTable;
  balances: BalancesTable;
  usage_slots: UsageSlotsTable;
  runs: RunsTable;
  prices: PricesTable;
  providers: ProvidersTable;
  accounts: AccountsTable;
  groups: GroupsTable;
  models: ModelsTable;
  channels: ChannelsTable;
  channel_models: ChannelModelsTable;
  keys: KeysTable;
  meta: MetaTable;
  router_states: RouterStatesTable;
}

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
  input_fresh INTEGER NOT NULL,
  input_cache_read INTEGER NOT NULL,
  input_cache_write_5m INTEGER NOT NULL,
  input_cache_write_1h INTEGER NOT NULL,
  input_audio INTEGER NOT NULL,
  input_image INTEGER NOT NULL,
  output INTEGER NOT NULL,
  output_reasoning INTEGER NOT NULL,
  output_audio INTEGER NOT NULL,
  output_image INTEGER NOT NULL,
  images INTEGER NOT NULL,
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
, image_kind TEXT, route TEXT, parts TEXT, terms TEXT, input_cache_read_audio INTEGER NOT NULL DEFAULT 0, citation INTEGER NOT NULL DEFAULT 0, web_searches INTEGER NOT NULL DEFAULT 0, file_searches INTEGER NOT NULL DEFAULT 0, code_sessions INTEGER NOT NULL DEFAULT 0, groundings INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0, model_summed TEXT GENERATED ALWAYS AS (CASE WHEN price_version IS NULL AND attempts = '[]' THEN '(unknown)' ELSE model_requested END) VIRTUAL, tag TEXT, leased INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX calls_by_key ON calls (key_id, started_at_ms);
CREATE INDEX calls_open ON calls (run) WHERE run IS NOT NULL;
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
  input_fresh INTEGER NOT NULL,
  input_cache_read INTEGER NOT NULL,
  input_cache_write_5m INTEGER NOT NULL,
  input_cache_write_1h INTEGER NOT NULL,
  input_audio INTEGER NOT NULL,
  input_image INTEGER NOT NULL,
  output INTEGER NOT NULL,
  output_reasoning INTEGER NOT NULL,
  output_audio INTEGER NOT NULL,
  output_image INTEGER NOT NULL,
  images INTEGER NOT NULL,
  charge_nano_usd INTEGER NOT NULL, input_cache_read_audio INTEGER NOT NULL DEFAULT 0, citation INTEGER NOT NULL DEFAULT 0, web_searches INTEGER NOT NULL DEFAULT 0, file_searches INTEGER NOT NULL DEFAULT 0, code_sessions INTEGER NOT NULL DEFAULT 0, groundings INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0, cost_nano_usd INTEGER NOT NULL DEFAULT 0, unknown_costs INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, slot_start_ms, model, account_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at_ms INTEGER NOT NULL
, fed INTEGER, fed_at_ms INTEGER) STRICT;
CREATE TABLE prices (
  subject TEXT NOT NULL,
  version TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  effective_from_ms INTEGER NOT NULL,
  tiers TEXT NOT NULL, origin TEXT, source TEXT, written_at_ms INTEGER,
  UNIQUE (subject, number)
) STRICT;
CREATE TRIGGER prices_are_never_updated BEFORE UPDATE ON prices
BEGIN SELECT RAISE(ABORT, 'prices are immutable'); END;
CREATE TRIGGER prices_are_never_deleted BEFORE DELETE ON prices
BEGIN SELECT RAISE(ABORT, 'prices are immutable'); END;
CREATE TABLE providers (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  document TEXT NOT NULL
) STRICT;
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  name TEXT NOT NULL,
  credit_limit_nano_usd INTEGER
, show_balance INTEGER NOT NULL DEFAULT 0, prepaid INTEGER NOT NULL DEFAULT 0, time_zone TEXT NOT NULL DEFAULT 'UTC', budgets TEXT, limits TEXT, show_keys INTEGER NOT NULL DEFAULT 0, discount TEXT, key_groups TEXT) STRICT;
CREATE TABLE groups (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  name TEXT NOT NULL,
  platform TEXT NOT NULL,
  multiplier_ppm INTEGER NOT NULL CHECK (multiplier_ppm >= 0),
  models TEXT,
  routing_preset TEXT NOT NULL DEFAULT 'balanced', routing_channels TEXT, hedging INTEGER NOT NULL DEFAULT 0, rescue TEXT NOT NULL DEFAULT 'none', time_zone TEXT NOT NULL DEFAULT 'UTC', budgets TEXT, limits TEXT) STRICT;
CREATE TABLE models (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  display_name TEXT NOT NULL,
  owned_by TEXT NOT NULL,
  created INTEGER NOT NULL,
  context_window INTEGER,
  max_output_tokens INTEGER,
  input_modalities TEXT NOT NULL,
  output_modalities TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  reasoning INTEGER NOT NULL
, priced_as TEXT, listed INTEGER NOT NULL DEFAULT 1) STRICT;
CREATE TABLE channels (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  alias TEXT NOT NULL,
  provider_id TEXT NOT NULL, -- of a row of providers, or of the catalogue that comes with the program
  base_url TEXT,
  priority INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  allow_private INTEGER NOT NULL
, drain INTEGER NOT NULL DEFAULT 0, max_concurrency INTEGER, credentials TEXT NOT NULL DEFAULT '[]', headers TEXT NOT NULL DEFAULT '[]', proxy TEXT, connect_timeout_ms INTEGER, first_content_timeout_ms INTEGER, stall_timeout_ms INTEGER, total_timeout_ms INTEGER, hang_up TEXT, listed INTEGER NOT NULL DEFAULT 2) STRICT;
CREATE TABLE channel_models (
  channel_id TEXT NOT NULL REFERENCES channels,
  model_id TEXT NOT NULL,
  upstream_model TEXT NOT NULL,
  position INTEGER NOT NULL, context_window INTEGER, lacks TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (channel_id, model_id, upstream_model)
) STRICT, WITHOUT ROWID;
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
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
  strict INTEGER NOT NULL DEFAULT 0, budgets TEXT, limits TEXT, address_ranges TEXT) STRICT;
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE router_states (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  saved_at_ms INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX router_states_by_age ON router_states (saved_at_ms);
CREATE TABLE set_aside (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  place INTEGER NOT NULL,
  reason TEXT NOT NULL,
  line TEXT NOT NULL
) STRICT;
CREATE VIEW attempts AS
SELECT trace_id, attempt.value ->> 0 AS n, attempt.value ->> 1 AS channel_id, attempt.value ->> 2 AS upstream_model, attempt.value ->> 3 AS upstream_request_id, attempt.value ->> 4 AS result, attempt.value ->> 5 AS detail, attempt.value ->> 6 AS http_status, attempt.value ->> 7 AS ttft_ms, attempt.value ->> 8 AS duration_ms, attempt.value ->> 9 AS usage, attempt.value ->> 10 AS cost_nano_usd, attempt.value ->> 11 AS lane, attempt.value ->> 12 AS edits, attempt.value ->> 13 AS stated_cost_nano_usd
FROM calls, json_each(calls.attempts) AS attempt;
CREATE TABLE credentials (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  rotated_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE revoked_secrets (hash TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE usage_spans (
  key_id TEXT NOT NULL,
  span TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  billed_calls INTEGER NOT NULL,
  input_fresh INTEGER NOT NULL,
  input_cache_read INTEGER NOT NULL,
  input_cache_write_5m INTEGER NOT NULL,
  input_cache_write_1h INTEGER NOT NULL,
  input_audio INTEGER NOT NULL,
  input_image INTEGER NOT NULL,
  output INTEGER NOT NULL,
  output_reasoning INTEGER NOT NULL,
  output_audio INTEGER NOT NULL,
  output_image INTEGER NOT NULL,
  images INTEGER NOT NULL,
  input_cache_read_audio INTEGER NOT NULL,
  citation INTEGER NOT NULL,
  web_searches INTEGER NOT NULL,
  file_searches INTEGER NOT NULL,
  code_sessions INTEGER NOT NULL,
  groundings INTEGER NOT NULL,
  pages INTEGER NOT NULL,
  charge_nano_usd INTEGER NOT NULL,
  PRIMARY KEY (key_id, span, start_ms, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER usage_slots_are_added AFTER INSERT ON usage_slots BEGIN
  INSERT INTO usage_spans (key_id, span, start_ms, model, calls, billed_calls, input_fresh, input_cache_read, input_cache_write_5m, input_cache_write_1h, input_audio, input_image, output, output_reasoning, output_audio, output_image, images, input_cache_read_audio, citation, web_searches, file_searches, code_sessions, groundings, pages, charge_nano_usd) VALUES
    (NEW.key_id, 'hour', NEW.slot_start_ms - NEW.slot_start_ms % 3600000, '', NEW.calls, NEW.billed_calls, NEW.input_fresh, NEW.input_cache_read, NEW.input_cache_write_5m, NEW.input_cache_write_1h, NEW.input_audio, NEW.input_image, NEW.output, NEW.output_reasoning, NEW.output_audio, NEW.output_image, NEW.images, NEW.input_cache_read_audio, NEW.citation, NEW.web_searches, NEW.file_searches, NEW.code_sessions, NEW.groundings, NEW.pages, NEW.charge_nano_usd),
    (NEW.key_id, 'day', NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.model, NEW.calls, NEW.billed_calls, NEW.input_fresh, NEW.input_cache_read, NEW.input_cache_write_5m, NEW.input_cache_write_1h, NEW.input_audio, NEW.input_image, NEW.output, NEW.output_reasoning, NEW.output_audio, NEW.output_image, NEW.images, NEW.input_cache_read_audio, NEW.citation, NEW.web_searches, NEW.file_searches, NEW.code_sessions, NEW.groundings, NEW.pages, NEW.charge_nano_usd),
    (NEW.key_id, 'total', 0, '', NEW.calls, NEW.billed_calls, NEW.input_fresh, NEW.input_cache_read, NEW.input_cache_write_5m, NEW.input_cache_write_1h, NEW.input_audio, NEW.input_image, NEW.output, NEW.output_reasoning, NEW.output_audio, NEW.output_image, NEW.images, NEW.input_cache_read_audio, NEW.citation, NEW.web_searches, NEW.file_searches, NEW.code_sessions, NEW.groundings, NEW.pages, NEW.charge_nano_usd)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, billed_calls = billed_calls + excluded.billed_calls, input_fresh = input_fresh + excluded.input_fresh, input_cache_read = input_cache_read + excluded.input_cache_read, input_cache_write_5m = input_cache_write_5m + excluded.input_cache_write_5m, input_cache_write_1h = input_cache_write_1h + excluded.input_cache_write_1h, input_audio = input_audio + excluded.input_audio, input_image = input_image + excluded.input_image, output = output + excluded.output, output_reasoning = output_reasoning + excluded.output_reasoning, output_audio = output_audio + excluded.output_audio, output_image = output_image + excluded.output_image, images = images + excluded.images, input_cache_read_audio = input_cache_read_audio + excluded.input_cache_read_audio, citation = citation + excluded.citation, web_searches = web_searches + excluded.web_searches, file_searches = file_searches + excluded.file_searches, code_sessions = code_sessions + excluded.code_sessions, groundings = groundings + excluded.groundings, pages = pages + excluded.pages, charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd;
END;
CREATE TRIGGER usage_slots_add_up AFTER UPDATE ON usage_slots BEGIN
  INSERT INTO usage_spans (key_id, span, start_ms, model, calls, billed_calls, input_fresh, input_cache_read, input_cache_write_5m, input_cache_write_1h, input_audio, input_image, output, output_reasoning, output_audio, output_image, images, input_cache_read_audio, citation, web_searches, file_searches, code_sessions, groundings, pages, charge_nano_usd) VALUES
    (NEW.key_id, 'hour', NEW.slot_start_ms - NEW.slot_start_ms % 3600000, '', NEW.calls - OLD.calls, NEW.billed_calls - OLD.billed_calls, NEW.input_fresh - OLD.input_fresh, NEW.input_cache_read - OLD.input_cache_read, NEW.input_cache_write_5m - OLD.input_cache_write_5m, NEW.input_cache_write_1h - OLD.input_cache_write_1h, NEW.input_audio - OLD.input_audio, NEW.input_image - OLD.input_image, NEW.output - OLD.output, NEW.output_reasoning - OLD.output_reasoning, NEW.output_audio - OLD.output_audio, NEW.output_image - OLD.output_image, NEW.images - OLD.images, NEW.input_cache_read_audio - OLD.input_cache_read_audio, NEW.citation - OLD.citation, NEW.web_searches - OLD.web_searches, NEW.file_searches - OLD.file_searches, NEW.code_sessions - OLD.code_sessions, NEW.groundings - OLD.groundings, NEW.pages - OLD.pages, NEW.charge_nano_usd - OLD.charge_nano_usd),
    (NEW.key_id, 'day', NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.model, NEW.calls - OLD.calls, NEW.billed_calls - OLD.billed_calls, NEW.input_fresh - OLD.input_fresh, NEW.input_cache_read - OLD.input_cache_read, NEW.input_cache_write_5m - OLD.input_cache_write_5m, NEW.input_cache_write_1h - OLD.input_cache_write_1h, NEW.input_audio - OLD.input_audio, NEW.input_image - OLD.input_image, NEW.output - OLD.output, NEW.output_reasoning - OLD.output_reasoning, NEW.output_audio - OLD.output_audio, NEW.output_image - OLD.output_image, NEW.images - OLD.images, NEW.input_cache_read_audio - OLD.input_cache_read_audio, NEW.citation - OLD.citation, NEW.web_searches - OLD.web_searches, NEW.file_searches - OLD.file_searches, NEW.code_sessions - OLD.code_sessions, NEW.groundings - OLD.groundings, NEW.pages - OLD.pages, NEW.charge_nano_usd - OLD.charge_nano_usd),
    (NEW.key_id, 'total', 0, '', NEW.calls - OLD.calls, NEW.billed_calls - OLD.billed_calls, NEW.input_fresh - OLD.input_fresh, NEW.input_cache_read - OLD.input_cache_read, NEW.input_cache_write_5m - OLD.input_cache_write_5m, NEW.input_cache_write_1h - OLD.input_cache_write_1h, NEW.input_audio - OLD.input_audio, NEW.input_image - OLD.input_image, NEW.output - OLD.output, NEW.output_reasoning - OLD.output_reasoning, NEW.output_audio - OLD.output_audio, NEW.output_image - OLD.output_image, NEW.images - OLD.images, NEW.input_cache_read_audio - OLD.input_cache_read_audio, NEW.citation - OLD.citation, NEW.web_searches - OLD.web_searches, NEW.file_searches - OLD.file_searches, NEW.code_sessions - OLD.code_sessions, NEW.groundings - OLD.groundings, NEW.pages - OLD.pages, NEW.charge_nano_usd - OLD.charge_nano_usd)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, billed_calls = billed_calls + excluded.billed_calls, input_fresh = input_fresh + excluded.input_fresh, input_cache_read = input_cache_read + excluded.input_cache_read, input_cache_write_5m = input_cache_write_5m + excluded.input_cache_write_5m, input_cache_write_1h = input_cache_write_1h + excluded.input_cache_write_1h, input_audio = input_audio + excluded.input_audio, input_image = input_image + excluded.input_image, output = output + excluded.output, output_reasoning = output_reasoning + excluded.output_reasoning, output_audio = output_audio + excluded.output_audio, output_image = output_image + excluded.output_image, images = images + excluded.images, input_cache_read_audio = input_cache_read_audio + excluded.input_cache_read_audio, citation = citation + excluded.citation, web_searches = web_searches + excluded.web_searches, file_searches = file_searches + excluded.file_searches, code_sessions = code_sessions + excluded.code_sessions, groundings = groundings + excluded.groundings, pages = pages + excluded.pages, charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd;
END;
CREATE TABLE usage_spans_due (key_id TEXT PRIMARY KEY, from_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE spend_slots (
  kind TEXT NOT NULL, -- channel or tag
  slot_start_ms INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL, -- empty for calls that no channel answered
  account_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  billed_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  charge_nano_usd INTEGER NOT NULL,
  cost_nano_usd INTEGER NOT NULL,
  unknown_costs INTEGER NOT NULL,
  PRIMARY KEY (kind, slot_start_ms, key_id, name, account_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE spend_slots_due (key_id TEXT PRIMARY KEY, from_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  id TEXT PRIMARY KEY,
  change INTEGER NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  severity TEXT NOT NULL,
  subject TEXT NOT NULL,
  fold TEXT NOT NULL,
  detail TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_at_ms INTEGER NOT NULL,
  last_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
, acknowledged_at_ms INTEGER, acknowledged_by TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_fold ON events (kind, fold, last_at_ms);
CREATE INDEX events_by_age ON events (last_at_ms);
CREATE TABLE event_deliveries (
  event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  phase TEXT NOT NULL,
  webhook TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at_ms INTEGER,
  tried_at_ms INTEGER,
  problem TEXT,
  PRIMARY KEY (event_id, phase, webhook)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_deliveries_due ON event_deliveries (webhook, due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX event_deliveries_tried ON event_deliveries (webhook, tried_at_ms);
CREATE TABLE leases (
  subject TEXT NOT NULL,
  measure TEXT NOT NULL,
  run INTEGER NOT NULL,
  outstanding INTEGER NOT NULL,
  ceiling INTEGER NOT NULL DEFAULT 0, -- all leases were to be no more when it was granted last
  answered INTEGER NOT NULL DEFAULT 0, -- the newest want that all was given back for
  PRIMARY KEY (subject, measure, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_by_run ON leases (run);
CREATE TABLE lease_wants (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL,
  measure TEXT NOT NULL,
  run INTEGER NOT NULL, -- 0: nobody, but leases are larger than they may be
  amount INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  UNIQUE (subject, measure, run)
) STRICT;
CREATE TABLE lease_exchanges (
  run INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  grants TEXT NOT NULL
) STRICT;
CREATE TABLE rate_slots (
  subject TEXT NOT NULL,
  measure TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (subject, measure, start_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE spending (
  subject TEXT NOT NULL,
  width_ms INTEGER NOT NULL,
  start_ms INTEGER NOT NULL,
  charge_nano_usd INTEGER NOT NULL,
  PRIMARY KEY (subject, width_ms, start_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE limit_alerts (
  subject TEXT NOT NULL,
  kind TEXT NOT NULL,
  span TEXT NOT NULL,
  from_ms INTEGER NOT NULL,
  at_ms INTEGER NOT NULL, standing INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (subject, kind, span, from_ms)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER debits_are_wanted_back AFTER INSERT ON postings WHEN NEW.credit = 'credit' BEGIN
  INSERT OR REPLACE INTO lease_wants (subject, measure, run, amount, at_ms)
    VALUES (NEW.debit, 'money', 0, 0, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  kinds TEXT,
  severity TEXT NOT NULL,
  allow_private INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE archives (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  first_trace TEXT NOT NULL,
  last_trace TEXT NOT NULL,
  from_ms INTEGER NOT NULL, -- when the first of its calls began, and the last
  to_ms INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  archived_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX archives_by_trace ON archives (last_trace);
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
CREATE TABLE call_claims (
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  claimed_at_ms INTEGER NOT NULL,
  is_over INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX call_claims_by_age ON call_claims (claimed_at_ms);
CREATE INDEX keys_by_successor ON keys (replaced_by) WHERE replaced_by IS NOT NULL;
CREATE TABLE gathering (id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER charges_are_spent AFTER INSERT ON usage_slots
WHEN NEW.charge_nano_usd <> 0 AND NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  INSERT INTO spending (subject, width_ms, start_ms, charge_nano_usd) VALUES
    ('account:' || NEW.account_id, 900000, NEW.slot_start_ms - NEW.slot_start_ms % 900000, NEW.charge_nano_usd),
    ('account:' || NEW.account_id, 86400000, NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.charge_nano_usd),
    ('account:' || NEW.account_id, 0, 0, NEW.charge_nano_usd),
    ('group:' || NEW.group_id, 900000, NEW.slot_start_ms - NEW.slot_start_ms % 900000, NEW.charge_nano_usd),
    ('group:' || NEW.group_id, 86400000, NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.charge_nano_usd),
    ('group:' || NEW.group_id, 0, 0, NEW.charge_nano_usd),
    ('key:' || NEW.key_id, 900000, NEW.slot_start_ms - NEW.slot_start_ms % 900000, NEW.charge_nano_usd),
    ('key:' || NEW.key_id, 86400000, NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.charge_nano_usd),
    ('key:' || NEW.key_id, 0, 0, NEW.charge_nano_usd)
    ON CONFLICT DO UPDATE SET charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd;
END;
CREATE TRIGGER charges_add_up AFTER UPDATE ON usage_slots
WHEN NEW.charge_nano_usd <> OLD.charge_nano_usd AND NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  INSERT INTO spending (subject, width_ms, start_ms, charge_nano_usd) VALUES
    ('account:' || NEW.account_id, 900000, NEW.slot_start_ms - NEW.slot_start_ms % 900000, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('account:' || NEW.account_id, 86400000, NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('account:' || NEW.account_id, 0, 0, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('group:' || NEW.group_id, 900000, NEW.slot_start_ms - NEW.slot_start_ms % 900000, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('group:' || NEW.group_id, 86400000, NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('group:' || NEW.group_id, 0, 0, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('key:' || NEW.key_id, 900000, NEW.slot_start_ms - NEW.slot_start_ms % 900000, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('key:' || NEW.key_id, 86400000, NEW.slot_start_ms - NEW.slot_start_ms % 86400000, NEW.charge_nano_usd - OLD.charge_nano_usd),
    ('key:' || NEW.key_id, 0, 0, NEW.charge_nano_usd - OLD.charge_nano_usd)
    ON CONFLICT DO UPDATE SET charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd;
END;
CREATE TRIGGER older_spend_is_due AFTER INSERT ON usage_slots WHEN NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  INSERT INTO spend_slots_due (key_id, from_ms) VALUES (NEW.key_id, NEW.slot_start_ms)
    ON CONFLICT DO UPDATE SET from_ms = min(from_ms, excluded.from_ms);
END;
CREATE TRIGGER added_spend_is_due AFTER UPDATE ON usage_slots WHEN NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  INSERT INTO spend_slots_due (key_id, from_ms) VALUES (NEW.key_id, NEW.slot_start_ms)
    ON CONFLICT DO UPDATE SET from_ms = min(from_ms, excluded.from_ms);
END;
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
CREATE TABLE create_claims (
  id TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  body TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX create_claims_by_age ON create_claims (at_ms);
CREATE TABLE facets (
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  group_id TEXT NOT NULL,
  surface TEXT NOT NULL,
  model TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  error_code TEXT NOT NULL,
  UNIQUE (account_id, key_id, group_id, surface, model, channel_id, status, reason, error_code)
) STRICT;
CREATE TABLE faceted_calls (
  facet INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (facet, trace_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE tagged_calls (
  tag TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (tag, trace_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE facet_sums (
  span TEXT NOT NULL, -- hour or day
  start_ms INTEGER NOT NULL,
  facet INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  billed_calls INTEGER NOT NULL,
  good_calls INTEGER NOT NULL,
  failed_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  charge_nano_usd INTEGER NOT NULL,
  cost_nano_usd INTEGER NOT NULL,
  unknown_costs INTEGER NOT NULL,
  PRIMARY KEY (span, start_ms, facet)
) STRICT, WITHOUT ROWID;
CREATE TABLE ttft_sums (
  span TEXT NOT NULL, -- hour or day
  start_ms INTEGER NOT NULL,
  account_id TEXT NOT NULL, -- empty for all of them
  bucket INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (span, account_id, start_ms, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE facet_place (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  trace_id TEXT NOT NULL
) STRICT;
CREATE TABLE facets_due (trace_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TRIGGER ended_calls_are_due AFTER UPDATE OF status ON calls WHEN OLD.status = 'open' AND NEW.status <> 'open' BEGIN
  INSERT OR IGNORE INTO facets_due (trace_id) VALUES (NEW.trace_id);
END;
CREATE TABLE status_cells (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  good INTEGER NOT NULL,
  bad INTEGER NOT NULL,
  probes_good INTEGER NOT NULL,
  probes_bad INTEGER NOT NULL,
  spread TEXT NOT NULL, faults TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (kind, name, start_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_cells_by_age ON status_cells (start_ms);
CREATE TABLE status_days (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  good INTEGER NOT NULL,
  bad INTEGER NOT NULL,
  probes_good INTEGER NOT NULL,
  probes_bad INTEGER NOT NULL,
  spread TEXT NOT NULL,
  cells INTEGER NOT NULL,
  calm TEXT NOT NULL,
  PRIMARY KEY (kind, name, start_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_days_by_age ON status_days (start_ms);
CREATE TABLE status_subjects (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  judged_to_ms INTEGER NOT NULL,
  machine TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE status_entries (
  number INTEGER PRIMARY KEY,
  incident INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  entry TEXT NOT NULL
) STRICT;
CREATE INDEX status_entries_by_incident ON status_entries (incident);
CREATE TRIGGER status_entries_are_never_updated BEFORE UPDATE ON status_entries
BEGIN SELECT RAISE(ABORT, 'entries of incidents are append-only'); END;
CREATE TABLE status_maintenance (
  id INTEGER PRIMARY KEY,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  cancelled_at_ms INTEGER,
  work TEXT NOT NULL
) STRICT;
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
CREATE TABLE channel_failures (
  id INTEGER PRIMARY KEY,
  channel_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  model TEXT NOT NULL,
  upstream_model TEXT NOT NULL,
  kind TEXT NOT NULL,
  words TEXT
) STRICT;
CREATE INDEX channel_failures_by_channel ON channel_failures (channel_id, id);
CREATE INDEX channel_failures_by_age ON channel_failures (at_ms);
CREATE TABLE status_probings (
  start_ms INTEGER PRIMARY KEY
) STRICT;
INSERT INTO meta (name, value) VALUES ('configuration_revision', 0);
INSERT INTO meta (name, value) VALUES ('event_changes', 0);

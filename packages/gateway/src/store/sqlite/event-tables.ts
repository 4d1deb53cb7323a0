/** Events that operators should hear of, and who is still to be told. The messages of an event go with it. */
export const eventTables = `
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
) STRICT, WITHOUT ROWID;
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
INSERT INTO meta (name, value) VALUES ('event_changes', 0);
`;

/** Somebody has seen an event: who, and when. */
export const acknowledgements = `
ALTER TABLE events ADD COLUMN acknowledged_at_ms INTEGER;
ALTER TABLE events ADD COLUMN acknowledged_by TEXT;
`;

/** Receivers of events are made in the console, too: then the store keeps what their messages are signed with, sealed. */
export const signingSecretTable = `
ALTER TABLE webhooks ADD COLUMN description TEXT;
ALTER TABLE webhooks ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1;
CREATE TABLE signing_secrets (
  id TEXT PRIMARY KEY,
  webhook TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  retires_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX signing_secrets_by_webhook ON signing_secrets (webhook, created_at_ms);
`;

/** Receivers of events, as they are declared. */
export const webhookTable = `
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
`;

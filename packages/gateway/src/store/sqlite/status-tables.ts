/** The status page is made of these: counts by cell and day, where each subject stands, and all that was said of incidents. */
export const statusTables = `
ALTER TABLE channels ADD COLUMN listed INTEGER NOT NULL DEFAULT 2;
ALTER TABLE models ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;
CREATE TABLE status_cells (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  good INTEGER NOT NULL,
  bad INTEGER NOT NULL,
  probes_good INTEGER NOT NULL,
  probes_bad INTEGER NOT NULL,
  spread TEXT NOT NULL,
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
`;

/** The cells whose probes a process has taken upon itself. */
export const probingTable = `
CREATE TABLE status_probings (
  start_ms INTEGER PRIMARY KEY
) STRICT;
`;

/** Channels are looked at one by one: the ways they fail in, and their last failures with the calls these belong to. */
export const channelFailureTable = `
ALTER TABLE status_cells ADD COLUMN faults TEXT NOT NULL DEFAULT '';
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
`;

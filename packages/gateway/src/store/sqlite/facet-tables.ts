import { facetColumns, facetSums } from '../call-facets.ts';

const spanned = `span TEXT NOT NULL, -- hour or day
  start_ms INTEGER NOT NULL`;

/**
 * Calls by what filters ask of them, sums of those, and how long first content took. All of it is made of calls behind the feeder, in the
 * order of their rows: `facet_place` has the last one. Calls that were open there and have ended since are due, which a trigger notes.
 */
export const facetTables = `
CREATE TABLE facets (
  id INTEGER PRIMARY KEY,
  ${facetColumns.map((column) => `${column} TEXT NOT NULL`).join(',\n  ')},
  UNIQUE (${facetColumns.join(', ')})
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
  ${spanned},
  facet INTEGER NOT NULL,
  ${facetSums.map((column) => `${column} INTEGER NOT NULL`).join(',\n  ')},
  PRIMARY KEY (span, start_ms, facet)
) STRICT, WITHOUT ROWID;
CREATE TABLE ttft_sums (
  ${spanned},
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
`;

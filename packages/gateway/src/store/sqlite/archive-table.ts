/** Files that old calls have been moved to; each lies in the folder `archive` and never changes. */
export const archiveTable = `
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
`;

/** Sums of charges are kept for slots, days and in all (0), in UTC. */
export const spendingWidths = [900_000, 86_400_000, 0] as const;

const start = (width: number) => (width === 0 ? '0' : `NEW.slot_start_ms - NEW.slot_start_ms % ${width}`);

/** A row of sums adds its charge, or the change of it, to the spending of its owners. */
function addition(charge: string): string {
  const rows = ['account', 'group', 'key'].flatMap((owner) =>
    spendingWidths.map((width) => `('${owner}:' || NEW.${owner}_id, ${width}, ${start(width)}, ${charge})`),
  );
  return `INSERT INTO spending (subject, width_ms, start_ms, charge_nano_usd) VALUES
    ${rows.join(',\n    ')}
    ON CONFLICT DO UPDATE SET charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd;`;
}

/** The spending of owners, as sums have it. */
export const spendingOfSlots = ['account', 'group', 'key']
  .flatMap((owner) =>
    spendingWidths.map(
      (width) => `SELECT '${owner}:' || ${owner}_id AS subject, ${width} AS width_ms,
        ${width === 0 ? '0' : `slot_start_ms - slot_start_ms % ${width}`} AS start_ms, sum(charge_nano_usd) AS charge_nano_usd
      FROM usage_slots GROUP BY 1, 3 HAVING sum(charge_nano_usd) <> 0`,
    ),
  )
  .join('\n UNION ALL ');

/**
 * The tables of leases (ADR 40). Triggers keep the spending of owners, so whoever feeds the store adds to it: also a process of an older version
 * that is about to retire. What an operator takes from a balance is wanted back from those who have leased it; what is given
 * ends the silence about it.
 */
export const leaseTables = `
ALTER TABLE calls ADD COLUMN leased INTEGER NOT NULL DEFAULT 0;
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
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (subject, kind, span, from_ms)
) STRICT, WITHOUT ROWID;
INSERT INTO spending (subject, width_ms, start_ms, charge_nano_usd) ${spendingOfSlots};
CREATE TRIGGER charges_are_spent AFTER INSERT ON usage_slots WHEN NEW.charge_nano_usd <> 0 BEGIN
  ${addition('NEW.charge_nano_usd')}
END;
CREATE TRIGGER charges_add_up AFTER UPDATE ON usage_slots WHEN NEW.charge_nano_usd <> OLD.charge_nano_usd BEGIN
  ${addition('NEW.charge_nano_usd - OLD.charge_nano_usd')}
END;
CREATE TRIGGER debits_are_wanted_back AFTER INSERT ON postings WHEN NEW.credit = 'credit' BEGIN
  INSERT OR REPLACE INTO lease_wants (subject, measure, run, amount, at_ms)
    VALUES (NEW.debit, 'money', 0, 0, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER credits_end_silence AFTER INSERT ON postings WHEN NEW.debit = 'credit' BEGIN
  DELETE FROM limit_alerts WHERE subject = NEW.credit AND kind = 'balance-exhausted';
END;
`;

/** Who tells that a balance has money again has to know how much it had. */
export const balanceNews = `
DROP TRIGGER credits_end_silence;
ALTER TABLE limit_alerts ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
`;

/**
 * A feeder that writes the spending of owners itself says so by a row, for as long as its transaction lasts. Triggers are left for those of
 * an older version.
 */
export const gatheredSpending = `
CREATE TABLE gathering (id INTEGER PRIMARY KEY) STRICT;
DROP TRIGGER charges_are_spent;
DROP TRIGGER charges_add_up;
CREATE TRIGGER charges_are_spent AFTER INSERT ON usage_slots
WHEN NEW.charge_nano_usd <> 0 AND NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  ${addition('NEW.charge_nano_usd')}
END;
CREATE TRIGGER charges_add_up AFTER UPDATE ON usage_slots
WHEN NEW.charge_nano_usd <> OLD.charge_nano_usd AND NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  ${addition('NEW.charge_nano_usd - OLD.charge_nano_usd')}
END;
`;

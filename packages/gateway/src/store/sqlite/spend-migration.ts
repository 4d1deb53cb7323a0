const ofCalls = `key_id, account_id, 1 AS calls, unbilled_reason IS NULL AS billed_calls,
  input_fresh + input_cache_read + input_cache_write_5m + input_cache_write_1h + input_audio + input_image + input_cache_read_audio AS input_tokens,
  output + output_audio + output_image AS output_tokens, charge_nano_usd`;

const spendOfChannels = `
SELECT 'channel', slot, key_id, name, account_id, sum(calls), sum(billed_calls), sum(input_tokens), sum(output_tokens),
  sum(charge_nano_usd), sum(cost), sum(unknown)
FROM (
  SELECT started_at_ms - started_at_ms % 900000 AS slot, coalesce(channel_id, '') AS name, ${ofCalls}, 0 AS cost, 0 AS unknown
  FROM calls WHERE status <> 'open'
  UNION ALL
  SELECT started_at_ms - started_at_ms % 900000, attempt.value ->> 1, key_id, account_id, 0, 0, 0, 0, 0,
    coalesce(cast(attempt.value ->> 10 AS INTEGER), 0), attempt.value ->> 10 IS NULL
  FROM calls, json_each(calls.attempts) AS attempt WHERE status <> 'open'
)
GROUP BY 2, 3, 4, 5`;

/** A caller's own label of a call, and sums by it and by channel. Those by channel are made of the calls that are there; none has a label yet. */
export const tagsAndSpend = `
ALTER TABLE calls ADD COLUMN tag TEXT;
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
INSERT INTO spend_slots ${spendOfChannels};
`;

import { type RawBuilder, sql } from 'kysely';
import { attemptColumns } from './columns.ts';
import { costOfCall, slotMs, unknownCostsOfCall } from './reports.ts';

/** The sums of a quarter of an hour that `usage_slots` does not have: a call may have been tried on several channels, and has a tag or none. */
export type SpendKind = 'channel' | 'tag';

/** Sums that a key has by tag in a quarter of an hour; what else is tagged then has one sum together. */
export const tagsMax = 100;

/** The sum of all other tags. No tag can have this name. */
export const otherTags = '(other)';

export const inputParts = [
  ...['input_fresh', 'input_cache_read', 'input_cache_write_5m', 'input_cache_write_1h'],
  ...['input_audio', 'input_image', 'input_cache_read_audio'],
];
export const outputParts = ['output', 'output_audio', 'output_image'];

export const inputTokens = sql`(${sql.raw(inputParts.join(' + '))})`;
export const outputTokens = sql`(${sql.raw(outputParts.join(' + '))})`;

export const billedCall = sql`case when unbilled_reason is null then 1 else 0 end`;
export const channelOfAttempt = sql`(attempt.value ->> ${sql.lit(attemptColumns.indexOf('channel_id'))})`;
export const costOfAttempt = sql`cast(attempt.value ->> ${sql.lit(attemptColumns.indexOf('cost_nano_usd'))} as integer)`;

const slotOfCall = sql`calls.started_at_ms - calls.started_at_ms % ${sql.lit(slotMs)}`;

/** The name that sums have for the tag of a row of `calls`; null for none. */
export const summedTag = sql`case when calls.tag is null then null when exists (
  select 1 from spend_slots where kind = 'tag' and slot_start_ms = ${slotOfCall} and spend_slots.key_id = calls.key_id and name = calls.tag)
  then calls.tag else ${sql.lit(otherTags)} end`;

const spendIdentity = ['kind', 'slot_start_ms', 'key_id', 'name', 'account_id'];
const spendSums = [
  ...['calls', 'billed_calls', 'input_tokens', 'output_tokens'],
  ...['charge_nano_usd', 'cost_nano_usd', 'unknown_costs'],
];

/** The columns of `spend_slots`. */
export const namesOfSpend = {
  identity: spendIdentity,
  sums: spendSums,
  all: [...spendIdentity, ...spendSums],
};

const ofCall = sql`key_id, account_id, 1 as calls, ${billedCall} as billed_calls,
  ${inputTokens} as input_tokens, ${outputTokens} as output_tokens, charge_nano_usd`;

/** Sums by channel and by tag as calls give them; these are rows like those of `calls`. */
export const spendOfCalls = (
  calls: RawBuilder<unknown>,
) => sql`select kind, slot_start_ms, key_id, name, account_id,
    sum(calls) as calls, sum(billed_calls) as billed_calls, cast(sum(input_tokens) as bigint) as input_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens, cast(sum(charge_nano_usd) as bigint) as charge_nano_usd,
    cast(sum(cost_nano_usd) as bigint) as cost_nano_usd, cast(sum(unknown_costs) as bigint) as unknown_costs
  from (
    select 'channel' as kind, ${slotOfCall} as slot_start_ms, coalesce(channel_id, '') as name, ${ofCall},
      0 as cost_nano_usd, 0 as unknown_costs from ${calls} where status <> 'open'
    union all
    select 'channel', ${slotOfCall}, ${channelOfAttempt}, key_id, account_id, 0, 0, 0, 0, 0,
      coalesce(${costOfAttempt}, 0), ${costOfAttempt} is null
      from ${calls}, json_each(calls.attempts) as attempt where status <> 'open'
    union all
    select 'tag', ${slotOfCall}, ${summedTag}, ${ofCall}, ${costOfCall}, ${unknownCostsOfCall}
      from ${calls} where status <> 'open' and tag is not null) as spent
  group by 1, 2, 3, 4, 5`;

import { z } from 'zod';
import { pageMembers, pageOf, textOf, timeText, usdText } from './common.ts';

const statuses = [
  'open',
  'complete',
  'failed',
  'timed_out',
  'caller_gone',
  'limit_reached',
  'interrupted',
] as const;
const reasons = [
  ...(['zero_completion', 'upstream_failed', 'cut_after_content', 'timed_out'] as const),
  ...(['caller_gone_before_content', 'refused_by_gateway', 'refused_by_upstream', 'unpriced_model'] as const),
  ...(['ledger_failed', 'token_count', 'interrupted'] as const),
] as const;
const word = textOf(200).exactOptional();

const filterMembers = {
  from: timeText.exactOptional().meta({ description: 'Calls that began then or later.' }),
  to: timeText.exactOptional().meta({ description: 'Calls that began before.' }),
  account: word,
  key: word,
  group: word,
  model: word,
  channel: word.meta({ description: 'For operators alone.' }),
  status: z.enum(statuses, { error: `must be one of ${statuses.join(', ')}` }).exactOptional(),
  reason: z.enum(reasons, { error: `must be one of ${reasons.join(', ')}` }).exactOptional(),
  error: word.meta({ description: 'The code of the error that the caller was answered with.' }),
  billed: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .exactOptional()
    .meta({ type: 'boolean' }),
  tag: word,
  surface: word,
  trace: z
    .string()
    .regex(/^[0-9a-fA-F]{6,32}$/, 'must be a trace id of 32 hexadecimal digits, or its first 6 or more')
    .transform((text) => text.toLowerCase())
    .exactOptional(),
};

export const callFilterQuery = z.strictObject(filterMembers);
export type CallFilterQuery = z.output<typeof callFilterQuery>;
export const callPageQuery = z.strictObject({ ...filterMembers, ...pageMembers });
export const callExportQuery = z.strictObject({
  ...filterMembers,
  format: z.enum(['csv', 'ndjson'], { error: 'must be csv or ndjson' }),
});

const tokens = z.int();
const milliseconds = z.number().nullable();

const rowMembers = {
  traceId: z.string(),
  startedAt: timeText,
  finishedAt: timeText.nullable(),
  status: z.enum(statuses),
  unbilledReason: z.enum(reasons).nullable(),
  accountId: z.string(),
  keyId: z.string(),
  keyName: z.string(),
  groupId: z.string(),
  surface: z.string(),
  modelRequested: z.string(),
  modelServed: z.string().nullable(),
  stream: z.boolean(),
  inputTokens: tokens,
  cachedTokens: tokens,
  outputTokens: tokens,
  charge: usdText,
  ttftMs: milliseconds,
  durationMs: milliseconds,
  attempts: z.int(),
  httpStatus: z.int().nullable(),
  errorCode: z.string().nullable(),
  finishReason: z.string().nullable(),
  tag: z.string().nullable(),
  losses: z.array(z.string()),
  channelId: z.string().nullable().exactOptional().meta({ description: 'For operators alone.' }),
  cost: usdText.nullable().exactOptional().meta({
    description: 'What upstreams charge for it; null where that is not known. For operators alone.',
  }),
};

/** A call as a line of the ledger. */
export const callRow = z.strictObject(rowMembers).meta({ id: 'CallRow' });
export type CallRow = z.infer<typeof callRow>;

export const callRowPage = pageOf(callRow)
  .extend({
    searchedTo: timeText
      .nullable()
      .meta({ description: 'A page may end before it is full: all calls since then have been looked at.' }),
  })
  .meta({ id: 'CallRowPage' });
export type CallRowPage = z.infer<typeof callRowPage>;

/** Sums over the ended calls of a filter. */
export const callSumsView = z
  .strictObject({
    calls: z.int(),
    billedCalls: z.int(),
    failedCalls: z.int().meta({ description: "Without those that failed by their caller's own fault." }),
    inputTokens: tokens,
    cachedTokens: tokens,
    outputTokens: tokens,
    charge: usdText,
    isWhole: z.boolean().meta({ description: 'False where more calls were found than could be read.' }),
    cost: usdText.exactOptional(),
    unknownCosts: z
      .int()
      .exactOptional()
      .meta({ description: 'Attempts whose cost nobody knows: they are not in it.' }),
  })
  .meta({ id: 'CallSumsView' });
export type CallSumsView = z.infer<typeof callSumsView>;

const usedParts = z.array(z.strictObject({ part: z.string(), units: z.int() }));

/** One try on one channel: when it began, had its first content and ended, in milliseconds from the beginning of the call. */
const attemptMembers = {
  n: z.int(),
  result: z.string(),
  httpStatus: z.int().nullable(),
  startMs: z.number(),
  firstContentMs: milliseconds,
  endMs: z.number(),
  isStartKnown: z
    .boolean()
    .meta({ description: 'False where it is worked out from the attempts beside it.' }),
  channelId: z.string().exactOptional(),
  upstreamModel: z.string().exactOptional(),
  upstreamRequestId: z.string().nullable().exactOptional(),
  detail: z.string().nullable().exactOptional(),
  lane: z.string().exactOptional(),
  edits: z.array(z.string()).exactOptional(),
  usage: usedParts.nullable().exactOptional(),
  cost: usdText.nullable().exactOptional(),
  statedCost: usdText.nullable().exactOptional(),
};
export const callAttemptView = z.strictObject(attemptMembers).meta({ id: 'CallAttemptView' });
export type CallAttemptView = z.infer<typeof callAttemptView>;

/** The products whose sum, times the multiplier, is the charge; each factor is an exact decimal. */
export const chargeFormulaView = z
  .strictObject({
    lines: z.array(
      z.strictObject({
        part: z.string(),
        units: z.string(),
        price: z.string().meta({ description: 'USD for one unit.' }),
        factor: z.string(),
        amount: z.string(),
        aboveInputTokens: z.int(),
      }),
    ),
    sum: z.string(),
    multiplier: z.string(),
    charge: usdText,
  })
  .meta({ id: 'ChargeFormulaView' });
export type ChargeFormulaView = z.infer<typeof chargeFormulaView>;

const routePlans = z.array(
  z.strictObject({
    attemptsBefore: z.int(),
    choice: z.string(),
    because: z.string(),
    candidateCount: z.int(),
    candidates: z.array(
      z.strictObject({
        channel: z.string(),
        upstreamModel: z.string(),
        tier: z.int(),
        share: z.number(),
        chance: z.number(),
        expectedCost: z.string(),
      }),
    ),
    exclusions: z.array(
      z.strictObject({
        reason: z.string(),
        because: z.string(),
        count: z.int(),
        channels: z.array(z.string()),
      }),
    ),
  }),
);

/** A call with all that is known of it. */
export const callView = z
  .strictObject({
    ...rowMembers,
    clientRequestId: z.string().nullable(),
    parentTrace: z.string().nullable(),
    userAgent: z.string().nullable(),
    finishReasonRaw: z.string().nullable(),
    usageSource: z.string(),
    usage: usedParts,
    priceVersion: z.string().nullable(),
    terms: z.record(z.string(), z.union([z.string(), z.number()])).meta({
      description: 'What the price went by beside usage: service tier, region, size of images.',
    }),
    formula: chargeFormulaView
      .nullable()
      .meta({ description: 'Null where the call has no price, or its price is no longer kept.' }),
    overheadMs: z.number().meta({ description: 'Until the first request was sent upstream.' }),
    tries: z.array(callAttemptView),
    margin: usdText.nullable().exactOptional(),
    plans: routePlans.exactOptional(),
  })
  .meta({ id: 'CallView' });
export type CallView = z.infer<typeof callView>;

import { z } from 'zod';
import { textOf, timeText, usdText } from './common.ts';

export const overviewQuery = z.strictObject({
  range: z.enum(['24h', '7d', '30d'], { error: 'must be 24h, 7d or 30d' }).exactOptional(),
  account: textOf(200).exactOptional(),
});

const milliseconds = z.number().nullable();
const share = z.number().nullable();

const sums = {
  calls: z.int(),
  succeeded: z.int(),
  failed: z.int().meta({ description: "Without those that failed by their caller's own fault." }),
  successShare: share,
  charge: usdText,
  inputTokens: z.int(),
  cachedTokens: z.int(),
  outputTokens: z.int(),
  cost: usdText.exactOptional().meta({ description: 'For operators alone.' }),
};

const totals = z.strictObject({ ...sums, ttftP50Ms: milliseconds, ttftP95Ms: milliseconds });
const top = z.strictObject({ ...sums, id: z.string(), name: z.string(), accountId: z.string().nullable() });

/** How it goes: sums of a time and of the one before it, their course, what was called most, and what needs attention. */
export const overviewView = z
  .strictObject({
    range: z.enum(['24h', '7d', '30d']),
    from: timeText,
    to: timeText,
    stepMs: z.int(),
    totals,
    before: totals,
    points: z.array(totals.extend({ at: timeText })),
    topModels: z.array(top),
    topKeys: z.array(top),
    topChannels: z.array(top).exactOptional(),
    attention: z.array(
      z.strictObject({
        kind: z.string(),
        severity: z.enum(['error', 'warning', 'info']),
        subject: z.string(),
        count: z.int(),
        since: timeText.nullable(),
      }),
    ),
    asOf: timeText,
  })
  .meta({ id: 'OverviewView' });
export type OverviewView = z.infer<typeof overviewView>;

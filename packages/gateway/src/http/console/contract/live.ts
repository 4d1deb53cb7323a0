import { z } from 'zod';
import { textOf, timeText, usdText } from './common.ts';

export const liveTopicNames = ['overview', 'calls', 'channels', 'events'] as const;

const topics = z
  .string()
  .transform((text) => [...new Set(text.split(','))])
  .pipe(
    z.array(z.enum(liveTopicNames, { error: `must be some of ${liveTopicNames.join(', ')}, with commas` })),
  )
  .meta({ type: 'string', description: 'Topics, with commas between.' });

export const liveQuery = z.strictObject({
  topics,
  lastEventId: textOf(100).exactOptional().meta({ description: 'As the header Last-Event-ID.' }),
});

/** Rates of the calls that this process serves, once a second. */
export const liveRates = z
  .strictObject({
    at: timeText,
    callsPerSecond: z.number(),
    failedPerSecond: z.number(),
    tokensPerSecond: z.number(),
    spendPerMinute: usdText,
    openCalls: z.int().nullable(),
  })
  .meta({ id: 'LiveRatesView' });
export type LiveRatesView = z.infer<typeof liveRates>;

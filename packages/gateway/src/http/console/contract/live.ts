import { z } from 'zod';
import { channelStanding } from './channels.ts';
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

/** The topic `channels`: those that were taken out of service or are back, and how those stand that calls were sent to. */
const liveChannels = z.strictObject({
  items: z.array(
    z.strictObject({
      channelId: z.string(),
      upstreamModel: z.string(),
      change: z.enum(['ejected', 'restored']),
      at: timeText,
    }),
  ),
  standings: z.array(channelStanding).exactOptional(),
});
export type LiveChannelsView = z.infer<typeof liveChannels>;

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

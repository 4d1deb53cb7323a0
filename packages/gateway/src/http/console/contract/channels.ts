import { z } from 'zod';
import { channelStates } from '../../../admin/channel-status.ts';
import { pageOf } from './common.ts';

const failure = z.strictObject({ atMs: z.number(), words: z.string() });

const servedModel = z.strictObject({
  model: z.string(),
  upstreamModel: z.string(),
  state: z.enum(['serving', 'limited', 'refused', 'missing', 'ejected', 'trial']),
  sinceMs: z.number().nullable(),
  untilMs: z.number().nullable(),
  lastFailure: failure.nullable(),
  good: z.number(),
  bad: z.number(),
  ttftMs: z.number().nullable(),
  inFlight: z.int(),
});

/** A channel as it stands now: the sum of its models. */
export const channelStatusView = z
  .strictObject({
    id: z.string(),
    state: z.enum(channelStates),
    sinceMs: z.number().nullable(),
    lastFailure: z.strictObject({ ...failure.shape, model: z.string() }).nullable(),
    success: z
      .number()
      .nullable()
      .meta({ description: 'The share of calls of the last minutes that were answered.' }),
    ttftMs: z.number().nullable(),
    inFlight: z.int(),
    models: z.array(servedModel),
  })
  .meta({ id: 'ChannelStatusView' });
export type ChannelStatusView = z.infer<typeof channelStatusView>;

export const channelStatusPage = pageOf(channelStatusView).meta({ id: 'ChannelStatusPage' });
export type ChannelStatusPage = z.infer<typeof channelStatusPage>;

import { z } from 'zod';
import { timeoutFields } from '../catalogue/channel-way.ts';
import { channelFields, channelModelFields } from '../catalogue/entities.ts';
import { membersOf } from '../catalogue/fields.ts';
import { modelId } from '../catalogue/identifiers.ts';
import { writtenSecret } from '../catalogue/secret-source.ts';
import { writtenPrices } from './price-shape.ts';

const modelList = z.array(modelId);

const channelModel = z.strictObject({
  ...membersOf(channelModelFields),
  cost: writtenPrices
    .exactOptional()
    .describe('What the provider charges; what is left out is as its price list has it.'),
});

/** A channel, as it is written under its id. */
export const channelShape = z.strictObject({
  ...membersOf(channelFields),
  timeouts: z
    .strictObject(membersOf(timeoutFields))
    .exactOptional()
    .describe('Its own time-outs, before the server’s and what is known of its models.'),
  credential: writtenSecret
    .exactOptional()
    .describe(
      'What the provider knows us by; one of its usual variables, and what the store keeps for the channel, if left out.',
    ),
  credentials: z
    .array(writtenSecret)
    .min(1)
    .max(100)
    .exactOptional()
    .describe(
      'Several, in the place of credential: calls take turns with them, and one that is refused or at its limit is left out by itself.',
    ),
  models: z
    .union(
      [
        modelList,
        z.record(
          modelId,
          z.union([z.null(), channelModel], 'must be empty, or what is particular to it there'),
        ),
      ],
      'must be a list of model ids, or models by id',
    )
    .describe(
      'Public model ids, each with its name at the provider and what it costs there where they differ.',
    ),
});

export type ChannelShape = z.infer<typeof channelShape>;

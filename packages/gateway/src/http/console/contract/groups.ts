import { z } from 'zod';
import { ratesSchema } from '../../../catalogue/limit-fields.ts';
import { pageOf } from './common.ts';
import { budgetView } from './owners.ts';

/** A group: what its keys have in common. */
export const groupView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    platform: z.enum(['completions', 'messages', 'native']),
    multiplier: z.string(),
    models: z.array(z.string()).nullable(),
    routing: z.strictObject({
      preset: z.enum(['cost', 'balanced', 'latency']),
      channels: z.array(z.string()).nullable(),
      hedging: z.boolean(),
      rescue: z.enum(['none', 'continue']),
    }),
    timezone: z.string(),
    budgets: z.array(budgetView),
    alertAt: z.string().nullable(),
    limits: ratesSchema.nullable(),
    keys: z.int().meta({ description: 'Keys that are not revoked.' }),
    declared: z.boolean(),
    source: z.string(),
  })
  .meta({ id: 'GroupView' });
export type GroupView = z.infer<typeof groupView>;

export const groupPage = pageOf(groupView).meta({ id: 'GroupPage' });
export type GroupPage = z.infer<typeof groupPage>;

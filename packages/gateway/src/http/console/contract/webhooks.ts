import { z } from 'zod';
import { webhookShape } from '../../../admin/webhooks/webhook-form.ts';
import { pageOf, textOf, timeText } from './common.ts';
import { eventId, eventView } from './events.ts';

/** A receiver of events, and how its messages stand. */
export const webhookView = z
  .strictObject({
    name: z.string(),
    origin: z.string().meta({
      description: 'Scheme, host and port: what stands behind them may be a secret of its receiver.',
    }),
    kinds: z.array(z.string()).nullable().meta({ description: 'Null for all.' }),
    severity: z.enum(['error', 'warning', 'info']),
    description: z.string().nullable(),
    enabled: z.boolean().meta({ description: 'False: it hears of nothing, and what waits for it waits.' }),
    allowPrivate: z.boolean(),
    source: z.string(),
    declared: z
      .boolean()
      .meta({ description: 'Something else than the console declares it: then it is changed there.' }),
    keeps: z.enum(['place', 'store']).meta({
      description: 'Where its secret is: in a place that the configuration names, or in the store.',
    }),
    formerUntil: timeText
      .nullable()
      .meta({ description: 'Until when the secret before this one signs, too; null where there is none.' }),
    isReady: z
      .boolean()
      .meta({ description: 'False while its secret is not there: then its messages wait.' }),
    waiting: z.int(),
    delivered: z.int(),
    givenUp: z.int(),
    lastTriedAt: timeText.nullable(),
    lastDeliveredAt: timeText.nullable(),
    problem: z.string().nullable(),
  })
  .meta({ id: 'WebhookView' });
export type WebhookView = z.infer<typeof webhookView>;

export const webhookPage = pageOf(webhookView).meta({ id: 'WebhookPage' });
export type WebhookPage = z.infer<typeof webhookPage>;

/** A webhook with what signs its messages, which is told this once. */
export const toldWebhookView = z
  .strictObject({ secret: z.string().nullable(), webhook: webhookView })
  .meta({ id: 'ToldWebhookView' });
export type ToldWebhookView = z.infer<typeof toldWebhookView>;

export const webhookDraft = webhookShape.extend({ name: textOf(64) }).meta({ id: 'WebhookDraft' });

/** Members to replace; null takes one back to what holds where nothing is said. */
export const webhookPatch = z
  .strictObject(
    Object.fromEntries(
      Object.entries(webhookShape.shape).map(([name, member]) => [
        name,
        z.union([member, z.null()]).optional(),
      ]),
    ),
  )
  .meta({ id: 'WebhookPatch' });

export const secretRotation = z
  .strictObject({
    grace: z
      .string('must be a duration such as 24h')
      .max(20)
      .optional()
      .meta({ description: 'How long the secret in force signs beside the new one; 24h if left out.' }),
  })
  .meta({ id: 'SecretRotation' });

const phases = z.enum(['begun', 'ended'], { error: 'must be begun or ended' });

/** A message to a webhook. */
export const deliveryView = z
  .strictObject({
    event: eventView,
    phase: phases,
    state: z.enum(['delivered', 'waiting', 'given-up']),
    attempts: z.int(),
    nextAt: timeText.nullable().meta({ description: 'When it is tried next; null when it is not any more.' }),
    lastTriedAt: timeText.nullable(),
    problem: z
      .string()
      .nullable()
      .meta({ description: 'Says what was wrong with the last attempt; null when it went well.' }),
  })
  .meta({ id: 'DeliveryView' });
export type DeliveryView = z.infer<typeof deliveryView>;

export const deliveryPage = pageOf(deliveryView).meta({ id: 'DeliveryPage' });

export const deliveryBody = z.strictObject({ eventId, phase: phases });

/** The answer of a receiver to a message that only says that messages arrive. */
export const webhookAnswerView = z
  .strictObject({
    problem: z.string().nullable().meta({ description: 'Null when it has taken the message.' }),
    tookMs: z.int(),
  })
  .meta({ id: 'WebhookAnswerView' });
export type WebhookAnswerView = z.infer<typeof webhookAnswerView>;

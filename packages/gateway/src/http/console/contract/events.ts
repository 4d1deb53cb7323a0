import { z } from 'zod';
import { alertKindNames } from '../../../catalogue/alert-kinds.ts';
import { severities } from '../../../ports/events.ts';
import { pageMembers, pageOf, timeText, wholeNumber } from './common.ts';

const filterMembers = {
  kind: z.enum(alertKindNames, { error: `must be one of ${alertKindNames.join(', ')}` }).exactOptional(),
  severity: z.enum(severities, { error: `must be one of ${severities.join(', ')}` }).exactOptional(),
  since: timeText.exactOptional().meta({ description: 'Leaves out what has not happened since then.' }),
};

export const eventQuery = z.strictObject({ ...filterMembers, ...pageMembers });
export const followQuery = z.strictObject({
  ...filterMembers,
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER)
    .exactOptional()
    .meta({ description: '`mark` of the answer before; without it the mark of now is answered.' }),
  wait: wholeNumber(0, 30).exactOptional().meta({ description: 'Seconds to wait for news; 30 if left out.' }),
});

/** Something that operators should hear of. */
export const eventView = z
  .strictObject({
    id: z.string(),
    kind: z.enum(alertKindNames),
    severity: z.enum(severities),
    subject: z
      .string()
      .meta({ description: '`channel:main`, `model:gpt-5`; empty where it is about the whole gateway.' }),
    detail: z.record(z.string(), z.union([z.string(), z.number()])),
    count: z.int(),
    firstAt: timeText,
    lastAt: timeText,
    endedAt: timeText.nullable().meta({ description: 'Null while it lasts, and of what has no end.' }),
  })
  .meta({ id: 'EventView' });
export type EventView = z.infer<typeof eventView>;

export const eventPage = pageOf(eventView).meta({ id: 'EventPage' });
export type EventPage = z.infer<typeof eventPage>;

export const eventNewsView = z
  .strictObject({
    events: z.array(eventView),
    mark: z.int().meta({ description: 'Asks for what comes next, as `after`.' }),
  })
  .meta({ id: 'EventNewsView' });
export type EventNewsView = z.infer<typeof eventNewsView>;

/** A receiver of events, and how its messages stand. */
export const webhookView = z
  .strictObject({
    name: z.string(),
    origin: z.string(),
    kinds: z.array(z.string()).nullable().meta({ description: 'Null for all.' }),
    severity: z.string(),
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

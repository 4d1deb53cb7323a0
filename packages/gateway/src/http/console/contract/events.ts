import { z } from 'zod';
import { alertKindNames } from '../../../catalogue/alert-kinds.ts';
import { severities } from '../../../ports/events.ts';
import { pageMembers, pageOf, timeText, wholeNumber } from './common.ts';

const filterMembers = {
  kind: z.enum(alertKindNames, { error: `must be one of ${alertKindNames.join(', ')}` }).exactOptional(),
  severity: z.enum(severities, { error: `must be one of ${severities.join(', ')}` }).exactOptional(),
  since: timeText.exactOptional().meta({ description: 'Leaves out what has not happened since then.' }),
};

export const eventQuery = z.strictObject({
  ...filterMembers,
  until: timeText.exactOptional().meta({ description: 'Leaves out what began then or later.' }),
  state: z
    .enum(['open', 'ended'], { error: 'must be open or ended' })
    .exactOptional()
    .meta({ description: 'Only what lasts or has no end, or only what is over.' }),
  acknowledged: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .exactOptional()
    .meta({ type: 'boolean' }),
  ...pageMembers,
});
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
    acknowledgedAt: timeText.nullable(),
    acknowledgedBy: z.string().nullable(),
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

export const eventId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'must be the id of an event: 32 hexadecimal digits');
const acknowledgedMax = 100;

export const acknowledgeBody = z.strictObject({
  ids: z
    .array(eventId, 'must be a list of ids of events')
    .min(1, 'must have an id')
    .max(acknowledgedMax, `must have ${acknowledgedMax} ids at the most`),
});

export const acknowledgedView = z
  .strictObject({ items: z.array(eventView) })
  .meta({ id: 'AcknowledgedView' });

/** Events that last and that nobody has acknowledged. */
export const unseenView = z.strictObject({ errors: z.int(), warnings: z.int() }).meta({ id: 'UnseenView' });
export type UnseenView = z.infer<typeof unseenView>;

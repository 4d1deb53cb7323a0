import { z } from 'zod';
import { subjectStates } from '../../../ports/status.ts';
import { pageOf, timeText } from './common.ts';

const paragraph = z
  .string('must be text')
  .trim()
  .min(1, 'must not be empty')
  .max(2000, 'must be of 2,000 characters at the most')
  .regex(/^(?:[^\p{Cc}\u202a-\u202e\u2066-\u2069]|\n)*$/u, 'must be plain characters and ends of lines');

/** Words for the public, in English, in Chinese, or in both. */
export const publicWords = z
  .strictObject({ en: paragraph.exactOptional(), zh: paragraph.exactOptional() })
  .refine(({ en, zh }) => en !== undefined || zh !== undefined, 'must have words in en, zh or both')
  .meta({ id: 'PublicWords' });

const subject = z.strictObject({
  kind: z.enum(['model', 'channel', 'gateway']),
  name: z.string().min(1).max(200).meta({ description: 'The id of the model or channel.' }),
});

const stateWord = z.enum(subjectStates);

export const incidentEntryView = z
  .strictObject({
    number: z.int(),
    at: timeText,
    kind: z.enum(['opened', 'joined', 'changed', 'recovered', 'closed', 'words']),
    subject: subject.nullable(),
    state: stateWord.nullable(),
    words: publicWords.nullable(),
    author: z.string().nullable(),
  })
  .meta({ id: 'IncidentEntryView' });
export type IncidentEntryView = z.infer<typeof incidentEntryView>;

/** An incident, those of private channels among them. */
export const incidentView = z
  .strictObject({
    id: z.string(),
    startedAt: timeText,
    resolvedAt: timeText.nullable(),
    subjects: z.array(subject),
    entries: z.array(incidentEntryView),
  })
  .meta({ id: 'IncidentView' });
export type IncidentView = z.infer<typeof incidentView>;

export const incidentPage = pageOf(incidentView).meta({ id: 'IncidentPage' });
export type IncidentPage = z.infer<typeof incidentPage>;

export const maintenanceDraft = z
  .strictObject({
    title: publicWords,
    startsAt: timeText,
    endsAt: timeText,
    subjects: z
      .array(subject)
      .min(1)
      .max(500)
      .nullable()
      .exactOptional()
      .meta({ description: 'Models and channels it is about; everything if left out.' }),
  })
  .meta({ id: 'MaintenanceDraft' });

export const maintenanceView = z
  .strictObject({
    id: z.string(),
    title: publicWords,
    startsAt: timeText,
    endsAt: timeText,
    subjects: z.array(subject).nullable(),
    cancelledAt: timeText.nullable(),
    author: z.string(),
  })
  .meta({ id: 'MaintenanceView' });
export type MaintenanceView = z.infer<typeof maintenanceView>;

export const maintenancePage = pageOf(maintenanceView).meta({ id: 'MaintenancePage' });
export type MaintenancePage = z.infer<typeof maintenancePage>;

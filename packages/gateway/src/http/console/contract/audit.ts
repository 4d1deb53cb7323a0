import { z } from 'zod';
import { pageMembers, pageOf, timeText } from './common.ts';

const filterText = z.string().max(200, 'must be of 200 characters at the most').exactOptional();

export const auditQuery = z.strictObject({
  ...pageMembers,
  account: filterText.meta({ description: 'Changes in one account.' }),
  action: filterText.meta({ description: '`key.create`' }),
  target: filterText.meta({ description: 'A kind of thing: `key`, or with its id: `key:ID`.' }),
  thing: filterText.meta({ description: 'The id of a thing, of whatever kind.' }),
  person: filterText.meta({ description: 'The id of who did it.' }),
  from: timeText.exactOptional(),
  to: timeText.exactOptional(),
});

/** Something that was changed, and by whom. */
export const auditView = z
  .strictObject({
    id: z.string(),
    at: timeText,
    actor: z.strictObject({
      kind: z.enum(['person', 'operator-token', 'command-line', 'nobody']),
      id: z.string().nullable(),
      name: z.string(),
    }),
    action: z.string().meta({ description: '`key.create`' }),
    target: z.strictObject({ kind: z.string(), id: z.string(), name: z.string().nullable() }),
    account: z.string().nullable(),
    before: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Null of what was made.' }),
    after: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Null of what was taken away.' }),
    address: z.string().nullable(),
  })
  .meta({ id: 'AuditView' });
export type AuditView = z.infer<typeof auditView>;

export const auditPage = pageOf(auditView).meta({ id: 'AuditPage' });
export type AuditPage = z.infer<typeof auditPage>;

import { z } from 'zod';
import { roles } from '../../../ports/people.ts';
import { pageMembers, pageOf, timeText } from './common.ts';

const role = z.enum(roles, 'must be admin, member or viewer');
const accountId = z.string().max(100);

const membershipView = z.strictObject({ account: z.string(), accountName: z.string(), role });

/** A person, as operators see them. */
export const personView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    login: z.string(),
    isOperator: z.boolean(),
    isDisabled: z.boolean(),
    memberships: z.array(membershipView),
    factors: z.array(z.enum(['password', 'totp', 'passkey', 'provider'])),
    createdAt: timeText,
    lastSeenAt: timeText.nullable(),
  })
  .meta({ id: 'PersonView' });
export type PersonView = z.infer<typeof personView>;

export const personPage = pageOf(personView).meta({ id: 'PersonPage' });
export const personQuery = z.strictObject({ ...pageMembers, search: z.string().max(200).exactOptional() });

export const personPatch = z
  .strictObject({
    isOperator: z.boolean('must be true or false').exactOptional(),
    isDisabled: z.boolean('must be true or false').exactOptional(),
    memberships: z
      .array(z.strictObject({ account: accountId, role }))
      .max(1_000)
      .exactOptional()
      .meta({ description: 'All memberships that the person has from then on.' }),
  })
  .refine((given) => Object.keys(given).length > 0, 'says nothing to change');

/** A link, shown this once. */
export const oneTimeLinkView = z
  .strictObject({ link: z.string().nullable(), expiresAt: timeText })
  .meta({ id: 'OneTimeLinkView' });
export type OneTimeLinkView = z.infer<typeof oneTimeLinkView>;

/** A person, as those see them who share an account. */
export const memberView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    login: z.string(),
    role,
    lastSeenAt: timeText.nullable(),
  })
  .meta({ id: 'MemberView' });
export type MemberView = z.infer<typeof memberView>;

export const memberPage = pageOf(memberView).meta({ id: 'MemberPage' });
export const memberPatch = z.strictObject({ role });

export const invitationView = z
  .strictObject({
    id: z.string(),
    email: z.string().nullable(),
    isOperator: z.boolean(),
    account: z.string().nullable(),
    accountName: z.string().nullable(),
    role: role.nullable(),
    madeBy: z.string(),
    madeAt: timeText,
    expiresAt: timeText,
  })
  .meta({ id: 'InvitationView' });
export type InvitationView = z.infer<typeof invitationView>;

export const invitationPage = pageOf(invitationView).meta({ id: 'InvitationPage' });

export const invitationQuery = z.strictObject({ ...pageMembers, account: accountId.exactOptional() });

export const invitationDraft = z.strictObject({
  email: z.email('must be an e-mail address').max(200).nullable().exactOptional(),
  isOperator: z.boolean('must be true or false').exactOptional(),
  account: accountId.exactOptional(),
  role: role.exactOptional(),
  days: z.int().min(1, 'must be 1 or more').max(30, 'must be 30 at the most').exactOptional(),
});

export const invitationMadeView = z
  .strictObject({ invitation: invitationView, link: z.string().nullable() })
  .meta({ id: 'InvitationMadeView' });
export type InvitationMadeView = z.infer<typeof invitationMadeView>;

/** An invitation, as who has the link sees it. */
export const invitedView = z
  .strictObject({
    deployment: z.string(),
    email: z.string().nullable(),
    isOperator: z.boolean(),
    accountName: z.string().nullable(),
    role: role.nullable(),
    madeBy: z.string(),
    expiresAt: timeText,
    provider: z.strictObject({ name: z.string() }).nullable(),
  })
  .meta({ id: 'InvitedView' });
export type InvitedView = z.infer<typeof invitedView>;

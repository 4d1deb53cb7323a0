import { z } from 'zod';
import type { passwordLengthMin } from '../../../admin/people/passwords.ts';
import { setUpTokenStates } from '../../../admin/people/set-up.ts';
import { roles } from '../../../ports/people.ts';
import { textOf, timeText } from './common.ts';

export const roleName = z.enum(roles, { error: `must be one of ${roles.join(', ')}` });
export const languageName = z.enum(['en', 'zh-CN'], { error: 'must be en or zh-CN' });
export const themeName = z.enum(['light', 'dark'], { error: 'must be light or dark' });

export const loginText = textOf(200).refine(
  (text) => text.trim() === text,
  'must not begin or end with a space',
);
export const passwordText = z.string('must be text').max(1000, 'must be of 1,000 characters at the most');

/** Somebody who is signed in, as they see themselves. */
export const ownPersonView = z
  .strictObject({
    id: z.string(),
    login: z.string(),
    name: z.string(),
    isOperator: z.boolean(),
    language: z.string().nullable().meta({ description: 'Null for the one of the deployment.' }),
    theme: z.string().nullable().meta({ description: 'Null for the one of the system.' }),
  })
  .meta({ id: 'OwnPersonView' });
export type OwnPersonView = z.infer<typeof ownPersonView>;

export const deploymentView = z
  .strictObject({
    name: z.string(),
    apiOrigin: z.string(),
    consoleOrigin: z.string(),
    language: z.string(),
    currency: z.string().meta({ description: 'The currency that amounts are shown in.' }),
    currencyPerUsd: z
      .string()
      .meta({ description: 'Units of that currency for one USD, as a decimal; nothing is billed by it.' }),
    isSimulated: z
      .boolean()
      .meta({ description: 'True of a demonstration: its channels and its history are made up.' }),
    siblings: z.array(
      z.strictObject({
        name: z.string(),
        url: z.string(),
        language: z.string().nullable(),
        region: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'DeploymentView' });
export type DeploymentView = z.infer<typeof deploymentView>;

/** Who asks, and where. */
export const sessionView = z
  .strictObject({
    person: ownPersonView.nullable().meta({ description: 'Null of nobody, and of a program.' }),
    isProgram: z.boolean().meta({ description: "True of who bears the operator's token." }),
    memberships: z.array(
      z.strictObject({ account: z.strictObject({ id: z.string(), name: z.string() }), role: roleName }),
    ),
    provenUntil: timeText
      .nullable()
      .meta({ description: 'Until when secrets may be changed without a proof; null of who is no person.' }),
    deployment: deploymentView,
    isSetUp: z.boolean().meta({ description: 'False until the first operator is made.' }),
  })
  .meta({ id: 'SessionView' });
export type SessionView = z.infer<typeof sessionView>;

export const signInBody = z.strictObject({ login: loginText, password: passwordText }).meta({ id: 'SignIn' });
export type SignInBody = z.infer<typeof signInBody>;

/** A sign-in that is done, or the step that comes next. */
export const signInView = z
  .union([
    z.strictObject({ next: z.literal('done') }),
    z.strictObject({ next: z.literal('totp'), ticket: z.string() }),
  ])
  .meta({ id: 'SignInView' });
export type SignInView = z.infer<typeof signInView>;

export const setUpBody = z
  .strictObject({ token: z.string().max(200), login: loginText, name: textOf(200), password: passwordText })
  .meta({ id: 'SetUp' });
export type SetUpBody = z.infer<typeof setUpBody>;

export const setUpLookBody = z.strictObject({ token: z.string().max(200) }).meta({ id: 'SetUpLook' });

/** A set-up link as it stands. */
export const setUpLinkView = z
  .strictObject({
    state: z
      .enum([...setUpTokenStates, 'used'])
      .meta({ description: '`wrong`: not of this gateway, or not whole; `over`: older than a day.' }),
  })
  .meta({ id: 'SetUpLinkView' });
export type SetUpLinkView = z.infer<typeof setUpLinkView>;

export const proofBody = z.strictObject({ password: passwordText }).meta({ id: 'Proof' });
export type ProofBody = z.infer<typeof proofBody>;

export const ownPatch = z
  .strictObject({
    name: textOf(200).exactOptional(),
    language: languageName.nullable().exactOptional(),
    theme: themeName.nullable().exactOptional(),
  })
  .meta({ id: 'OwnPersonPatch' });
export type OwnPersonPatch = z.infer<typeof ownPatch>;

export const passwordChange = z
  .strictObject({ current: passwordText, password: passwordText })
  .meta({ id: 'PasswordChange' });
export type PasswordChange = z.infer<typeof passwordChange>;

/** A browser that one is signed in with. */
export const placeView = z
  .strictObject({
    id: z.string(),
    isThis: z.boolean(),
    how: z.string(),
    createdAt: timeText,
    lastSeenAt: timeText,
    expiresAt: timeText,
    userAgent: z.string().nullable(),
    address: z.string().nullable(),
  })
  .meta({ id: 'SignedInPlace' });
export type SignedInPlace = z.infer<typeof placeView>;

export const placePage = z
  .strictObject({ items: z.array(placeView), next: z.null() })
  .meta({ id: 'SignedInPlaces' });
export type SignedInPlaces = z.infer<typeof placePage>;

/** The least length of a password, for pages that say it: another number there is no program. */
export type PasswordLengthMin = typeof passwordLengthMin;

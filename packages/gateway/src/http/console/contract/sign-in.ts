import { z } from 'zod';
import { textOf } from './common.ts';

/** The ways into this console, for the page that signs in. */
export const signInWays = z
  .strictObject({
    deployment: z.string(),
    language: z.string().nullable(),
    passkeys: z
      .strictObject({ origin: z.string() })
      .nullable()
      .meta({ description: 'The origin that passkeys are made for; null where browsers make none for it.' }),
    provider: z
      .strictObject({ name: z.string() })
      .nullable()
      .meta({ description: 'An OpenID Connect provider that people may sign in at.' }),
  })
  .meta({ id: 'SignInWays' });
export type SignInWays = z.infer<typeof signInWays>;

/** A code of an authenticator app, or a recovery code. */
export const secondFactorBody = z.strictObject({ ticket: z.string().max(4_000), code: textOf(40) });

export const signedInView = z.strictObject({ next: z.literal('done') }).meta({ id: 'SignedInView' });

/** A question to the browser's authenticator, as WebAuthn has it, and the ticket that its answer comes back with. */
export const passkeyQuestionView = z
  .strictObject({ options: z.record(z.string(), z.unknown()), ticket: z.string() })
  .meta({ id: 'PasskeyQuestionView' });
export type PasskeyQuestionView = z.infer<typeof passkeyQuestionView>;

/**
 * The answer of an authenticator, as text of the JSON that browsers make of it: it is the library's that reads it, and no member of ours.
 */
const authenticatorAnswer = z
  .string('must be text: the JSON of a PublicKeyCredential')
  .max(50_000, 'must be of 50,000 characters at the most')
  .transform((text, context): { readonly id: string } => {
    try {
      const read = answerShape.safeParse(JSON.parse(text));
      if (read.success) return read.data;
    } catch {
      // It is no JSON.
    }
    context.addIssue({ code: 'custom', message: 'must be the JSON of a PublicKeyCredential' });
    return z.NEVER;
  });

const answerShape = z.looseObject({ id: z.string(), response: z.looseObject({}) });

export const passkeyProofBody = z.strictObject({
  ticket: z.string().max(2_000),
  response: authenticatorAnswer,
});

export const providerStartBody = z.strictObject({
  invitation: z
    .string()
    .max(100)
    .exactOptional()
    .meta({ description: 'The token of an invitation that is accepted by it.' }),
});

/** The browser goes there. */
export const providerStartView = z.strictObject({ url: z.string() }).meta({ id: 'ProviderStartView' });
export type ProviderStartView = z.infer<typeof providerStartView>;

const passwordText = z.string('must be text').max(1_000, 'must be of 1,000 characters at the most');

export const passwordLinkBody = z.strictObject({ token: z.string().max(100), password: passwordText });

export const linkTokenBody = z.strictObject({ token: z.string().max(100) });

/** Whom a link for a password is for. */
export const passwordLinkView = z
  .strictObject({ name: z.string(), login: z.string() })
  .meta({ id: 'PasswordLinkView' });
export type PasswordLinkView = z.infer<typeof passwordLinkView>;

export const acceptanceBody = z.strictObject({
  token: z.string().max(100),
  name: textOf(200),
  email: z.email('must be an e-mail address').max(200),
  password: passwordText,
});

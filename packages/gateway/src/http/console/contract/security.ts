import { z } from 'zod';
import { textOf, timeText } from './common.ts';
import { passkeyProofBody } from './sign-in.ts';

export const passkeyView = z
  .strictObject({ id: z.string(), name: z.string(), createdAt: timeText, usedAt: timeText.nullable() })
  .meta({ id: 'PasskeyView' });
export type PasskeyView = z.infer<typeof passkeyView>;

export const identityView = z
  .strictObject({
    id: z.string(),
    issuer: z.string(),
    label: z.string(),
    createdAt: timeText,
    usedAt: timeText.nullable(),
  })
  .meta({ id: 'IdentityView' });

/** All that the person signs in with. */
export const securityView = z
  .strictObject({
    hasPassword: z.boolean(),
    hasTotp: z.boolean(),
    recoveryCodesLeft: z.int(),
    passkeys: z.array(passkeyView),
    identities: z.array(identityView),
  })
  .meta({ id: 'SecurityView' });
export type SecurityView = z.infer<typeof securityView>;

export const totpProposalView = z
  .strictObject({
    secret: z.string(),
    uri: z.string().meta({ description: 'An authenticator app reads it from a picture.' }),
  })
  .meta({ id: 'TotpProposalView' });
export type TotpProposalView = z.infer<typeof totpProposalView>;

export const totpConfirmationBody = z.strictObject({ code: textOf(40) });

export const recoveryCodesView = z
  .strictObject({ recoveryCodes: z.array(z.string()) })
  .meta({ id: 'RecoveryCodesView' });
export type RecoveryCodesView = z.infer<typeof recoveryCodesView>;

export const passkeyDraft = z.strictObject({ name: textOf(100), ...passkeyProofBody.shape });

export const passkeyPatch = z.strictObject({ name: textOf(100) });

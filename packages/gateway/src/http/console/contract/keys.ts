import { z } from 'zod';
import { ratesSchema } from '../../../catalogue/limit-fields.ts';
import { keyOrders, keyStates } from '../../../ports/key-directory.ts';
import { pageMembers, pageOf, textOf, timeText, usdText, wholeNumber } from './common.ts';
import { budgetView } from './owners.ts';

const state = z.enum(keyStates);
const platform = z.enum(['completions', 'messages', 'native']);

/** A key, as one of many. */
export const keyItem = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    hint: z.string().meta({ description: 'First and last characters of the key.' }),
    state,
    account: z.string(),
    accountName: z.string(),
    group: z.string(),
    groupName: z.string(),
    platform,
    createdAt: timeText,
    expiresAt: timeText
      .nullable()
      .meta({ description: 'When it stops working, by its expiry or its rotation.' }),
    lastUsedAt: timeText.nullable().meta({ description: 'To a quarter of an hour.' }),
    spend24h: usdText,
    spend30d: usdText.meta({ description: 'Of the last 30 days of UTC.' }),
    budgets: z.array(budgetView),
    declared: z
      .boolean()
      .meta({ description: 'A configuration file declares it: then it is changed there.' }),
    source: z.string(),
  })
  .meta({ id: 'KeyItem' });
export type KeyItem = z.infer<typeof keyItem>;

export const keyPage = pageOf(keyItem).meta({ id: 'KeyPage' });
export type KeyPage = z.infer<typeof keyPage>;

export const keyQuery = z.strictObject({
  ...pageMembers,
  q: z.string().max(200).optional().meta({ description: 'A part of the name, or the beginning of the id.' }),
  state: state.optional(),
  account: textOf(200).optional(),
  group: textOf(200).optional(),
  sort: z.enum(keyOrders).optional(),
});
export type KeyQuery = z.infer<typeof keyQuery>;

/** Everything about one key but its secret. */
export const keyView = z
  .strictObject({
    ...keyItem.shape,
    models: z.array(z.string()).nullable(),
    expires: timeText.nullable(),
    strict: z.boolean(),
    addressRanges: z.array(z.string()).nullable(),
    alertAt: z.string().nullable(),
    limits: ratesSchema.nullable(),
    retiresAt: timeText.nullable(),
    replacedBy: z.string().nullable(),
  })
  .meta({ id: 'KeyView' });
export type KeyView = z.infer<typeof keyView>;

/** A key just made: its secret is told this once. */
export const madeKeyView = z
  .strictObject({ secret: z.string().nullable(), key: keyView })
  .meta({ id: 'MadeKeyView' });
export type MadeKeyView = z.infer<typeof madeKeyView>;

export const rotationDraft = z.strictObject({
  grace: z
    .string('must be a duration such as 24h')
    .max(20)
    .optional()
    .meta({ description: 'How long the old key still works; 24h if left out.' }),
});
export type RotationDraft = z.infer<typeof rotationDraft>;

/** Keys can be made of these. */
export const keyChoicesView = z
  .strictObject({
    accounts: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        groups: z
          .array(z.string())
          .nullable()
          .meta({ description: 'Groups that whoever asks may make its keys in; null for all of them.' }),
        mayMake: z.boolean(),
      }),
    ),
    groups: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        platform,
        multiplier: z.string(),
        models: z.array(z.string()).nullable(),
      }),
    ),
    models: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        input: z.array(z.string()),
        output: z.array(z.string()),
        contextWindow: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'KeyChoicesView' });
export type KeyChoicesView = z.infer<typeof keyChoicesView>;

export const usageDaysQuery = z.strictObject({
  days: wholeNumber(1, 90)
    .optional()
    .transform((value) => value ?? 30),
});

/** The days of a key, and its models. */
export const keyUsageView = z
  .strictObject({
    days: z.array(
      z.strictObject({
        day: z.iso.date(),
        calls: z.int(),
        charge: usdText,
        inputTokens: z.int(),
        outputTokens: z.int(),
      }),
    ),
    models: z.array(
      z.strictObject({
        model: z.string(),
        calls: z.int(),
        charge: usdText,
        inputTokens: z.int(),
        outputTokens: z.int(),
      }),
    ),
  })
  .meta({ id: 'KeyUsageView' });
export type KeyUsageView = z.infer<typeof keyUsageView>;

/** A thing as a configuration file would declare it. */
export const declarationView = z.strictObject({ yaml: z.string() }).meta({ id: 'DeclarationView' });
export type DeclarationView = z.infer<typeof declarationView>;

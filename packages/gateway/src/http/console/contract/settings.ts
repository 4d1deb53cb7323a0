import { z } from 'zod';

/** The layers that settings are made in, the winner first. */
const settingLayer = z.enum(['flag', 'environment', 'file', 'console']);

const valueText = z.string().nullable().meta({ description: 'Null for a secret.' });

export const settingView = z
  .strictObject({
    name: z.string(),
    section: z.string(),
    help: z.string(),
    value: valueText,
    isDefault: z.boolean(),
    place: z
      .string()
      .nullable()
      .meta({ description: 'Where it was given: a flag, a variable, a line of the file, or the console.' }),
    layer: settingLayer.nullable().meta({ description: 'Null for a default.' }),
    flag: z.string().nullable(),
    environment: z.string(),
    yaml: z.string().nullable(),
    accepts: z.string(),
    options: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The values that there are, where they are few.' }),
    isSecret: z.boolean(),
    changes: z.enum(['now', 'restart', 'never']).meta({
      description: 'When a change made in the console comes into force.',
    }),
    fixedBecause: z.enum(['address', 'path', 'first-start', 'process']).nullable(),
    pending: z
      .strictObject({ value: valueText, layer: settingLayer.nullable() })
      .nullable()
      .meta({ description: 'The next start brings it.' }),
  })
  .meta({ id: 'SettingView' });
export type SettingView = z.infer<typeof settingView>;

/** The settings, and where each is made. */
export const settingsView = z
  .strictObject({
    file: z.string().nullable(),
    items: z.array(settingView),
    leftOut: z
      .array(z.strictObject({ name: z.string(), reason: z.string() }))
      .meta({ description: 'Values of the store that are not followed.' }),
  })
  .meta({ id: 'SettingsView' });
export type SettingsView = z.infer<typeof settingsView>;

/** A merge patch: what it does not name stays, null takes a value of the console away. */
export const settingsPatch = z
  .record(z.string().max(100), z.unknown())
  .meta({ id: 'SettingsPatch', description: 'Values by the names of settings; null takes one away.' });

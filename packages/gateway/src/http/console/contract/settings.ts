import { z } from 'zod';

export const settingView = z
  .strictObject({
    name: z.string(),
    section: z.string(),
    help: z.string(),
    value: z.string().nullable().meta({ description: 'Null for a secret.' }),
    isDefault: z.boolean(),
    place: z
      .string()
      .nullable()
      .meta({ description: 'Where it was given: a flag, a variable, or a line of the file.' }),
    flag: z.string().nullable(),
    environment: z.string(),
    yaml: z.string().nullable(),
  })
  .meta({ id: 'SettingView' });
export type SettingView = z.infer<typeof settingView>;

/** The settings, and where each is configured. They are changed there, and hold from the next start on. */
export const settingsView = z
  .strictObject({ file: z.string().nullable(), items: z.array(settingView) })
  .meta({ id: 'SettingsView' });
export type SettingsView = z.infer<typeof settingsView>;

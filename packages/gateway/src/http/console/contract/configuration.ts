import { z } from 'zod';

/** Members of a configuration file that declare things by their ids. */
export const declaredSections = [
  'accounts',
  'channels',
  'groups',
  'keys',
  'models',
  'prices',
  'webhooks',
] as const;

/** The place in the configuration file that declares something. */
export const declaredPlaceView = z
  .strictObject({
    file: z.string().nullable().meta({ description: 'Null where no file was given to this start.' }),
    line: z.int().nullable().meta({ description: 'Null where it is not found on a line of its own.' }),
  })
  .meta({ id: 'DeclaredPlaceView' });
export type DeclaredPlaceView = z.infer<typeof declaredPlaceView>;

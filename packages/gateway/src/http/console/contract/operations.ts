import { z } from 'zod';

/** The process that serves from now on. */
export const restartedView = z.strictObject({ processId: z.int() }).meta({ id: 'RestartedView' });
export type RestartedView = z.infer<typeof restartedView>;

import { z } from 'zod';
import { type Field, field, flag, unset } from './fields.ts';

/** The public may know of a model, or may not. */
export const modelListing = field(
  z.boolean().describe('Whether the public status page names it; true if left out.'),
  flag,
  () => true,
);

/** Null follows from the alias: see `isListed`. The column has a third value for it. */
export const channelListing = {
  ...unset(
    z
      .boolean()
      .describe(
        'Whether the public status page shows it, by its alias; if left out, it does where an alias is given that is not the id.',
      ),
    flag,
  ),
  cell: {
    write: (value) => (value === null ? 2 : flag.write(value)),
    read: (cell) => (cell === 2n ? null : flag.read(cell)),
  },
} satisfies Field<boolean | null, boolean>;

/** The id of a channel is private: the public knows those alone that have a name for it. */
export function isListed({
  id,
  alias,
  listed,
}: {
  readonly id: string;
  readonly alias: string;
  readonly listed: boolean | null;
}): boolean {
  return listed ?? alias !== id;
}

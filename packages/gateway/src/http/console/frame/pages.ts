import { fail, type Result, succeed } from '@headgate/protocols';
import type { z } from 'zod';
import { type ConsoleProblem, invalid } from './problem.ts';

/** A page of a list, as it is answered. `next` is asked for as `cursor`; null behind the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** The first `limit` of what was found; one more than these was asked for, so that it is known whether there is another page. */
export function page<Item>(
  found: readonly Item[],
  limit: number,
  placeOf: (last: Item) => readonly unknown[],
): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const isLast = found.length <= limit || last === undefined;
  return { items, next: isLast ? null : writeCursor(placeOf(last)) };
}

/** A cursor is the place of the last item that was seen, in the order of the list. */
export function writeCursor(place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The place that a cursor names; null where none is given. */
export function readCursor<Place>(
  cursor: string | undefined,
  schema: z.ZodType<Place>,
): Result<Place | null, ConsoleProblem> {
  if (cursor === undefined) return succeed(null);
  try {
    const read = schema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (read.success) return succeed(read.data);
  } catch {
    // It is no JSON: it was not made here.
  }
  return fail(invalid([{ field: 'cursor', message: 'must be `next` of an earlier page of this list' }]));
}

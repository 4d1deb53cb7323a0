/**
 * Usage is summed by quarter of an hour in UTC: every offset of a time zone in use is a multiple of it, so a day
 * of any of them is a whole number of slots.
 */
export const slotMs = 15 * 60_000;

/** Start of the slot that holds this moment. */
export function slotOf(timeMs: number): number {
  return Math.floor(timeMs / slotMs) * slotMs;
}

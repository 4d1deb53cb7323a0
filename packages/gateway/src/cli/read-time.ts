import { z } from 'zod';

const date = z.iso.date();
const localTime = z.iso.datetime({ local: true });

/** Milliseconds since the epoch of a date or an ISO 8601 time, in UTC unless it says otherwise; null for anything else. */
export function readTime(text: string): number | null {
  if (date.safeParse(text).success) return Date.parse(text);
  const zone = /(?:Z|[+-][0-2]\d:[0-5]\d)$/.exec(text)?.[0] ?? '';
  const local = text.slice(0, text.length - zone.length);
  if (!localTime.safeParse(local).success || local.endsWith('Z')) return null;
  const timeMs = Date.parse(`${local}${zone || 'Z'}`);
  return Number.isNaN(timeMs) ? null : timeMs;
}

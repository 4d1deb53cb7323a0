const shape = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** Milliseconds since the epoch of a date or an ISO 8601 time, in UTC unless it says otherwise; null for anything else. */
export function readTime(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] = shape.exec(text) ?? [];
  if (date === undefined) return null;
  try {
    return Temporal.Instant.from(`${date}T${time}${zone}`).epochMilliseconds;
  } catch {
    // The shape is right, but there is no such day or hour.
    return null;
  }
}

/** The canonical name of a time zone; null when there is no such zone. Bare offsets are refused: they have no summer time and mislead. */
export function readTimeZone(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

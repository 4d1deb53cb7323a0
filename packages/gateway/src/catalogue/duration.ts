/** A table of units, each with the number of smallest ones it stands for. */
export type Units = Readonly<Record<string, number>>;

export const timeUnits: Units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const longestDurationMs = 100 * 365 * 86_400_000;

/** Milliseconds; null when it is not a duration, or one of more than 100 years, which no date could be counted from. */
export function readDuration(text: string): number | null {
  const milliseconds = readMeasure(timeUnits, text);
  return milliseconds === null || milliseconds > longestDurationMs ? null : milliseconds;
}

export function readMeasure(units: Units, text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,9})\s?([A-Za-z]{1,3})$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  return digits === undefined || factor === undefined ? null : Number(digits) * factor;
}

/** The duration in the largest unit that it is a whole number of: `10m`, `1500ms`. Zero has no such unit. */
export function formatDuration(milliseconds: number): string {
  const [unit, size] = Object.entries(timeUnits).findLast(([, each]) => milliseconds % each === 0) ?? [
    'ms',
    1,
  ];
  return `${milliseconds / size}${unit}`;
}

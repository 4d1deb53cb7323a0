import type { Language } from '../app/language.ts';
import { remembered } from './remembered.ts';

const thinSpace = '\u2009';

/** A whole number with thin spaces between the thousands; it may be longer than a float is exact. */
export function countText(value: number | string | bigint): string {
  const text = typeof value === 'number' ? String(Math.round(value)) : String(value);
  return text.replace(/\B(?=(\d{3})+$)/g, thinSpace);
}

/** A large number in three or four signs: 12.3k. */
export function compactText(value: number, language: Language): string {
  return compactIn(language).format(value);
}

const compactIn = remembered(
  (language: Language) =>
    new Intl.NumberFormat(language, { notation: 'compact', maximumSignificantDigits: 3 }),
);

/** A time that something took: 340 ms, 1.24 s, 2 min 5 s. */
export function durationText(ms: number): string {
  if (ms > 0 && ms < 1) return '< 1 ms';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(ms / 3_600_000);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A share of 0 to 1; one that is nearly whole is never rounded to it. */
export function percentText(share: number): string {
  const percent = share * 100;
  if (percent > 99.9 && percent < 100) return `${(Math.floor(percent * 100) / 100).toFixed(2)} %`;
  const digits = percent === 0 || percent === 100 || (percent >= 10 && percent < 99) ? 0 : 1;
  return `${percent.toFixed(digits)} %`;
}

const units = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** How long ago, or how long until: in the largest unit that fits. */
export function relativeText(ms: number, nowMs: number, language: Language): string {
  const distance = ms - nowMs;
  const [unit, length] = units.find(([, size]) => Math.abs(distance) >= size) ?? ['second', 1_000];
  return relativeIn(language).format(Math.trunc(distance / length), unit);
}

const relativeIn = remembered(
  (language: Language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }),
);

/** The moment itself, in the zone of who looks, named. */
export function absoluteText(ms: number, language: Language): string {
  return absoluteIn(language).format(ms);
}

const absoluteIn = remembered(
  (language: Language) =>
    new Intl.DateTimeFormat(language, {
      ...{ year: 'numeric', month: 'short', day: 'numeric' },
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false, timeZoneName: 'short' },
    }),
);

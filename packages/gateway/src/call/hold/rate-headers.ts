import { type Platform, unreachable } from '@headgate/protocols';
import type { OwnerLimits, RateKind } from '../../catalogue/limits.ts';
import type { HeaderList } from '../../ports/data-plane.ts';
import type { LimitName, Standing } from '../../ports/holds.ts';

/** The word by which headers of SDKs know what a rate counts; null where they know none. */
const countedWords = {
  'requests-per-minute': 'requests',
  'requests-per-day': 'requests',
  'tokens-per-minute': 'tokens',
  'images-per-minute': 'images',
  'concurrent-calls': null,
} as const satisfies Record<RateKind, string | null>;

type CountedWord = NonNullable<(typeof countedWords)[RateKind]>;

const words: readonly CountedWord[] = ['requests', 'tokens', 'images'];

/** The families of headers on the messages surface; its vendor's own is what SDKs and agents read. */
const messagesFamilies = ['neutral-ratelimit', 'anthropic-ratelimit'] as const;

/** True where the caller may be told amounts of a limit: it tells what everybody has used who shares it. */
export function mayBeTold({ owner, id }: LimitName, owners: readonly OwnerLimits[]): boolean {
  return owner === 'key' || owners.some((each) => each.owner === owner && each.id === id && each.isShown);
}

/**
 * Headers that tell a caller how much is left of its rates, in the spelling of its surface: of each thing that is counted, by the limit that
 * has the least left. `reached`: the one that its call was refused for.
 */
export function rateHeaders(
  platform: Platform,
  standings: readonly Standing[],
  owners: readonly OwnerLimits[],
  nowMs: number,
  reached: Standing | null = null,
): HeaderList {
  const tightest: Partial<Record<CountedWord, Standing>> = {};
  for (const standing of standings) {
    const word = wordOf(standing);
    if (word === null || !mayBeTold(standing, owners)) continue;
    const least = tightest[word];
    if (least === undefined || standing.remaining < least.remaining) tightest[word] = standing;
  }
  const word = reached === null ? null : wordOf(reached);
  if (reached !== null && word !== null && mayBeTold(reached, owners)) tightest[word] = reached;
  const headers: string[] = [];
  for (const each of words) {
    const standing = tightest[each];
    if (standing !== undefined) addHeaders(headers, platform, each, standing, nowMs);
  }
  return headers;
}

function wordOf({ kind }: Standing): CountedWord | null {
  return kind in countedWords ? countedWords[kind as RateKind] : null; // A key of the table is a rate.
}

function addHeaders(
  headers: string[],
  platform: Platform,
  word: CountedWord,
  { amount, remaining, resetsAtMs }: Standing,
  nowMs: number,
): void {
  const [limit, left] = [String(amount), String(remaining)];
  switch (platform) {
    case 'completions':
    case 'native': {
      const reset = durationText(Math.max(0, (resetsAtMs ?? nowMs) - nowMs));
      headers.push(`x-ratelimit-limit-${word}`, limit, `x-ratelimit-remaining-${word}`, left);
      headers.push(`x-ratelimit-reset-${word}`, reset);
      return;
    }
    case 'messages': {
      const reset = momentText(Math.max(nowMs, resetsAtMs ?? nowMs));
      for (const family of messagesFamilies) {
        headers.push(`${family}-${word}-limit`, limit, `${family}-${word}-remaining`, left);
        headers.push(`${family}-${word}-reset`, reset);
      }
      return;
    }
    default:
      unreachable(platform);
  }
}

/** A duration as these headers have it: `120ms`, `8.64s`, `6m0s`, `2h0m5s`. */
export function durationText(milliseconds: number): string {
  const wholeMs = Math.ceil(milliseconds);
  if (wholeMs > 0 && wholeMs < 1_000) return `${wholeMs}ms`;
  if (wholeMs < 60_000) return `${wholeMs / 1_000}s`;
  const seconds = Math.ceil(wholeMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours === 0 ? '' : `${hours}h`}${minutes}m${seconds % 60}s`;
}

/** A moment in RFC 3339, to the second that is not before it. */
export function momentText(atMs: number): string {
  return `${new Date(Math.ceil(atMs / 1_000) * 1_000).toISOString().slice(0, 19)}Z`;
}

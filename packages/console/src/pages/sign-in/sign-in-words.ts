import { Problem } from '../../api/problem.ts';
import type { Translate } from '../../app/texts.ts';
import type * as texts from './texts.ts';

/** The words for who could not sign in, in their language; other problems keep their own. */
export function signInWords(
  problem: unknown,
  t: Translate<typeof texts.en>,
  wrong: 'wrong_credentials' | 'wrong_code' | 'unknown_passkey',
): string {
  if (!(problem instanceof Problem)) return String(problem);
  if (problem.code === 'throttled') return throttledWords(problem.retryAfterSeconds, t);
  if (problem.code === 'wrong_credentials') return t(wrong);
  return problem.detail || problem.title;
}

const minute = 60;

/** Tells whoever tried too often how long to wait. */
function throttledWords(seconds: number | null, t: Translate<typeof texts.en>): string {
  if (seconds === null) return t('throttled');
  return seconds <= minute
    ? t('throttledSeconds', { count: seconds })
    : t('throttledMinutes', { count: Math.ceil(seconds / minute) });
}

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
  if (problem.code === 'throttled') return t('throttled');
  if (problem.code === 'wrong_credentials') return t(wrong);
  return problem.detail || problem.title;
}

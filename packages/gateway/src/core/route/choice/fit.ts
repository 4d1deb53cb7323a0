import type { Facts } from '@headgate/protocols';
import type { Target } from '../../catalogue.ts';

/**
 * So many times its context window a prompt must be estimated at to be taken for one that does not fit. The estimate is a
 * quarter of the bytes, and what tokenizers make of them is between about half of that (white space, JSON, long words) and
 * twice as much: one that is a little over may well fit, and a target that refuses it for its length says so at once.
 */
const clearlyOver = 2;

export type Misfit = 'lacks' | 'context';

/** Why a target cannot do what a call asks for, whatever state it is in; null when it can. */
export function misfitOf(
  { lacks, contextWindow }: Target,
  { needs, inputTokensEstimate }: Facts,
): Misfit | null {
  if (lacks.size > 0 && !needs.isDisjointFrom(lacks)) return 'lacks';
  return contextWindow !== null && inputTokensEstimate > clearlyOver * contextWindow ? 'context' : null;
}

import type { ReasoningEffort, ReasoningSetting } from '../turn.ts';

/** All the words there are, the least thought first. */
export const efforts = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const satisfies readonly ReasoningEffort[];

/** The accepted word that is nearest to another one; of two as near, the one that thinks more, as vendors do it themselves. */
export function nearestEffort(
  wanted: ReasoningEffort,
  accepted: readonly ReasoningEffort[],
): ReasoningEffort | null {
  const place = efforts.indexOf(wanted);
  const distance = (effort: ReasoningEffort) => Math.abs(efforts.indexOf(effort) - place);
  return accepted.reduce<ReasoningEffort | null>((nearest, effort) => {
    if (nearest === null || distance(effort) < distance(nearest)) return effort;
    return distance(effort) === distance(nearest) && efforts.indexOf(effort) > place ? effort : nearest;
  }, null);
}

/** Tokens for a word, for models that know budgets only (translation-map.md, 1). */
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/** The effort that is asked for by word, or else by the tokens that may be spent; null when neither is said. */
export function effortOf({ effort, budgetTokens }: ReasoningSetting): ReasoningEffort | null {
  return effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
}

/** The tokens that may be spent, or else those that the effort stands for; null when neither is said. */
export function budgetOf({ effort, budgetTokens }: ReasoningSetting): number | null {
  return budgetTokens ?? (effort === null ? null : budgets[effort]);
}

function effortOfBudget(tokens: number): ReasoningEffort {
  if (tokens <= 0) return 'none';
  if (tokens <= 1_024) return 'minimal';
  if (tokens <= 4_096) return 'low';
  return tokens <= 12_288 ? 'medium' : 'high';
}

import type { Contradiction } from './merge.ts';

/** The contradictions by field, and each of those at vendors or, when asked, everywhere. */
export function reportOf(contradictions: readonly Contradiction[], isWhole: boolean): string {
  const byField = Map.groupBy(contradictions, ({ field }) => field);
  const counts = [...byField].map(([field, found]) => `${field} ${found.length}`);
  const shown = isWhole ? contradictions : [];
  const lines = shown.map(({ file, model, field, said, taken }) => {
    const values = said.map(([source, value]) => `${source} says ${JSON.stringify(value)}`);
    return `  ${file} ${model} ${field}: ${values.join(', ')}; taken ${JSON.stringify(taken)}`;
  });
  const head = `${contradictions.length} contradictions: ${counts.join(', ')}${isWhole ? '' : ' (--all lists them)'}`;
  return [head, ...lines].join('\n');
}

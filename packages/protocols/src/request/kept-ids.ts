/**
 * Of what a request names that upstreams keep, the ids, the one it goes on from first. What is no text is for the upstream to
 * judge, and an empty one names nothing.
 */
export function keptIds(...named: readonly unknown[]): readonly string[] {
  return named.filter((id): id is string => typeof id === 'string' && id !== '');
}

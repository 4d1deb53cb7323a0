import type { Loss } from '@headgate/protocols';

/** So many are named; a request that loses more has a general problem. */
const namesMax = 40;

/** The members of a request that were lost, each once, for the entry and for `x-headgate-losses`. */
export function lossNames(losses: readonly Loss[]): readonly string[] {
  if (losses.length === 0) return [];
  return [...new Set(losses.map(({ field }) => field))].slice(0, namesMax);
}

/** The same as a header's value; names that a header cannot hold are percent-encoded. */
export function lossesHeader(losses: readonly Loss[]): string {
  return lossNames(losses)
    .map((name) => name.slice(0, 200).replaceAll(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent))
    .join(', ');
}

import { regionOf } from '../billing.ts';
import type { Facts } from '../request.ts';
import { noTerms, termWord, usualRegion, usualService } from '../usage.ts';

/** The terms that a request asks for, from its service tier and the values of its members; nothing where all is as usual. */
export function askedTerms(
  service: string | null,
  region: unknown = null,
  context: unknown = null,
): Pick<Facts, 'terms'> {
  if (service === null && region === null && context === null) return {};
  const terms = {
    ...noTerms,
    service: otherThan(usualService, service),
    region: otherThan(usualRegion, regionOf(region)),
    searchContext: termWord(context),
  };
  const isAsked = terms.service !== null || terms.region !== null || terms.searchContext !== null;
  return isAsked ? { terms } : {};
}

function otherThan(usual: string, word: string | null): string | null {
  return word === usual ? null : word;
}

import type { Dialect } from './request.ts';
import { memberAt, termWord, usualRegion, usualService } from './usage.ts';
import { byWord, isRecord } from './wire-values.ts';

/** Words for service tiers, by the name that prices know them by. `auto` and the like leave the choice to the upstream. */
const services = byWord({
  [usualService]: 'default on_demand ON_DEMAND SERVICE_TIER_STANDARD',
  priority: 'fast ON_DEMAND_PRIORITY SERVICE_TIER_PRIORITY',
  flex: 'ON_DEMAND_FLEX SERVICE_TIER_FLEX',
  provisioned: 'PROVISIONED_THROUGHPUT',
  undecided: 'auto standard_only TRAFFIC_TYPE_UNSPECIFIED SERVICE_TIER_UNSPECIFIED unspecified',
});

/** The service tier that the word of a request or an answer stands for; null where it says nothing. */
export function serviceOf(value: unknown): string | null {
  const word = termWord(value);
  const known = word === null ? null : (services.get(word) ?? word);
  return known === 'undecided' ? null : known;
}

/** The place that an answer names, or a request; null where it says nothing. */
export function regionOf(value: unknown): string | null {
  const word = termWord(value);
  return word === 'not_available' ? usualRegion : word;
}

/** The cost in a `usage` object that an upstream of this dialect states, as a plain decimal in USD; null where there is none. */
export function readStatedCost(wire: unknown, stated: Dialect['statedCost']): string | null {
  if (stated === null || !isRecord(wire)) return null;
  const value = memberAt(wire, stated.member.split('.'));
  return typeof value === 'number' && value >= 0 ? plainDecimal(value, stated.digits) : null;
}

/** The shortest decimal of a number, without an exponent, its point moved to the left. */
function plainDecimal(value: number, places: number): string | null {
  const found = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (found === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = found;
  const point = whole.length + Number(exponent) - places;
  const digits = (whole + fraction).padEnd(point, '0');
  return point > 0
    ? `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.$/, '')
    : `0.${'0'.repeat(-point)}${digits}`;
}

/** The mean of the prompts that a sum of input is of: the one by which its context tier goes. Null where there was one. */
export function meanPrompt(input: number, prompts: number): number | null {
  return prompts > 1 ? Math.ceil(input / prompts) : null;
}

import type { Settings } from '../../config.ts';
import type { ExpectedCostOptions } from '../../core/route/expected-cost-router.ts';

/** What a router plans by, the same in the gateway and in a command that tells what the gateway would do. */
export function plannerOptions(
  { attemptsMax }: Settings,
  hashCredential: ExpectedCostOptions['hashCredential'],
): Pick<ExpectedCostOptions, 'attemptsMax' | 'probes' | 'hashCredential'> {
  return { attemptsMax, probes: 'synthetic', hashCredential };
}

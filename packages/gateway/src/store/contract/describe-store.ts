import { describe } from 'vitest';
import { describeClaims } from './describe-claims.ts';
import { describeConfiguration } from './describe-configuration.ts';
import { describeConsoleChannels } from './describe-console-channels.ts';
import { describeEvents } from './describe-events.ts';
import { describeKeys } from './describe-keys.ts';
import { describeLeases } from './describe-leases.ts';
import { describeLedger } from './describe-ledger.ts';
import { describePrices } from './describe-prices.ts';
import { describeRouterStates } from './describe-router-states.ts';
import { describeSignIn } from './describe-sign-in.ts';
import { describeUsage } from './describe-usage.ts';
import type { StoreSite } from './store-site.ts';

/** The suite that every store passes. */
export function describeStore(name: string, createSite: () => StoreSite): void {
  describe(`${name}: ledger`, () => describeLedger(createSite));
  describe(`${name}: usage`, () => describeUsage(createSite));
  describe(`${name}: configuration`, () => describeConfiguration(createSite));
  describe(`${name}: keys`, () => describeKeys(createSite));
  describe(`${name}: prices`, () => describePrices(createSite));
  describe(`${name}: channels of the console`, () => describeConsoleChannels(createSite));
  describe(`${name}: claims`, () => describeClaims(createSite));
  describe(`${name}: sign-in`, () => describeSignIn(createSite));
  describe(`${name}: events`, () => describeEvents(createSite));
  describe(`${name}: leases`, () => describeLeases(createSite));
  describe(`${name}: router`, () => describeRouterStates(createSite));
}

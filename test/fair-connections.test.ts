import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FairSite, openFairSite } from './support/fair-site.ts';
import { type FloodKind, keyHolders, strangers } from './support/floods.ts';
import { peakMemoryOf } from './support/peak-memory.ts';
import { isSlow } from './support/slow-form.ts';

const ratioMax = 3;
/** Below it a machine that does other things beside decides, not the gateway; `npm run fairness` prints what there is without it. */
const idleFloorMs = isSlow ? 15 : 40;
/** Calls of one measurement, and the one of a hundred of them that is looked at. */
const [calls, percentile] = isSlow ? [200, 99] : [60, 90];
/** A machine that does other things beside spoils a measurement; a gateway that is not fair spoils all of them. */
const triesMax = 6;

describe('four connections that do their worst', () => {
  let site: FairSite;
  beforeAll(async () => {
    site = await openFairSite();
  });
  afterAll(async () => {
    const memory = peakMemoryOf(site.pid);
    await site[Symbol.asyncDispose]();
    memory.expectBounded();
  });

  async function expectFair(name: string, kind: FloodKind): Promise<void> {
    const ratios: number[] = [];
    const at = (times: readonly number[]) => times[Math.floor((calls * percentile) / 100)] ?? Number.NaN;
    do {
      const measured = await site.measure(kind, calls);
      const [idleMs, floodedMs] = [at(measured.idleMs), at(measured.floodedMs)];
      ratios.push(floodedMs / Math.max(idleMs, idleFloorMs));
      console.log(`${name}: p${percentile} ${idleMs.toFixed(1)} ms, then ${floodedMs.toFixed(1)} ms`);
    } while (Math.min(...ratios) > ratioMax && ratios.length < triesMax);
    expect(Math.min(...ratios)).toBeLessThanOrEqual(ratioMax);
  }

  const timeout = { timeout: 120_000 };

  test.each(isSlow ? strangers : strangers.slice(0, 2))('%s take nothing from others', timeout, expectFair);

  test.each(isSlow ? keyHolders : [])('%s take nothing from others', timeout, (name, kind) =>
    expectFair(name, kind(site.key)),
  );
});

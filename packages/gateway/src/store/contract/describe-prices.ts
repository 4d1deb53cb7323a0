import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LaterPrice } from '../../catalogue/price-book.ts';
import { pricesInForce, timelineOf } from '../../catalogue/price-timeline.ts';
import { picoUsd } from '../../money/money.ts';
import type { PriceTier } from '../../money/price.ts';
import type { OperatorPrice } from '../../ports/configuration-store.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs, tiers } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const subject = 'model:alpha';
const day = 86_400_000;

/** Prices are told apart by what a token of output costs. */
const priced = (output: number): readonly PriceTier[] =>
  output === 0
    ? []
    : tiers.map((tier) => ({ ...tier, classes: { ...tier.classes, output: picoUsd(BigInt(output)) } }));

const outputOf = (found: readonly PriceTier[] | null | undefined) => Number(found?.[0]?.classes.output ?? 0n);

/** The part of the suite about prices: what is declared, what the operator sets, and when each of them holds. */
export function describePrices(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
  });
  afterEach(async () => {
    await site.dispose();
  });

  const declare = (output: number, nowMs: number, later: readonly (readonly [number, number])[] = []) => {
    const priceLater = later.map(
      ([fromMs, price]): LaterPrice => ({ fromMs, tiers: priced(price), origin: null }),
    );
    const models = declaration.models.map((model) =>
      model.id === 'alpha' ? { ...model, price: priced(output), priceOrigin: null, priceLater } : model,
    );
    return store.configuration.apply('file', { ...declaration, models }, nowMs);
  };

  const set = (output: number, nowMs: number, options: Partial<OperatorPrice> = {}) =>
    store.configuration.setPrices(
      [{ subject, fromMs: null, tiers: priced(output), origin: null, dropsPlanned: false, ...options }],
      nowMs,
    );

  const priceAt = async (nowMs: number) =>
    outputOf(pricesInForce((await store.configuration.load()).prices, nowMs).get(subject)?.tiers);

  test("the operator's price stands before the file's, whatever that says later, until it is taken back", async () => {
    await declare(10, epochMs);
    expect(await set(7, epochMs + 1)).toEqual([{ kind: 'price', id: subject, change: 'changed' }]);
    await declare(11, epochMs + 2);
    expect(await priceAt(epochMs + 3)).toBe(7);
    const revision = await store.configuration.revision();
    expect(await set(7, epochMs + 4)).toEqual([]);
    expect(await store.configuration.revision()).toBe(revision);
    expect(await set(0, epochMs + 5)).toEqual([{ kind: 'price', id: subject, change: 'removed' }]);
    expect(await priceAt(epochMs + 6)).toBe(11);
    const { prices } = await store.configuration.load();
    expect(prices.filter((price) => price.subject === subject)).toMatchObject([
      { version: 'model:alpha@1', source: 'file', writtenAtMs: epochMs },
      { version: 'model:alpha@2', source: 'operator', writtenAtMs: epochMs + 1 },
      { version: 'model:alpha@3', source: 'file', writtenAtMs: epochMs + 2 },
      { version: 'model:alpha@4', source: 'operator', tiers: [] },
    ]);
  });

  test('a planned price waits for its moment, survives one that is set before it, and is taken back with the others', async () => {
    await declare(10, epochMs);
    await set(5, epochMs, { fromMs: epochMs + day });
    expect([await priceAt(epochMs), await priceAt(epochMs + day - 1), await priceAt(epochMs + day)]).toEqual([
      10, 10, 5,
    ]);
    await set(8, epochMs + 1);
    expect([await priceAt(epochMs + 1), await priceAt(epochMs + day)]).toEqual([8, 5]);
    await set(8, epochMs + 2, { dropsPlanned: true });
    expect([await priceAt(epochMs + 2), await priceAt(epochMs + day)]).toEqual([8, 8]);
    await set(0, epochMs + 3, { fromMs: epochMs + day, dropsPlanned: true });
    expect([await priceAt(epochMs + 3), await priceAt(epochMs + day)]).toEqual([8, 10]);
  });

  test('plans of a file are told once, changed with it, and ended by it', async () => {
    const plans = [
      [epochMs + day, 5],
      [epochMs + 3 * day, 6],
    ] as const;
    await declare(10, epochMs, plans);
    expect(await declare(10, epochMs + 1, plans)).toEqual([]);
    const { models, prices } = await store.configuration.load();
    expect(
      timelineOf(
        prices.filter((price) => price.subject === subject),
        epochMs,
      ).later,
    ).toHaveLength(2);
    expect(models[0]?.id).toBe('alpha');
    // One more between them.
    await declare(10, epochMs + 2, [plans[0], [epochMs + 2 * day, 4], plans[1]]);
    const days = [0, 1, 2, 3].map((count) => epochMs + count * day + 5);
    expect(await Promise.all(days.map(priceAt))).toEqual([10, 5, 4, 6]);
    await declare(10, epochMs + 3, [plans[1]]);
    expect(await Promise.all(days.map(priceAt))).toEqual([10, 10, 10, 6]);
    // Once its moment has come it is no news.
    expect(await declare(6, epochMs + 3 * day + 1)).toEqual([]);
    await declare(6, epochMs + 3 * day + 2, [[epochMs + 4 * day, 0]]);
    expect(await priceAt(epochMs + 4 * day)).toBe(0);
  });

  test('a clock that is set back undoes no price that was to hold at once, and takes a planned one back until its time', async () => {
    await declare(10, epochMs + day);
    await set(7, epochMs + day, { fromMs: epochMs + 2 * day });
    expect(await priceAt(epochMs)).toBe(10);
    expect(await priceAt(epochMs + 2 * day)).toBe(7);
    expect(await priceAt(epochMs + day)).toBe(10);
    await declare(12, epochMs);
    expect([await priceAt(epochMs), await priceAt(epochMs + day)]).toEqual([12, 12]);
  });

  test('whatever is set, declared and planned, each moment has the price that a list of plans says', async () => {
    const plans = fc
      .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 6 })), {
        maxLength: 3,
        selector: ([at]) => at,
      })
      .map((found) => found.sort(([a], [b]) => a - b));
    const step = fc.oneof(
      fc.record({ kind: fc.constant('declare' as const), price: fc.nat(6), plans }),
      fc.record({
        kind: fc.constant('set' as const),
        price: fc.nat(6),
        at: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }),
        dropsPlanned: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 3 }) }),
    );
    let nowMs = epochMs;
    // One store for all runs: what is left of one is where the next begins.
    let [declared, own]: [Plans, Plans] = [new Plans(), new Plans()];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const each of steps) {
          nowMs += 1000;
          if (each.kind === 'wait') nowMs += each.days * day;
          if (each.kind === 'declare') {
            const later = each.plans.map(([at, price]) => [nowMs + at * day, price] as const);
            declared = new Plans([[nowMs, each.price], ...later]);
            await declare(each.price, nowMs, later);
          }
          if (each.kind === 'set') {
            const fromMs = each.at === null ? null : nowMs + each.at * day;
            own = own.with(fromMs ?? nowMs, each.price, each.dropsPlanned);
            await set(each.price, nowMs, { fromMs, dropsPlanned: each.dropsPlanned });
          }
          const { prices } = await store.configuration.load();
          for (let days = 0; days < 12; days++) {
            const atMs = nowMs + days * day;
            const found = outputOf(pricesInForce(prices, atMs).get(subject)?.tiers);
            expect(found, `${days} days on`).toBe(own.at(atMs) || declared.at(atMs));
          }
        }
      }),
      { numRuns: 12, seed: 12 },
    );
  });
}

/** Moments and the prices from then on, in their order: no price is 0. */
class Plans {
  readonly #plans: readonly (readonly [number, number])[];

  constructor(plans: readonly (readonly [number, number])[] = []) {
    this.#plans = plans;
  }

  at(atMs: number): number {
    return this.#plans.findLast(([fromMs]) => fromMs <= atMs)?.[1] ?? 0;
  }

  with(fromMs: number, price: number, dropsPlanned: boolean): Plans {
    const kept = this.#plans.filter(([each]) => each < fromMs || (each > fromMs && !dropsPlanned));
    return new Plans([...kept, [fromMs, price] as const].sort(([a], [b]) => a - b));
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectedUsage, takenBy } from '../../packages/gateway/src/call/hold/demand.ts';
import { rateHeaders } from '../../packages/gateway/src/call/hold/rate-headers.ts';
import { AnswerLengths } from '../../packages/gateway/src/call/hold/usual-outputs.ts';
import type { OwnerKind, OwnerLimits, RateKind } from '../../packages/gateway/src/catalogue/limits.ts';
import { Limits } from '../../packages/gateway/src/limits/limits.ts';
import { nanoUsd } from '../../packages/gateway/src/money/money.ts';
import { readPriceTiers } from '../../packages/gateway/src/money/price-terms.ts';
import type { Demand, Hold } from '../../packages/gateway/src/ports/holds.ts';
import { openSqliteStore } from '../../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { noTerms } from '../../packages/protocols/src/index.ts';

/**
 * Prints what limits cost a call on the main thread: its demand is worked out, taken from three owners who each have a budget of a
 * day, a month and in total and every rate, and settled; the headers of its answer beside that.
 *
 *     node tools/bench/admission.ts
 */
const calls = 200_000;
const kinds: readonly RateKind[] = [
  'requests-per-minute',
  'tokens-per-minute',
  'requests-per-day',
  'images-per-minute',
  'concurrent-calls',
];

await main();

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-admission-bench-'));
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const file = join(directory, 'headgate.sqlite');
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: console.error });
  await store.prepare();
  const limits = new Limits({
    nextTurn: setImmediate,
    store: store.leases,
    clock,
    observer: { alert() {}, alertOver() {} },
  });
  const ticking = setInterval(() => limits.tick(), 25);
  try {
    const owners = (['account', 'group', 'key'] as const).map(ownerOf);
    await measure(limits, owners, calls / 10);
    const micros = await measure(limits, owners, calls);
    console.log(
      `demand ${text(micros.demand)}  take and settle ${text(micros.held)}  headers ${text(micros.told)}`,
    );
    console.log(`admission with everything on: ${text(micros.demand + micros.held)} a call`);
  } finally {
    clearInterval(ticking);
    await limits.close();
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

function ownerOf(owner: OwnerKind): OwnerLimits {
  const spans = ['day', 'month', 'total'] as const;
  return {
    owner,
    id: owner,
    creditLimitNanoUsd: owner === 'account' ? nanoUsd(10n ** 15n) : null,
    budgets: spans.map((span) => ({ span, amountNanoUsd: nanoUsd(10n ** 15n) })),
    timeZone: 'UTC',
    alertAtPpm: 800_000,
    rates: kinds.map((kind) => ({ kind, amount: 10 ** 11, model: null })),
    isShown: true,
  };
}

/** Microseconds of the clock for each call, one part of it after the other. */
async function measure(limits: Limits, owners: readonly OwnerLimits[], times: number) {
  const price = priceOf();
  const lengths = new AnswerLengths();
  for (let n = 0; n < 100; n++) lengths.note('key', 'm', 400 + n);
  const facts = { model: 'm', stream: true, maxOutputTokens: 4_000, inputTokensEstimate: 900, choices: 1 };
  const request = { facts: { ...facts, needs: new Set<never>() } };
  const model = { maxOutputTokens: null, price };
  const demandOf = (): Demand => {
    const usualMax = lengths.usualMax('key', 'm');
    const usage = expectedUsage({ request, work: 'answer', model, usualMax });
    return { model: 'm', ...takenBy(usage, price, 1_150_000n, noTerms) };
  };
  const demand = demandOf();
  await heldOf(limits, owners, demand).then((hold) => hold.settle(demand));
  const perCall = async (act: () => void): Promise<number> => {
    let spentMs = 0;
    // Timers have their turn in between, as between calls.
    for (let done = 0; done < times; done += 1_000) {
      const begun = performance.now();
      for (let n = 0; n < 1_000; n++) act();
      spentMs += performance.now() - begun;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return (spentMs * 1_000) / times;
  };
  return {
    demand: await perCall(() => void demandOf()),
    held: await perCall(() => {
      limits.take(owners, demand, (result) => {
        if (!result.ok)
          throw new Error(`refused: ${JSON.stringify(result.error, (_, it: unknown) => String(it))}`);
        result.value.settle(demand);
      });
    }),
    told: await perCall(() => {
      rateHeaders('completions', limits.known(owners, 'm'), owners, Date.now());
    }),
  };
}

function heldOf(limits: Limits, owners: readonly OwnerLimits[], demand: Demand): Promise<Hold> {
  return new Promise((resolve, reject) => {
    limits.take(owners, demand, (result) => {
      if (result.ok) resolve(result.value);
      else reject(new Error('the first hold is refused'));
    });
  });
}

function priceOf() {
  const read = readPriceTiers([{ aboveInputTokens: 0, prices: { input: '0.25', output: '2' } }]);
  if (!read.ok) throw new Error(read.error.reason);
  return { id: 'p', effectiveFromMs: 0, tiers: read.value };
}

function text(micros: number): string {
  return `${micros.toFixed(2)} µs`;
}

import { expect, test } from 'vitest';
import { isSlow } from '../../../../test/support/slow-form.ts';
import type { OwnerLimits } from '../catalogue/limits.ts';
import { nanoUsd } from '../money/money.ts';
import type { Hold } from '../ports/holds.ts';
import { epochMs } from '../store/contract/samples.ts';
import {
  accountOf,
  demand,
  holdOf,
  LeaseSite,
  ownerOf,
  rate,
  type SiteProcess,
  taken,
  turns,
} from './lease-site.fixture.ts';
import { type ReferenceCall, ReferenceLimits } from './reference-limits.fixture.ts';

const steps = isSlow ? 100_000 : 2_500;
const seeds = isSlow ? 10 : 2;
const processesMax = 3;
const stepsBetweenRests = 400;

const spans = (day: bigint, total: bigint) => [
  { span: 'day' as const, amountNanoUsd: nanoUsd(day) },
  { span: 'month' as const, amountNanoUsd: nanoUsd(day * 20n) },
  { span: 'total' as const, amountNanoUsd: nanoUsd(total) },
];
const account = accountOf('a', 100n, {
  budgets: spans(2_000n, 10n ** 12n),
  timeZone: 'America/New_York',
  rates: [rate('requests-per-minute', 40)],
});
const group = ownerOf('g', {
  owner: 'group',
  budgets: spans(3_000n, 10n ** 12n),
  timeZone: 'Asia/Kolkata',
  rates: [rate('concurrent-calls', 6), rate('tokens-per-minute', 300)],
});
const callers: readonly (readonly OwnerLimits[])[] = [
  [
    account,
    group,
    ownerOf('k1', { budgets: spans(600n, 10n ** 12n), rates: [rate('requests-per-minute', 10)] }),
  ],
  [account, group, ownerOf('k2', { rates: [rate('concurrent-calls', 3), rate('requests-per-day', 5_000)] })],
  [accountOf('b', 0n), ownerOf('k3', { rates: [rate('tokens-per-minute', 100)] })],
];
const invariants = [
  'SELECT count(*) FROM (SELECT 1 FROM leases GROUP BY subject, measure HAVING sum(max(outstanding, 0)) > max(max(ceiling), 0))',
  'SELECT count(*) FROM leases WHERE run NOT IN (SELECT id FROM runs)',
  'SELECT sum(balance_nano_usd) FROM balances',
];

interface Running extends ReferenceCall {
  readonly process: SiteProcess;
  readonly hold: Hold;
  readonly entry: { readonly account: string; readonly group: string; readonly key: string };
}

/** A seed is strict where calls take no more than they hold, nothing is taken back, and the clock goes forward: then no limit is ever broken. */
class World {
  readonly site = new LeaseSite();
  readonly reference = new ReferenceLimits();
  readonly running = new Set<Running>();
  readonly #isStrict: boolean;
  readonly #below: (below: number) => number;
  #living: SiteProcess[] = [];
  #dead: SiteProcess[] = [];
  #waiting: { readonly process: SiteProcess; readonly leave: () => void }[] = [];
  admitted = 0;
  refused = 0;

  constructor(seed: number) {
    this.#isStrict = seed % 2 === 0;
    let state = seed * 7919 + 1;
    this.#below = (below) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let at = 0; at < processesMax; at++) this.#living.push(this.site.start());
  }

  async step(): Promise<void> {
    const kind = this.#below(100);
    if (kind < 34) this.#call();
    else if (kind < 62) this.#settle();
    else if (kind < 66) this.#extend();
    else if (kind < 69) this.#waiting.splice(this.#below(this.#waiting.length + 1), 1)[0]?.leave();
    else if (kind < 86) this.#pass();
    else if (kind < 91) this.#one(this.#living).feed();
    else if (kind < 94) this.#credit();
    else if (kind < 96) this.#one(this.#living).fault = this.#one([null, null, 'lose', 'refuse'] as const);
    else if (kind < 97) await this.#restart();
    else if (kind < 98) this.#kill();
    else if (kind < 99) this.#bury();
    else if (!this.#isStrict) this.site.nowMs += (this.#below(2 * 1_440) - 1_440) * 60_000;
    await turns();
  }

  #one<Value>(values: readonly Value[]): Value {
    const value = values[this.#below(values.length)];
    if (value === undefined) throw new Error('there is none');
    return value;
  }

  #call(): void {
    const process = this.#one(this.#living);
    const owners = this.#one(callers);
    const charge = BigInt(this.#below(60));
    const tokens = this.#below(40);
    const leave = process.limits.take(owners, demand(charge, { tokens }), (result) => {
      if (!this.#living.includes(process)) return;
      if (!result.ok) {
        this.refused++;
        return;
      }
      this.admitted++;
      const idOf = (kind: OwnerLimits['owner']) => owners.find(({ owner }) => owner === kind)?.id ?? 'nobody';
      const entry = { account: idOf('account'), group: idOf('group'), key: idOf('key') };
      const call = {
        owners,
        charge,
        tokens,
        process,
        entry,
        hold: result.value,
        startedAtMs: this.site.nowMs,
      };
      this.running.add(call);
      this.reference.begin(call, this.site.nowMs);
    });
    if (leave !== null && this.#waiting.length < 50) this.#waiting.push({ process, leave });
  }

  #settle(): void {
    if (this.running.size > 0) this.settle(this.#one([...this.running]), this.#below(8));
  }

  /** Ends a call: hung up before anything came, with all that it held, or with less; or with more. */
  settle(call: Running, how: number): void {
    const part = how === 0 ? 0n : how < 3 ? 8n : BigInt(how);
    let charge = (call.charge * part) / 8n;
    let tokens = Number((BigInt(call.tokens) * part) / 8n);
    if (how === 3 && !this.#isStrict) {
      charge += 15n;
      tokens += 10;
    }
    this.running.delete(call);
    this.reference.end(call, charge, tokens, this.site.nowMs);
    call.process.settle(call.hold, call.entry, taken(charge, tokens), call.startedAtMs);
  }

  #extend(): void {
    if (this.running.size === 0) return;
    const call = this.#one([...this.running]);
    const charge = BigInt(this.#below(20));
    const tokens = this.#below(10);
    call.hold.extend(taken(charge, tokens), (refusal) => {
      if (refusal !== null) return;
      call.charge += charge;
      call.tokens += tokens;
    });
  }

  #pass(): void {
    const kind = this.#below(200);
    this.site.pass(kind === 0 ? 6 * 3_600_000 : kind < 8 ? 20_000 : this.#below(2_000));
    for (const process of this.#living) process.limits.tick();
  }

  #credit(): void {
    const amount = BigInt(this.#below(300)) - (this.#isStrict ? 0n : 60n);
    if (amount === 0n) return;
    const limits = this.#one([account, ...(callers[2] ?? []).slice(0, 1)]);
    this.site.credit(limits.id, amount);
    this.reference.of(limits).balance += amount;
  }

  #abandon(process: SiteProcess): void {
    for (const call of this.running) {
      if (call.process !== process) continue;
      this.running.delete(call);
      this.reference.forget(call);
    }
    this.#living = this.#living.filter((each) => each !== process);
    // Nothing happens in a process that is gone.
    this.#waiting = this.#waiting.filter((waiting) => waiting.process !== process);
  }

  async #restart(): Promise<void> {
    const process = this.#one(this.#living);
    for (const call of this.running) if (call.process === process) this.settle(call, 1);
    process.fault = null;
    this.#living.push(this.site.start());
    this.#abandon(process);
    await process.stop();
  }

  #kill(): void {
    const process = this.#one(this.#living);
    process.kill();
    this.#abandon(process);
    this.#dead.push(process);
    this.#living.push(this.site.start());
  }

  #bury(): void {
    for (const process of this.#dead.splice(0)) process.die();
  }

  check(): void {
    for (const query of invariants) expect(this.site.number(query), query).toBe(0n);
    if (this.#isStrict) expect(this.reference.broken(this.site.nowMs)).toBeNull();
  }

  /** When all is settled, fed and found, every caller has what the reference says, to the last unit, in any process. */
  async rest(): Promise<void> {
    for (const call of this.running) this.settle(call, 1);
    this.#bury();
    for (const process of this.#living) process.fault = null;
    for (let second = 0; second < 130; second++) {
      this.site.pass(1_000);
      for (const process of this.#living) process.limits.tick();
      await turns();
      for (const process of this.#living) process.feed();
      for (const call of this.running) this.settle(call, 0);
    }
    for (const owners of callers) {
      const available = this.reference.available(owners, this.site.nowMs);
      const process = this.#one(this.#living);
      const others = this.#living.filter((each) => each !== process);
      const over = await process.take(owners, demand(available < 0n ? 1n : available + 1n), others);
      expect(over).toMatchObject({ ok: false, error: { kind: 'exceeded' } });
      if (available <= 0n) continue;
      this.site.pass(300);
      const hold = holdOf(await process.take(owners, demand(available), others));
      hold.settle(taken(0n));
    }
    this.#verifySums();
  }

  #verifySums(): void {
    const balance = (id: string) =>
      this.site.number('SELECT balance_nano_usd FROM balances WHERE ledger_account = ?', `account:${id}`);
    for (const limits of [account, ...(callers[2] ?? []).slice(0, 1)])
      expect(balance(limits.id), limits.id).toBe(this.reference.of(limits).balance);
  }
}

test.each(Array.from({ length: seeds }, (_, at) => at + 1))(
  `seed %i: ${steps} steps keep every limit, and lose nothing`,
  async (seed) => {
    const world = new World(seed);
    for (let step = 1; step <= steps; step++) {
      await world.step();
      world.check();
      if (step % stepsBetweenRests === 0) await world.rest();
    }
    expect(world.admitted).toBeGreaterThan(steps / 20);
    expect(world.refused).toBeGreaterThan(steps / 50);
    expect(epochMs).toBeLessThan(world.site.nowMs + 400 * 86_400_000);
    console.log(`model of limits, seed ${seed}: ${world.admitted} calls admitted, ${world.refused} refused`);
    world.site.close();
  },
  20_000 + steps * 3,
);

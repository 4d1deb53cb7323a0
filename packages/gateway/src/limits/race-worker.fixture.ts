import { randomUUIDv7 } from 'node:crypto';
import { noUsage } from '@headgate/protocols';
import type { OwnerLimits } from '../catalogue/limits.ts';
import type { Demand, Hold } from '../ports/holds.ts';
import type { Store } from '../ports/store.ts';
import { sampleEntry, settle } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { Limits } from './limits.ts';

/** The race starts this file as a process of its own, and tells it what to ask for. */
export interface Heat {
  readonly lanes: readonly {
    readonly owners: readonly OwnerLimits[];
    readonly demand: Demand;
    readonly calls: number;
  }[];
}

/** A process's part of a heat; `others`: refused for anything but a limit. */
export interface HeatResult {
  readonly admitted: readonly number[];
  readonly others: readonly string[];
}

export type RaceMessage = { readonly heat: Heat } | 'let-go';

const [file] = process.argv.slice(2);
if (file !== undefined) void race(file);

async function race(path: string): Promise<void> {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const onAlarm = (alarm: unknown) => console.error(alarm);
  const store = await openSqliteStore({ file: path, durability: 'strict', clock, onAlarm });
  await store.prepare();
  const observer = { alert: () => undefined, alertOver: () => undefined };
  const limits = new Limits({ nextTurn: setImmediate, store: store.leases, clock, observer });
  setInterval(() => limits.tick(), 25).unref();
  const running: (() => void)[] = [];
  process.on('message', (message: RaceMessage) => {
    if (message !== 'let-go') {
      void run(limits, store, message.heat, running).then((result) => process.send?.(result));
      return;
    }
    for (const end of running.splice(0)) end();
    process.send?.('gone');
  });
  process.send?.('ready');
}

async function run(
  limits: Limits,
  store: Store,
  { lanes }: Heat,
  running: (() => void)[],
): Promise<HeatResult> {
  const others: string[] = [];
  const admitted = await Promise.all(
    lanes.map(async ({ owners, demand, calls }) => {
      const results = await Promise.all(
        Array.from({ length: calls }, () => call(limits, store, owners, demand, running, others)),
      );
      return results.filter(Boolean).length;
    }),
  );
  return { admitted, others };
}

/** True when it is admitted; then its entry is durable, and it runs until all are told to end. */
function call(
  limits: Limits,
  store: Store,
  owners: readonly OwnerLimits[],
  demand: Demand,
  running: (() => void)[],
  others: string[],
): Promise<boolean> {
  return new Promise((done) => {
    limits.take(owners, demand, (result) => {
      if (!result.ok) {
        if (result.error.kind !== 'exceeded') others.push(result.error.kind);
        return done(false);
      }
      if (owners.some(({ rates }) => rates.some(({ kind }) => kind === 'concurrent-calls')))
        running.push(() => result.value.settle(demand));
      else
        void settle(store.ledger, entryOf(owners, demand, result.value)).then(() =>
          result.value.settle(demand),
        );
      done(true);
    });
  });
}

function entryOf(owners: readonly OwnerLimits[], { chargeNanoUsd }: Demand, { leased }: Hold) {
  const idOf = (kind: OwnerLimits['owner']) => owners.find(({ owner }) => owner === kind)?.id ?? 'nobody';
  return sampleEntry({
    ...{ accountId: idOf('account'), groupId: idOf('group'), keyId: idOf('key'), chargeNanoUsd, leased },
    ...{
      traceId: randomUUIDv7().replaceAll('-', ''),
      startedAtMs: Date.now(),
      usage: noUsage,
      attempts: [],
      route: null,
    },
  });
}

import { setTimeout } from 'node:timers/promises';
import { quantile } from '../harness/statistics.ts';
import { OpenLoop } from '../live/open-loop.ts';
import { call, type Seen } from './caller.ts';
import type { RunningGateway } from './gateways.ts';
import type { Scene } from './scenes.ts';
import { mend, strike, type Tiers } from './upstreams.ts';

/** The yield of one gateway in one scene. */
export interface Figures {
  readonly scene: Scene;
  readonly calls: number;
  readonly whole: number;
  readonly passedOff: number;
  /** To the first word of calls that ended whole, in milliseconds; null where none did. */
  readonly firstP50Ms: number | null;
  readonly firstP99Ms: number | null;
  /** Requests that came to both upstreams while there was a fault, for each call; probes of the gateway's own among them. */
  readonly attemptsPerCall: number;
  /** From the mending until all calls are answered by the preferred upstream again; null when that took longer than is waited for. */
  readonly recoveryMs: number | null;
}

export interface Pace {
  readonly callsPerSecond: number;
  readonly warmUpCalls: number;
  readonly faultMs: number;
  readonly recoveryMsMax: number;
}

/** Calls in a row that make a recovery. */
const backCalls = 5;

export async function playScene(gateway: RunningGateway, tiers: Tiers, pace: Pace): Promise<Figures> {
  const route = gateway.routeOf(tiers);
  for (let left = pace.warmUpCalls; left > 0; left--) await call(route);
  const before = await received(tiers);
  await strike(tiers);
  const calls: Promise<Seen>[] = [];
  const loop = new OpenLoop(pace.callsPerSecond, () => calls.push(call(route)));
  await setTimeout(pace.faultMs);
  loop.stop();
  const seen = await Promise.all(calls);
  const attempts = (await received(tiers)) - before;
  const recoveryMs = await recovery(gateway, tiers, pace);
  const whole = seen.filter(({ ending }) => ending === 'whole');
  const firsts = whole.flatMap(({ firstMs }) => (firstMs === null ? [] : [firstMs]));
  return {
    scene: tiers.scene,
    calls: seen.length,
    whole: whole.length,
    passedOff: seen.filter(({ ending }) => ending === 'passed-off').length,
    firstP50Ms: firsts.length === 0 ? null : quantile(firsts, 0.5),
    firstP99Ms: firsts.length === 0 ? null : quantile(firsts, 0.99),
    attemptsPerCall: attempts / seen.length,
    recoveryMs,
  };
}

/** The time of the first of some calls in a row that the preferred upstream answers. */
async function recovery(gateway: RunningGateway, tiers: Tiers, pace: Pace): Promise<number | null> {
  await mend(tiers);
  const mendedAt = performance.now();
  let inRow = 0;
  let since = 0;
  while (performance.now() - mendedAt < pace.recoveryMsMax) {
    const sentMs = performance.now() - mendedAt;
    const { by } = await call(gateway.routeOf(tiers));
    if (inRow === 0) since = sentMs;
    inRow = by === 'preferred' ? inRow + 1 : 0;
    if (inRow === backCalls) return since;
    await setTimeout(1000 / pace.callsPerSecond);
  }
  return null;
}

async function received({ preferred, spare }: Tiers): Promise<number> {
  const [atPreferred, atSpare] = await Promise.all([preferred.requestCount(), spare.requestCount()]);
  return atPreferred + atSpare;
}

import { callRequest, loadServer } from './load.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** A server in front of many callers gets the whole of its code compiled the soonest. */
const concurrency = 64;
const bodyBytes = 1_500;

export interface WarmUpPlan {
  /**
   * V8 goes on compiling a service of some size for about 30,000 calls, on threads of the same process: measured
   * earlier, Headgate's CPU per call comes out at half as much again.
   */
  readonly calls: number;
  /** The most that one server may take. */
  readonly durationMsMax: number;
}

/** Calls every server until its code is compiled, and says how many calls each got. */
export async function warmUp(servers: readonly ServerUnderTest[], plan: WarmUpPlan): Promise<string> {
  const counts: string[] = [];
  for (const server of servers) {
    // nginx was compiled before it was installed, and the upstream is warmed by everybody else.
    if (server.name === 'nginx' || server.name === 'direct') continue;
    const request = callRequest(server.key, bodyBytes, false);
    const bounds = { durationMs: plan.durationMsMax, callsMax: plan.calls };
    const { requests } = await loadServer(server, request, concurrency, bounds);
    counts.push(`${server.name} ${requests}${requests < plan.calls ? ' (time was up: not warm yet)' : ''}`);
  }
  return `Calls before the first measured one: ${counts.join(', ')}.`;
}

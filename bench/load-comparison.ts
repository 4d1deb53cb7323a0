import { cpuTimeUs } from '../harness/process-usage.ts';
import { differences, median, minimum, quantile, sum } from '../harness/statistics.ts';
import { callRequest, type LoadWindow, loadServer } from './load.ts';
import type { ServerName, ServerUnderTest } from './server-under-test.ts';

/** One kind of load. */
export interface LoadCase {
  readonly bodyBytes: number;
  readonly concurrency: number;
}

/** What one server did under one kind of load, over all windows. Latencies in microseconds. */
export interface LoadFigures extends LoadCase {
  readonly server: ServerName;
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Medians of the windows' own quantiles. */
  readonly latencyP50Us: number;
  readonly latencyP99Us: number;
  /** Over the upstream asked directly: the median of the differences, round by round. */
  readonly addedP50Us: number;
  readonly addedP99Us: number;
  /** CPU of the server per call, from the kernel's accounting; null for the upstream alone. */
  readonly cpuUsMin: number | null;
  readonly cpuUsMedian: number | null;
}

export interface LoadPlan {
  readonly windows: number;
  readonly windowMs: number;
  /** Load before the first window, for connections and kernel to settle. */
  readonly settleMs: number;
}

interface MeasuredWindow extends LoadWindow {
  readonly cpuUsPerCall: number | null;
}

/** Loads every server in turn, again and again, so that a change of the machine's mood meets them all. */
export async function compareUnderLoad(
  servers: readonly ServerUnderTest[],
  load: LoadCase,
  plan: LoadPlan,
): Promise<LoadFigures[]> {
  const measured = servers.map((server) => ({
    server,
    request: callRequest(server.key, load.bodyBytes, false),
    windows: [] as MeasuredWindow[],
  }));
  for (const { server, request } of measured)
    await loadServer(server, request, load.concurrency, { durationMs: plan.settleMs });
  for (let round = 0; round < plan.windows; round++) {
    for (const { server, request, windows } of measured) {
      windows.push(await measureWindow(server, request, load.concurrency, plan.windowMs));
    }
  }
  const direct = measured.find(({ server }) => server.name === 'direct')?.windows ?? [];
  return measured.map(({ server, windows }) => figures(server, load, windows, direct));
}

async function measureWindow(
  server: ServerUnderTest,
  request: Buffer,
  concurrency: number,
  windowMs: number,
): Promise<MeasuredWindow> {
  const cpuBefore = server.pid === null ? 0 : cpuTimeUs(server.pid);
  const window = await loadServer(server, request, concurrency, { durationMs: windowMs });
  const cpuUsPerCall = server.pid === null ? null : (cpuTimeUs(server.pid) - cpuBefore) / window.requests;
  return { ...window, cpuUsPerCall };
}

function figures(
  server: ServerUnderTest,
  load: LoadCase,
  windows: readonly MeasuredWindow[],
  direct: readonly MeasuredWindow[],
): LoadFigures {
  const cpu = windows.flatMap((window) => (window.cpuUsPerCall === null ? [] : [window.cpuUsPerCall]));
  return {
    ...load,
    server: server.name,
    requests: sum(windows.map((window) => window.requests)),
    requestsPerSecond: median(windows.map((window) => (window.requests / window.durationMs) * 1000)),
    latencyP50Us: median(latencies(windows, 0.5)),
    latencyP99Us: median(latencies(windows, 0.99)),
    addedP50Us: median(differences(latencies(windows, 0.5), latencies(direct, 0.5))),
    addedP99Us: median(differences(latencies(windows, 0.99), latencies(direct, 0.99))),
    cpuUsMin: cpu.length === 0 ? null : minimum(cpu),
    cpuUsMedian: cpu.length === 0 ? null : median(cpu),
  };
}

/** One quantile of the latencies of each window. */
function latencies(windows: readonly LoadWindow[], share: number): number[] {
  return windows.map((window) => quantile(window.latenciesUs, share));
}

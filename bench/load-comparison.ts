import { callRequest, type LoadWindow, loadServer } from './load.ts';
import { cpuTimeUs } from './process-usage.ts';
import type { ServerName, ServerUnderTest } from './server-under-test.ts';
import { median, minimum, quantile, sum } from './statistics.ts';

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
  readonly latencyP50Us: number;
  readonly latencyP99Us: number;
  /** Over the upstream asked directly in the same windows. */
  readonly addedP50Us: number;
  readonly addedP99Us: number;
  /** CPU of the server per call, from the kernel's accounting; null for the upstream alone. */
  readonly cpuUsMin: number | null;
  readonly cpuUsMedian: number | null;
}

export interface LoadPlan {
  readonly windows: number;
  readonly windowMs: number;
  readonly warmUpMs: number;
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
    await loadServer(server, request, load.concurrency, plan.warmUpMs);
  for (let round = 0; round < plan.windows; round++) {
    for (const { server, request, windows } of measured) {
      windows.push(await measureWindow(server, request, load.concurrency, plan.windowMs));
    }
  }
  const direct = latencies(measured.find(({ server }) => server.name === 'direct')?.windows ?? []);
  return measured.map(({ server, windows }) => figures(server, load, windows, direct));
}

async function measureWindow(
  server: ServerUnderTest,
  request: Buffer,
  concurrency: number,
  windowMs: number,
): Promise<MeasuredWindow> {
  const cpuBefore = server.pid === null ? 0 : cpuTimeUs(server.pid);
  const window = await loadServer(server, request, concurrency, windowMs);
  const cpuUsPerCall = server.pid === null ? null : (cpuTimeUs(server.pid) - cpuBefore) / window.requests;
  return { ...window, cpuUsPerCall };
}

function figures(
  server: ServerUnderTest,
  load: LoadCase,
  windows: readonly MeasuredWindow[],
  direct: readonly number[],
): LoadFigures {
  const own = latencies(windows);
  const cpu = windows.flatMap((window) => (window.cpuUsPerCall === null ? [] : [window.cpuUsPerCall]));
  return {
    ...load,
    server: server.name,
    requests: sum(windows.map((window) => window.requests)),
    requestsPerSecond: median(windows.map((window) => (window.requests / window.durationMs) * 1000)),
    latencyP50Us: median(own),
    latencyP99Us: quantile(own, 0.99),
    addedP50Us: median(own) - median(direct),
    addedP99Us: quantile(own, 0.99) - quantile(direct, 0.99),
    cpuUsMin: cpu.length === 0 ? null : minimum(cpu),
    cpuUsMedian: cpu.length === 0 ? null : median(cpu),
  };
}

function latencies(windows: readonly LoadWindow[]): number[] {
  return windows.flatMap((window) => [...window.latenciesUs]);
}

import { contextSwitches, cpuTimeUs } from '../harness/process-usage.ts';
import { differences, median, minimum, quotients, sum } from '../harness/statistics.ts';
import { Callers, denseBody, type LoadMachine, type LoadWindow, requestOf, textBody } from './load.ts';
import type { ServerName, ServerUnderTest } from './servers.ts';

/** One kind of load. */
export interface CallCase {
  readonly body: 'text' | 'dense';
  readonly bodyBytes: number;
  readonly concurrency: number;
}

/** One server under one kind of load, over all windows. */
export interface CallFigures extends CallCase {
  readonly server: ServerName;
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Medians of the windows' own quantiles, over the upstream asked directly, round by round. */
  readonly addedP50Us: number;
  readonly addedP99Us: number;
  /** CPU of all threads of the server per call, from the kernel's accounting, by window; null for the upstream alone. */
  readonly cpuUs: readonly number[] | null;
  readonly cpuUsMin: number | null;
  readonly cpuUsMedian: number | null;
  /** The same from the first window to the last, pauses included: shows work that was put off until the load was gone. */
  readonly cpuUsAll: number | null;
  readonly switchesPerCall: number | null;
}

export interface CallPlan {
  readonly windows: number;
  readonly windowMs: number;
  /** After each window, still of its account: what a server puts off is part of what a call costs. */
  readonly trailMs: number;
}

interface MeasuredWindow extends LoadWindow {
  readonly cpuUs: number;
  readonly switches: number;
}

interface Measured {
  readonly server: ServerUnderTest;
  readonly callers: Callers;
  readonly windows: MeasuredWindow[];
  cpuBeforeUs: number;
  cpuAllUs: number;
}

/** Loads every server in turn, again and again, so that a change of the machine's mood meets them all. */
export function compareCalls(
  machine: LoadMachine,
  servers: readonly ServerUnderTest[],
  load: CallCase,
  plan: CallPlan,
): CallFigures[] {
  const measured = servers.map((server): Measured => {
    const callers = new Callers(machine, server.port, [requestFor(server, load)], load.concurrency);
    callers.window({ durationMs: plan.windowMs });
    return { server, callers, windows: [], cpuBeforeUs: cpuOf(server), cpuAllUs: 0 };
  });
  for (let round = 0; round < plan.windows; round++) {
    for (const each of round % 2 === 0 ? measured : measured.toReversed())
      each.windows.push(measureWindow(machine, each.server.pid, each.callers, plan));
  }
  for (const each of measured) {
    each.cpuAllUs = cpuOf(each.server) - each.cpuBeforeUs;
    each.callers.close();
  }
  const direct = measured.find(({ server }) => server.name === 'direct')?.windows ?? [];
  return measured.map((each) => figures(each, load, direct));
}

export function measureWindow(
  machine: LoadMachine,
  pid: number | null,
  callers: Callers,
  { windowMs, trailMs }: CallPlan,
): MeasuredWindow {
  const [cpuBefore, switchesBefore] = pid === null ? [0, 0] : [cpuTimeUs(pid), contextSwitches(pid)];
  const window = callers.window({ durationMs: windowMs });
  const switches = pid === null ? 0 : contextSwitches(pid) - switchesBefore;
  machine.runFor(trailMs);
  return { ...window, switches, cpuUs: pid === null ? 0 : cpuTimeUs(pid) - cpuBefore };
}

/** CPU per call of one server over that of another: the median of what the rounds say. Null when either was not measured. */
export function cpuRatio(
  figures: readonly CallFigures[],
  load: Partial<CallCase>,
  server: ServerName,
  other: ServerName,
): number | null {
  const cpuOf = (name: ServerName) =>
    figures.find(
      (row) =>
        row.server === name &&
        row.bodyBytes === load.bodyBytes &&
        row.concurrency === load.concurrency &&
        row.body === load.body,
    )?.cpuUs ?? null;
  const [its, others] = [cpuOf(server), cpuOf(other)];
  return its === null || others === null ? null : median(quotients(its, others));
}

function requestFor(server: ServerUnderTest, { body, bodyBytes }: CallCase): Buffer {
  return requestOf(server.key, body === 'text' ? textBody(bodyBytes) : denseBody(bodyBytes));
}

function cpuOf({ pid }: ServerUnderTest): number {
  return pid === null ? 0 : cpuTimeUs(pid);
}

function figures(
  { server, windows, cpuAllUs }: Measured,
  load: CallCase,
  direct: readonly MeasuredWindow[],
): CallFigures {
  const requests = sum(windows.map((window) => window.requests));
  const cpuUs = server.pid === null ? null : windows.map((window) => window.cpuUs / window.requests);
  const added = (name: 'p50Us' | 'p99Us') =>
    median(
      differences(
        windows.map((window) => window[name]),
        direct.map((window) => window[name]),
      ),
    );
  return {
    ...load,
    server: server.name,
    requests,
    requestsPerSecond: median(windows.map((window) => (window.requests / window.durationMs) * 1000)),
    addedP50Us: added('p50Us'),
    addedP99Us: added('p99Us'),
    cpuUs,
    cpuUsMin: cpuUs === null ? null : minimum(cpuUs),
    cpuUsMedian: cpuUs === null ? null : median(cpuUs),
    cpuUsAll: cpuUs === null ? null : cpuAllUs / requests,
    switchesPerCall: cpuUs === null ? null : sum(windows.map((window) => window.switches)) / requests,
  };
}

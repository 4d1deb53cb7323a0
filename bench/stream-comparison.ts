import { residentKib } from '../harness/process-usage.ts';
import { differences, median, quantile } from '../harness/statistics.ts';
import type { FixedUpstream } from './fixed-upstream.ts';
import type { ServerName, ServerUnderTest } from './server-under-test.ts';
import { loadStreams, type StreamLoad, type StreamWindow } from './stream-load.ts';

/** Frames per second on every stream. */
export const frameRate = 50;

/** What one server did with a number of concurrent streams. */
export interface StreamFigures {
  readonly server: ServerName;
  readonly streams: number;
  /** Frames that arrived, of those that an ideal upstream would have sent. */
  readonly shareOfIdeal: number;
  /** The same, of those that arrived from the upstream without anything in between. */
  readonly shareOfDirect: number;
  readonly frameP99Us: number;
  /** Over the upstream asked directly. */
  readonly addedP99Us: number;
  readonly cpuSecondsPerMillionFrames: number | null;
  /** Growth of resident memory over the idle server, by stream: the most of all rounds. */
  readonly kibPerStream: number | null;
}

/** Resident memory of each server, in KiB; taken when it is warm and has not seen a stream. */
export function idleMemory(servers: readonly ServerUnderTest[]): ReadonlyMap<ServerName, number> {
  return new Map(
    servers.flatMap(({ name, pid }) => (pid === null ? [] : [[name, residentKib(pid)] as const])),
  );
}

export interface StreamPlan extends StreamLoad {
  readonly rounds: number;
}

/** Holds the same number of streams open through each server in turn, again and again; the direct one comes first. */
export async function compareStreams(
  servers: readonly ServerUnderTest[],
  upstream: FixedUpstream,
  plan: StreamPlan,
  idleKib: ReadonlyMap<ServerName, number>,
): Promise<StreamFigures[]> {
  const measured = servers.map((server) => ({ server, windows: [] as StreamWindow[] }));
  for (let round = 0; round < plan.rounds; round++) {
    for (const { server, windows } of measured) windows.push(await loadStreams(server, upstream, plan));
  }
  const direct = measured[0]?.windows ?? [];
  return measured.map(({ server, windows }) =>
    figures(server, plan.streams, windows, direct, idleKib.get(server.name) ?? null),
  );
}

/** Medians of the windows; what is compared with the direct one is compared round by round. */
function figures(
  server: ServerUnderTest,
  streams: number,
  windows: readonly StreamWindow[],
  direct: readonly StreamWindow[],
  idleKib: number | null,
): StreamFigures {
  const shares = windows.map((window) => shareOfIdeal(window, streams));
  const directShares = direct.map((window) => shareOfIdeal(window, streams));
  const latencies = windows.map((window) => quantile(window.frameLatenciesUs, 0.99));
  const directLatencies = direct.map((window) => quantile(window.frameLatenciesUs, 0.99));
  const cpu = windows.flatMap(({ cpuUs, frames }) => (cpuUs === null ? [] : [cpuUs / frames]));
  const growth = windows.flatMap(({ residentKib: resident }) =>
    resident === null || idleKib === null ? [] : [(resident - idleKib) / streams],
  );
  return {
    server: server.name,
    streams,
    shareOfIdeal: median(shares),
    shareOfDirect: median(shares.map((share, round) => share / (directShares[round] ?? share))),
    frameP99Us: median(latencies),
    addedP99Us: median(differences(latencies, directLatencies)),
    cpuSecondsPerMillionFrames: cpu.length === 0 ? null : median(cpu),
    kibPerStream: growth.length === 0 ? null : Math.max(0, ...growth),
  };
}

function shareOfIdeal({ frames, durationMs }: StreamWindow, streams: number): number {
  return frames / ((streams * frameRate * durationMs) / 1000);
}

import type { BenchScript } from './pinned-process.ts';
import { residentKib } from './process-usage.ts';
import type { ServerName, ServerUnderTest } from './server-under-test.ts';
import { quantile } from './statistics.ts';
import { loadStreams, type StreamLoad } from './stream-load.ts';

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
  /** Growth of resident memory over the idle server, by stream. */
  readonly kibPerStream: number | null;
}

/** Resident memory of each server before it has seen a stream, in KiB. */
export function idleMemory(servers: readonly ServerUnderTest[]): ReadonlyMap<ServerName, number> {
  return new Map(
    servers.flatMap(({ name, pid }) => (pid === null ? [] : [[name, residentKib(pid)] as const])),
  );
}

/** Holds the same number of streams open through each server in turn; the direct one comes first. */
export async function compareStreams(
  servers: readonly ServerUnderTest[],
  upstream: BenchScript,
  load: StreamLoad,
  idleKib: ReadonlyMap<ServerName, number>,
): Promise<StreamFigures[]> {
  const figures: StreamFigures[] = [];
  for (const server of servers) {
    const window = await loadStreams(server, upstream, load);
    const shareOfIdeal = window.frames / ((load.streams * frameRate * window.durationMs) / 1000);
    const frameP99Us = quantile(window.frameLatenciesUs, 0.99);
    const direct = figures[0] ?? { shareOfIdeal, frameP99Us };
    figures.push({
      server: server.name,
      streams: load.streams,
      shareOfIdeal,
      shareOfDirect: shareOfIdeal / direct.shareOfIdeal,
      frameP99Us,
      addedP99Us: frameP99Us - direct.frameP99Us,
      cpuSecondsPerMillionFrames: window.cpuUs === null ? null : window.cpuUs / window.frames,
      kibPerStream:
        window.residentKib === null
          ? null
          : (window.residentKib - (idleKib.get(server.name) ?? 0)) / load.streams,
    });
  }
  return figures;
}

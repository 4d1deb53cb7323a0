import { cpus, totalmem } from 'node:os';
import { type Columns, textTable } from '../harness/text-table.ts';
import type { LaneFigures } from './lane-comparison.ts';
import type { LoadFigures } from './load-comparison.ts';
import type { ServerName } from './server-under-test.ts';
import type { StreamFigures } from './stream-comparison.ts';

/** Everything one run found; what `--json` writes. */
export interface Report {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGib: number;
    readonly node: string;
  };
  readonly notes: readonly string[];
  /** CPU per call of Headgate over that of another server: 1.5 KB bodies, 32 at a time, least windows. Null when not measured. */
  readonly ratios: { readonly cpuVsNginx: number | null; readonly cpuVsBareProxy: number | null };
  readonly load: readonly LoadFigures[];
  readonly streams: readonly StreamFigures[];
  readonly lanes: readonly LaneFigures[];
}

export function makeReport(found: Pick<Report, 'notes' | 'load' | 'streams' | 'lanes'>): Report {
  const { load } = found;
  return {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
      node: process.version,
    },
    ratios: { cpuVsNginx: cpuRatio(load, 'nginx'), cpuVsBareProxy: cpuRatio(load, 'bare-proxy') },
    ...found,
  };
}

/** The report as a person reads it. */
export function printableReport(report: Report): string {
  const { machine, ratios } = report;
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`,
    ...report.notes,
    '',
    ...textTable(loadColumns, report.load),
    '',
    ...textTable(streamColumns, report.streams),
    '',
    ...textTable(laneColumns, report.lanes),
    '',
    `CPU per call against nginx ${times(ratios.cpuVsNginx)}, against the bare proxy ${times(ratios.cpuVsBareProxy)}`,
  ].join('\n');
}

const loadColumns: Columns<LoadFigures> = {
  body: (row) => `${row.bodyBytes / 1000} KB`,
  'at once': (row) => String(row.concurrency),
  server: (row) => row.server,
  'requests/s': (row) => row.requestsPerSecond.toFixed(0),
  'CPU µs min': (row) => fixed(row.cpuUsMin, 1),
  'CPU µs median': (row) => fixed(row.cpuUsMedian, 1),
  'added p50 µs': (row) => row.addedP50Us.toFixed(0),
  'added p99 µs': (row) => row.addedP99Us.toFixed(0),
};

const streamColumns: Columns<StreamFigures> = {
  streams: (row) => String(row.streams),
  server: (row) => row.server,
  'of ideal rate': (row) => `${(row.shareOfIdeal * 100).toFixed(1)} %`,
  'of direct': (row) => `${(row.shareOfDirect * 100).toFixed(1)} %`,
  'CPU s/M frames': (row) => fixed(row.cpuSecondsPerMillionFrames, 1),
  'KB/stream': (row) => fixed(row.kibPerStream, 0),
  'added p99 ms': (row) => (row.addedP99Us / 1000).toFixed(1),
};

const laneColumns: Columns<LaneFigures> = {
  'callers of': (row) => row.surface,
  upstream: (row) => row.upstream,
  '1 MB request, CPU ms': (row) => (row.requestCpuUs / 1000).toFixed(2),
  'of passthrough': (row) => times(row.requestRatio),
  '2,000 frames, CPU ms': (row) => (row.streamCpuUs / 1000).toFixed(1),
  'of passthrough ': (row) => times(row.streamRatio),
};

function cpuRatio(load: readonly LoadFigures[], other: ServerName): number | null {
  const cpuOf = (server: ServerName) =>
    load.find((row) => row.server === server && row.bodyBytes < 10_000 && row.concurrency > 1)?.cpuUsMin ??
    null;
  const own = cpuOf('headgate');
  const its = cpuOf(other);
  return own === null || its === null ? null : own / its;
}

function fixed(value: number | null, digits: number): string {
  return value === null ? '–' : value.toFixed(digits);
}

function times(ratio: number | null): string {
  return ratio === null ? 'not measured' : `${ratio.toFixed(2)} ×`;
}

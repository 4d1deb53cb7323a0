import { cpus, totalmem } from 'node:os';
import { type Columns, textTable } from '../harness/text-table.ts';
import type { CallFigures } from './calls.ts';
import { type ConnectionRatios, type Found, type Goal, goalsOf, type Ratios, ratiosOf } from './goals.ts';
import type { GrowthFigures } from './growth.ts';
import type { InsideFigures } from './insides.ts';
import type { LaneFigures } from './lane-comparison.ts';
import type { ProfileFigures } from './profile.ts';
import type { StreamFigures } from './streams.ts';

/** Everything one run found; what `--json` writes. */
export interface Report extends Found {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGib: number;
    readonly node: string;
  };
  readonly notes: readonly string[];
  readonly ratios: Ratios;
  readonly goals: readonly Goal[];
}

export function makeReport(found: Found, notes: readonly string[]): Report {
  const ratios = ratiosOf(found);
  return {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
      node: process.version,
    },
    notes,
    ratios,
    goals: goalsOf(found, ratios),
    ...found,
  };
}

/** The report as a person reads it. */
export function printableReport(report: Report): string {
  const { machine, ratios } = report;
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`,
    ...report.notes,
    ...table(callColumns, report.calls),
    ...table(streamColumns, report.streams),
    ...table(growthColumns, report.growth),
    ...table(insideColumns, report.insides),
    ...table(laneColumns, report.lanes),
    ...table(profileColumns, report.profile),
    ...ratioLines({
      'the bare proxy': ratios.cpuVsBareProxy,
      'the bare proxy, soon': ratios.soon,
      nginx: ratios.cpuVsNginx,
      'the other version': ratios.cpuVsAgainst,
    }),
    ...table(goalColumns, report.goals),
  ].join('\n');
}

function table<Row>(columns: Columns<Row>, rows: readonly Row[]): string[] {
  return rows.length === 0 ? [] : ['', ...textTable(columns, rows)];
}

function ratioLines(lines: Readonly<Record<string, ConnectionRatios>>): string[] {
  const measured = Object.entries(lines).filter(([, ratios]) =>
    Object.values(ratios).some((ratio) => ratio !== null),
  );
  if (measured.length === 0) return [];
  return [
    '',
    'CPU per call of Headgate against',
    ...measured.map(([name, { c1, c32, c256 }]) => {
      return `  ${name.padEnd(22)} ${times(c1)} at 1 connection, ${times(c32)} at 32, ${times(c256)} at 256`;
    }),
  ];
}

const callColumns: Columns<CallFigures> = {
  body: (row) => `${row.bodyBytes / 1000} KB ${row.body}`,
  connections: (row) => String(row.concurrency),
  server: (row) => row.server,
  'requests/s': (row) => row.requestsPerSecond.toFixed(0),
  'CPU µs min': (row) => fixed(row.cpuUsMin, 1),
  median: (row) => fixed(row.cpuUsMedian, 1),
  'with pauses': (row) => fixed(row.cpuUsAll, 1),
  'switches/call': (row) => fixed(row.switchesPerCall, 2),
  'added p50 µs': (row) => row.addedP50Us.toFixed(0),
  'added p99 µs': (row) => row.addedP99Us.toFixed(0),
};

const streamColumns: Columns<StreamFigures> = {
  streams: (row) => String(row.streams),
  server: (row) => row.server,
  'of ideal rate': (row) => `${(row.shareOfIdeal * 100).toFixed(1)} %`,
  'upstream sent': (row) => `${(row.shareSent * 100).toFixed(1)} %`,
  'CPU µs/frame': (row) => fixed(row.cpuUsPerFrame, 1),
  'KiB/stream': (row) => fixed(row.kibPerStream, 0),
  'delay p50 ms': (row) => row.delayP50Ms.toFixed(1),
  'p99 ms': (row) => row.delayP99Ms.toFixed(1),
  'first frame ms': (row) => row.firstFrameMedianMs.toFixed(1),
  'worst ms': (row) => row.firstFrameWorstMs.toFixed(1),
  'worst/median': (row) => (row.firstFrameWorstMs / row.firstFrameMedianMs).toFixed(1),
};

const growthColumns: Columns<GrowthFigures> = {
  '': (row) => `${row.count} ${row.of}`,
  'CPU µs min': (row) => row.cpuUsMin.toFixed(1),
  median: (row) => row.cpuUsMedian.toFixed(1),
  'more than with 1': (row) => row.extraUs.toFixed(1),
  'more MiB': (row) => fixed(row.extraMib, 0),
};

const insideColumns: Columns<InsideFigures> = {
  connections: (row) => String(row.connections),
  server: (row) => row.server,
  'allocated KiB/call': (row) => row.allocatedKibPerCall.toFixed(1),
  'switches/call': (row) => row.switchesPerCall.toFixed(2),
  'syscalls/call': (row) => fixed(row.syscallsPerCall, 1),
  '  the most frequent': (row) =>
    Object.entries(row.syscalls)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
};

const laneColumns: Columns<LaneFigures> = {
  'callers of': (row) => row.surface,
  upstream: (row) => row.upstream,
  '100 KB request, CPU ms': (row) => (row.requestCpuUs / 1000).toFixed(2),
  'of passthrough': (row) => times(row.requestRatio),
  '2,000 frames, CPU ms': (row) => (row.streamCpuUs / 1000).toFixed(1),
  'of passthrough ': (row) => times(row.streamRatio),
};

const profileColumns: Columns<ProfileFigures> = {
  profile: (row) => row.load,
  'self time': (row) => `${(row.share * 100).toFixed(1)} %`,
  place: (row) => row.place,
};

const goalColumns: Columns<Goal> = {
  goal: (row) => row.name,
  measured: (row) => `${row.value.toFixed(2)} ${row.unit}`,
  wanted: (row) => `${row.limit} ${row.unit}`,
  '': (row) => (row.isMet ? 'met' : 'MISSED'),
};

function fixed(value: number | null, digits: number): string {
  return value === null ? '–' : value.toFixed(digits);
}

function times(ratio: number | null): string {
  return ratio === null ? '–' : `${ratio.toFixed(2)} ×`;
}

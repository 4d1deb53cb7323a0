import type { KnownState, StatusFacts, SubjectCounts, SubjectState } from '../ports/status.ts';
import { quantile, readSpread, type Spread, spreadSize } from './spread.ts';

/** A cell with fewer calls is judged by probes too. */
export const callsMin = 20;
/** Shares of good calls that a state begins at. */
const operationalShare = 0.995;
const degradedShare = 0.95;
const partialShare = 0.5;
/** A subject is degraded when first content takes so many times as long as is usual. */
const slowRatio = 2;
/** It takes so many calls to know the usual. */
const usualMin = 100;
/** Cells in a row that it takes to enter a worse state, to leave it, and not to know any more. */
export const cellsToEnter = 2;
const cellsToLeave = 3;
const cellsToForget = 2;

const knownStates = ['operational', 'degraded', 'partial', 'outage'] as const satisfies readonly KnownState[];

/** A state machine remembers this of the cells it has seen. */
export interface MachineState {
  /** As of the last cells that could be judged. */
  readonly settled: KnownState;
  /** The last cells that could be judged, oldest first, with the times they began. */
  readonly recent: readonly { readonly state: KnownState; readonly startMs: number }[];
  /** Cells in a row that nothing was measured in; as many as it takes, before the first one. */
  readonly dark: number;
}

export const initialMachine: MachineState = { settled: 'operational', recent: [], dark: cellsToForget };

/** The state to be shown. */
export function shownState({ settled, dark }: MachineState): SubjectState {
  return dark >= cellsToForget ? 'unknown' : settled;
}

/** The word of one cell for itself, and why. */
export interface CellVerdict {
  readonly state: SubjectState;
  readonly facts: StatusFacts;
}

/** `usual` is the spread of the calm cells of the last seven days. */
export function judgeCell(counts: SubjectCounts, usual: Spread): CellVerdict {
  const calls = counts.good + counts.bad;
  const isProbed = calls < callsMin && counts.probesGood + counts.probesBad > 0;
  const good = counts.good + (isProbed ? counts.probesGood : 0);
  const total = calls + (isProbed ? counts.probesGood + counts.probesBad : 0);
  const spread = readSpread(counts.spread);
  const p95Ms = spreadSize(spread) < callsMin ? null : quantile(spread, 0.95);
  const usualP95Ms = spreadSize(usual) < usualMin ? null : quantile(usual, 0.95);
  const isSlow = p95Ms !== null && usualP95Ms !== null && p95Ms > slowRatio * usualP95Ms;
  const facts = {
    ...{ good, total, isProbed },
    ...(p95Ms === null ? {} : { p95Ms: Math.round(p95Ms) }),
    ...(usualP95Ms === null ? {} : { usualP95Ms: Math.round(usualP95Ms) }),
  };
  return { state: total === 0 ? 'unknown' : stateOf(good / total, isSlow), facts };
}

function stateOf(share: number, isSlow: boolean): KnownState {
  if (share < partialShare) return 'outage';
  if (share < degradedShare) return 'partial';
  return share < operationalShare || isSlow ? 'degraded' : 'operational';
}

/** Another cell has ended. A change holds from the first of the cells that made it. */
export function advance(
  machine: MachineState,
  state: SubjectState,
  startMs: number,
): { readonly machine: MachineState; readonly changedAtMs: number | null } {
  if (state === 'unknown') {
    const dark = Math.min(cellsToForget, machine.dark + 1);
    const recent = dark < cellsToForget ? machine.recent : [];
    return { machine: { ...machine, recent, dark }, changedAtMs: null };
  }
  const recent = [...machine.recent, { state, startMs }].slice(-cellsToLeave);
  const current = severityOf(machine.settled);
  const entering = recent.slice(-cellsToEnter);
  const worse = Math.min(...entering.map((cell) => severityOf(cell.state)));
  const better = Math.max(...recent.map((cell) => severityOf(cell.state)));
  const next =
    entering.length === cellsToEnter && worse > current
      ? { severity: worse, from: entering }
      : recent.length === cellsToLeave && better < current
        ? { severity: better, from: recent }
        : null;
  const settled = next === null ? machine.settled : (knownStates[next.severity] ?? 'outage');
  return {
    machine: { settled, recent, dark: 0 },
    changedAtMs: next === null ? null : (next.from[0]?.startMs ?? startMs),
  };
}

export function severityOf(state: KnownState): number {
  return knownStates.indexOf(state);
}

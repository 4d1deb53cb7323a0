import {
  type CellCounts,
  cellMs,
  type DayCounts,
  dayMs,
  type KnownState,
  type StatusFacts,
  type Subject,
  type SubjectCounts,
} from '../ports/status.ts';
import { advance, callsMin, judgeCell, type MachineState } from './machine.ts';
import { addSpread, readSpread, type Spread, spreadSize } from './spread.ts';

/** Cells are kept, and caught up with, for so long. */
export const cellsKeptMs = dayMs;
/** The time that a usual latency is taken from. */
export const usualDays = 7;
/** A cell is judged so long after its end: every process has handed in its counts by then. */
export const judgeDelayMs = 20_000;

/** A subject as far as it has been judged. */
export interface JudgedSubject extends Subject {
  /** The cells before it are judged. */
  readonly judgedToMs: number;
  readonly machine: MachineState;
}

/** Another state, and the measurement that led to it. */
export interface Transition {
  readonly subject: Subject;
  readonly state: KnownState;
  readonly atMs: number;
  readonly facts: StatusFacts;
}

/** Adds to a day's counts; `calm` is the spread of those cells that nothing was wrong in. */
export interface DayIncrement extends DayCounts {
  readonly calm: string;
}

export interface Judgement {
  readonly subject: JudgedSubject;
  readonly days: readonly DayIncrement[];
  readonly transitions: readonly Transition[];
}

/** Calm spreads of a subject by the day they are of. */
export type CalmDays = Map<number, Spread>;

/**
 * Judges the cells of a subject that have ended since it was judged last, oldest first: those that nobody measured, too.
 * `calm` is added to.
 */
export function judgeSubject(
  known: JudgedSubject,
  cells: ReadonlyMap<number, CellCounts>,
  calm: CalmDays,
  untilMs: number,
): Judgement {
  const subject = { kind: known.kind, name: known.name };
  let { machine } = known;
  const days: DayIncrement[] = [];
  const transitions: Transition[] = [];
  const fromMs = Math.max(known.judgedToMs, untilMs - cellsKeptMs);
  for (let startMs = fromMs; startMs < untilMs; startMs += cellMs) {
    const counts = cells.get(startMs);
    const day = startMs - (startMs % dayMs);
    const usual = counts === undefined ? new Map() : usualSpread(calm, day, counts);
    const { state, facts } = judgeCell(counts ?? nothingCounted, usual);
    const next = advance(machine, state, startMs);
    machine = next.machine;
    if (next.changedAtMs !== null)
      transitions.push({ subject, state: machine.settled, atMs: next.changedAtMs, facts });
    if (counts === undefined) continue;
    const isCalm = state === 'operational';
    days.push({
      ...{ ...subject, ...countsOf(counts), startMs: day },
      ...{ cells: state === 'unknown' ? 0 : 1, calm: isCalm ? counts.spread : '' },
    });
    if (isCalm) addSpread(spreadOf(calm, day), readSpread(counts.spread));
  }
  const judgedToMs = Math.max(known.judgedToMs, untilMs);
  return { subject: { ...subject, judgedToMs, machine }, days, transitions };
}

const nothingCounted: SubjectCounts = { good: 0, bad: 0, probesGood: 0, probesBad: 0, spread: '' };

function countsOf({ good, bad, probesGood, probesBad, spread }: SubjectCounts): SubjectCounts {
  return { good, bad, probesGood, probesBad, spread };
}

/** Summed only where a cell has enough to be compared with it. */
function usualSpread(calm: CalmDays, day: number, counts: SubjectCounts): Spread {
  const usual: Spread = new Map();
  if (spreadSize(readSpread(counts.spread)) < callsMin) return usual;
  for (const [of, spread] of calm) if (of <= day && of >= day - usualDays * dayMs) addSpread(usual, spread);
  return usual;
}

function spreadOf(calm: CalmDays, day: number): Spread {
  const found = calm.get(day);
  if (found !== undefined) return found;
  const begun: Spread = new Map();
  calm.set(day, begun);
  return begun;
}

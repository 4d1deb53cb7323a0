import { DatabaseSync } from 'node:sqlite';
import type { AttemptEntry } from '../../packages/gateway/src/ports/ledger.ts';
import type { EndedAttempt } from '../../packages/gateway/src/ports/observer.ts';
import {
  cellMs,
  dayMs,
  type IncidentEntry,
  type KnownState,
  type Subject,
} from '../../packages/gateway/src/ports/status.ts';
import type { LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import type { Outcome } from '../../packages/gateway/src/route/outcome.ts';
import { severityOf } from '../../packages/gateway/src/status/machine.ts';
import { StatusTally } from '../../packages/gateway/src/status/tally.ts';
import { migrate } from '../../packages/gateway/src/store/sqlite/migrations.ts';
import { StatusMeasures } from '../../packages/gateway/src/store/sqlite/status-measures.ts';

/** What the status page tells of a run: for it, so many milliseconds of the run are a cell of five minutes. */
export interface Pace {
  /** The beginning of the first cell. */
  readonly startMs: number;
  readonly msPerCell: number;
}

/** An entry of an incident, at its place in the run. */
export interface ToldEntry extends Pick<IncidentEntry, 'kind' | 'subject' | 'state'> {
  /** Cells since the beginning. */
  readonly cell: number;
}

/** Midnight of a day: all cells of a run belong to one. */
const beginningMs = Date.UTC(2026, 0, 1);

/**
 * Has the calls of a ledger counted, judged and told as the gateway does that for its status page, but for the length of a cell: probes are
 * not in the ledger, and so nothing is known of cells without calls.
 */
export function toldOf(entries: readonly LedgerRecord[], { startMs, msPerCell }: Pace): readonly ToldEntry[] {
  const tally = new StatusTally(() => true);
  const subjects = new Map<string, Subject>();
  let last = beginningMs;
  const ended = entries.flatMap(({ status, finishedAtMs, ...entry }) =>
    finishedAtMs === null || status === 'open' || status === 'interrupted' || finishedAtMs < startMs
      ? []
      : [{ ...entry, status, finishedAtMs }],
  );
  for (const entry of ended.sort((a, b) => a.finishedAtMs - b.finishedAtMs)) {
    const finishedAtMs = Math.floor(beginningMs + ((entry.finishedAtMs - startMs) / msPerCell) * cellMs);
    if (finishedAtMs >= beginningMs + dayMs) throw new Error('the run has more cells than a day');
    const attempts = entry.attempts.flatMap(endedAttempts);
    tally.callFinished({ ...entry, finishedAtMs }, attempts);
    last = finishedAtMs;
    const named: readonly Subject[] = [
      { kind: 'model', name: entry.modelRequested },
      ...attempts.map(({ target }): Subject => ({ kind: 'channel', name: target.channel.id })),
    ];
    for (const subject of named) subjects.set(`${subject.kind} ${subject.name}`, subject);
  }
  return judged(tally, [...subjects.values()], last);
}

function judged(tally: StatusTally, subjects: readonly Subject[], lastMs: number): readonly ToldEntry[] {
  using database = new DatabaseSync(':memory:', { readBigInts: true });
  migrate(database);
  const measures = new StatusMeasures(database);
  measures.add(tally.take(), beginningMs);
  measures.judge(subjects, lastMs + cellMs);
  return measures.history(lastMs + cellMs).entries.map(({ kind, subject, state, atMs }) => ({
    ...{ kind, subject, state },
    cell: Math.round((atMs - beginningMs) / cellMs),
  }));
}

/** An attempt as it ended: the ledger keeps what came of it, and the status it was refused with. */
function endedAttempts({
  channelId,
  upstreamModel,
  ttftMs,
  ...attempt
}: AttemptEntry): readonly EndedAttempt[] {
  const outcome = outcomeOf(attempt);
  // Whoever counts looks at the target's channel alone.
  const target = { channel: { id: channelId }, upstreamModel } as EndedAttempt['target'];
  return outcome === null ? [] : [{ target, outcome, ttftMs }];
}

function outcomeOf({ result, httpStatus }: Pick<AttemptEntry, 'result' | 'httpStatus'>): Outcome | null {
  switch (result) {
    case 'answered':
      return { kind: 'answered', reading: null as never };
    case 'unreachable':
      return { kind: 'unreachable', detail: '', sent: false };
    case 'timed_out':
      return { kind: 'timed-out', phase: 'first-content', committed: false, reading: null };
    case 'cut_before_content':
    case 'cut_after_content':
      return { kind: 'cut', committed: result === 'cut_after_content', detail: '', reading: null };
    case 'refused':
      return refusalOf(httpStatus ?? 0);
    default:
      return null;
  }
}

function refusalOf(httpStatus: number): Outcome | null {
  const kind = httpStatus === 429 ? 'rate-limited' : httpStatus >= 500 ? 'server-error' : null;
  return kind === null
    ? null
    : ({ kind: 'refused', refusal: { kind, message: '' }, retryAfterMs: null } as Outcome);
}

/** A time in which a subject was not well. */
export interface ToldSpan {
  /** `model m` or `channel c`. */
  readonly subject: string;
  readonly worst: KnownState;
  readonly fromCell: number;
  /** Null where it was not over when the run ended. */
  readonly toCell: number | null;
}

/** When each subject was not well, in the order of their beginnings. */
export function spansOf(told: readonly ToldEntry[]): readonly ToldSpan[] {
  const open = new Map<string, ToldSpan>();
  const spans: ToldSpan[] = [];
  for (const { kind, subject, state, cell } of told) {
    if (subject === null) continue;
    const name = `${subject.kind} ${subject.name}`;
    const span = open.get(name);
    if (kind === 'recovered') {
      if (span !== undefined) spans.push({ ...span, toCell: cell });
      open.delete(name);
    } else if (state !== null) {
      const isWorse = span === undefined || severityOf(state) > severityOf(span.worst);
      open.set(name, {
        fromCell: cell,
        toCell: null,
        ...span,
        subject: name,
        worst: isWorse ? state : span.worst,
      });
    }
  }
  return [...spans, ...open.values()].sort((a, b) => a.fromCell - b.fromCell);
}

import {
  type CellCounts,
  cellMs,
  type DayCounts,
  dayMs,
  type IncidentEntry,
  type KnownState,
  type ListedSubject,
  type Maintenance,
  type PublicDeployment,
  type StatusHistory,
  type StatusView,
  type Subject,
  type SubjectCounts,
  type SubjectState,
} from '../ports/status.ts';
import { concerns, incidentsOf, subjectKey } from './incidents.ts';
import { callsMin, severityOf } from './machine.ts';
import { addSpread, quantile, readSpread, type Spread } from './spread.ts';

const daysShown = 90;
/** The day is shown in pieces of a quarter of an hour. */
export const slotMs = 3 * cellMs;
const incidentsMax = 60;

export type ShownState = SubjectState | 'maintenance';

/** Shares and times of some span; no number of calls, which is nobody else's matter. */
export interface Quality {
  /** Null where nothing was measured. */
  readonly share: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** There were few calls, or none, so probes are counted too. */
  readonly isProbed: boolean;
}

export interface DayBar extends Quality {
  readonly startMs: number;
  readonly worst: SubjectState;
  /** Minutes of the day in each state that is not well, by its incidents. */
  readonly minutes: Readonly<Partial<Record<KnownState, number>>>;
}

export interface Slot extends Quality {
  readonly startMs: number;
}

export interface BoardRow extends ListedSubject {
  readonly state: ShownState;
  readonly days: readonly DayBar[];
  readonly slots: readonly Slot[];
  readonly day: Quality;
  readonly quarter: Quality;
}

export interface BoardEntry extends IncidentEntry {
  /** Null where it is about no subject of its own. */
  readonly label: string | null;
}

export interface BoardIncident {
  readonly number: number;
  readonly openedAtMs: number;
  readonly closedAtMs: number | null;
  readonly worst: KnownState;
  readonly labels: readonly string[];
  /** Oldest first. */
  readonly entries: readonly BoardEntry[];
}

export interface BoardWork extends Pick<Maintenance, 'id' | 'title' | 'fromMs' | 'toMs'> {
  readonly phase: 'planned' | 'running' | 'done';
  /** Null where everything is concerned. */
  readonly labels: readonly string[] | null;
}

/** All that the page shows: what may not be shown is not in it. */
export interface Board {
  readonly nowMs: number;
  readonly deployment: PublicDeployment;
  readonly overall: ShownState;
  readonly models: readonly BoardRow[];
  /** Models that nothing was measured of. */
  readonly silent: readonly string[];
  readonly channels: readonly BoardRow[];
  readonly overhead: { readonly p50Us: number; readonly p99Us: number } | null;
  readonly all: Quality;
  /** Newest first. */
  readonly incidents: readonly BoardIncident[];
  readonly works: readonly BoardWork[];
}

/** Makes the page's contents: only subjects that the view lists are in it. */
export function boardOf(view: StatusView, history: StatusHistory): Board {
  const { nowMs, deployment, subjects } = view;
  const rows = rowsOf(view, history);
  const measured = rows.filter(({ days }) => days.some(({ worst }) => worst !== 'unknown'));
  const models = measured.filter(({ kind }) => kind === 'model');
  const gateway = history.cells.filter(({ kind }) => kind === 'gateway');
  const own = summed(gateway);
  const [p50Us, p99Us] = [quantile(own.spread, 0.5), quantile(own.spread, 0.99)];
  return {
    ...{ nowMs, deployment, models },
    overall: overallState(models),
    silent: rows
      .filter((row) => row.kind === 'model' && !measured.includes(row))
      .map(({ label }) => label)
      .sort(),
    channels: measured.filter(({ kind }) => kind === 'channel'),
    overhead: p50Us === null || p99Us === null ? null : { p50Us, p99Us },
    all: qualityOf(gateway),
    incidents: boardIncidents(history, subjects),
    works: boardWorks(history, subjects, nowMs),
  };
}

/** The page as a whole is as bad as most of its models, and never well while one of them is not. */
function overallState(models: readonly BoardRow[]): ShownState {
  const known = models.flatMap(({ state }) => (state === 'unknown' ? [] : [state]));
  if (known.length === 0) return 'unknown';
  const severities = known.map((state) => (state === 'maintenance' ? 0 : severityOf(state)));
  const worst = Math.max(...severities);
  if (worst === 0) return known.includes('maintenance') ? 'maintenance' : 'operational';
  if (worst === 1) return 'degraded';
  const out = severities.filter((severity) => severity === 3).length;
  return out * 2 > known.length ? 'outage' : 'partial';
}

function rowsOf({ nowMs, subjects }: StatusView, history: StatusHistory): readonly BoardRow[] {
  const states = new Map(history.subjects.map((each) => [subjectKey(each), each.state]));
  const cells = Map.groupBy(history.cells, subjectKey);
  const days = Map.groupBy(history.days, subjectKey);
  const running = history.maintenance.filter((work) => isUnderWay(work, nowMs));
  const troubles = troublesOf(history.entries, nowMs);
  return subjects.map((subject) => {
    const key = subjectKey(subject);
    const own = cells.get(key) ?? [];
    const ownDays = days.get(key) ?? [];
    const isMaintained = running.some((work) => concerns(work, subject));
    return {
      ...subject,
      state: isMaintained ? 'maintenance' : (states.get(key) ?? 'unknown'),
      days: barsOf(ownDays, troubles.get(key) ?? [], nowMs),
      slots: slotsOf(own, nowMs),
      day: qualityOf(own),
      quarter: qualityOf(ownDays),
    };
  });
}

function isUnderWay({ fromMs, toMs, cancelledAtMs }: Maintenance, nowMs: number): boolean {
  return cancelledAtMs === null && fromMs <= nowMs && nowMs < toMs;
}

interface Trouble {
  readonly state: KnownState;
  readonly fromMs: number;
  readonly toMs: number;
}

/** When each subject was in which state, as its incidents tell. */
function troublesOf(
  entries: readonly IncidentEntry[],
  nowMs: number,
): ReadonlyMap<string, readonly Trouble[]> {
  const told = entries.filter(({ subject }) => subject !== null);
  const bySubject = Map.groupBy(told, ({ subject }) => (subject === null ? '' : subjectKey(subject)));
  return new Map(
    [...bySubject].map(([key, own]) => {
      const ordered = own.toSorted((a, b) => a.atMs - b.atMs || a.number - b.number);
      const troubles = ordered.flatMap(({ state, atMs }, at): Trouble[] => {
        const toMs = ordered[at + 1]?.atMs ?? nowMs;
        return state === null || state === 'operational' ? [] : [{ state, fromMs: atMs, toMs }];
      });
      return [key, troubles];
    }),
  );
}

function barsOf(days: readonly DayCounts[], troubles: readonly Trouble[], nowMs: number): readonly DayBar[] {
  const byStart = new Map(days.map((day) => [day.startMs, day]));
  const today = nowMs - (nowMs % dayMs);
  return Array.from({ length: daysShown }, (_, at) => {
    const startMs = today - (daysShown - 1 - at) * dayMs;
    const counts = byStart.get(startMs);
    const quality = qualityOf(counts === undefined ? [] : [counts]);
    const minutes: Partial<Record<KnownState, number>> = {};
    for (const { state, fromMs, toMs } of troubles) {
      const ms = Math.min(toMs, startMs + dayMs, nowMs) - Math.max(fromMs, startMs);
      if (ms > 0) minutes[state] = (minutes[state] ?? 0) + Math.round(ms / 60_000);
    }
    const known = (['outage', 'partial', 'degraded'] as const).find((state) => (minutes[state] ?? 0) > 0);
    return {
      ...quality,
      startMs,
      minutes,
      worst: known ?? (quality.share === null ? 'unknown' : 'operational'),
    };
  });
}

function slotsOf(cells: readonly CellCounts[], nowMs: number): readonly Slot[] {
  const bySlot = Map.groupBy(cells, ({ startMs }) => startMs - (startMs % slotMs));
  const last = nowMs - (nowMs % slotMs);
  return Array.from({ length: dayMs / slotMs }, (_, at) => {
    const startMs = last - (dayMs / slotMs - 1 - at) * slotMs;
    return { startMs, ...qualityOf(bySlot.get(startMs) ?? []) };
  });
}

function summed(counts: readonly SubjectCounts[]) {
  const spread: Spread = new Map();
  const sum = { good: 0, bad: 0, probesGood: 0, probesBad: 0, spread };
  for (const each of counts) {
    sum.good += each.good;
    sum.bad += each.bad;
    sum.probesGood += each.probesGood;
    sum.probesBad += each.probesBad;
    addSpread(spread, readSpread(each.spread));
  }
  return sum;
}

function qualityOf(counts: readonly SubjectCounts[]): Quality {
  const { good, bad, probesGood, probesBad, spread } = summed(counts);
  const isProbed = good + bad < callsMin && probesGood + probesBad > 0;
  const [well, all] = isProbed
    ? [good + probesGood, good + bad + probesGood + probesBad]
    : [good, good + bad];
  return {
    share: all === 0 ? null : well / all,
    p50Ms: quantile(spread, 0.5),
    p95Ms: quantile(spread, 0.95),
    isProbed,
  };
}

function boardIncidents(
  { entries }: StatusHistory,
  listed: readonly ListedSubject[],
): readonly BoardIncident[] {
  const labels = new Map(listed.map((subject) => [subjectKey(subject), subject.label]));
  const labelOf = (subject: Subject | null) =>
    subject === null ? null : (labels.get(subjectKey(subject)) ?? null);
  return incidentsOf(entries)
    .toReversed()
    .flatMap((incident): BoardIncident[] => {
      const shown = incident.entries
        .filter(({ subject }) => subject === null || labelOf(subject) !== null)
        .map((entry) => ({ ...entry, label: labelOf(entry.subject) }));
      const named = new Set(shown.flatMap(({ label }) => label ?? []));
      if (named.size === 0) return [];
      const worst = shown
        .flatMap(({ state }) => state ?? [])
        .reduce<KnownState>((one, other) => (severityOf(other) > severityOf(one) ? other : one), 'degraded');
      const { number, openedAtMs, closedAtMs } = incident;
      return [{ number, openedAtMs, closedAtMs, worst, labels: [...named], entries: shown }];
    })
    .slice(0, incidentsMax);
}

/** Work is shown from its announcement until a week after its end. */
function boardWorks(
  { maintenance }: StatusHistory,
  listed: readonly ListedSubject[],
  nowMs: number,
): readonly BoardWork[] {
  return maintenance
    .filter(({ cancelledAtMs, toMs }) => cancelledAtMs === null && toMs > nowMs - 7 * dayMs)
    .flatMap((work): BoardWork[] => {
      const { id, title, fromMs, toMs, subjects } = work;
      const labels = subjects === null ? null : listed.filter((each) => concerns(work, each));
      if (labels?.length === 0) return [];
      const phase = nowMs < fromMs ? 'planned' : nowMs < toMs ? 'running' : 'done';
      return [{ id, title, fromMs, toMs, phase, labels: labels?.map(({ label }) => label) ?? null }];
    })
    .toSorted((a, b) => a.fromMs - b.fromMs);
}

import type {
  IncidentEntry,
  KnownState,
  Maintenance,
  NewIncidentEntry,
  StatusFacts,
  Subject,
} from '../ports/status.ts';
import type { JudgedSubject, Transition } from './judge.ts';
import { cellsToEnter } from './machine.ts';

/** Things that go wrong so soon one after the other are the same incident. */
const togetherMs = 10 * 60_000;

/** An incident as its entries tell it. */
export interface Incident {
  readonly number: number;
  readonly openedAtMs: number;
  readonly closedAtMs: number | null;
  /** The last state of each of its subjects, by `subjectKey`. */
  readonly states: ReadonlyMap<string, KnownState>;
  readonly entries: readonly IncidentEntry[];
}

export function subjectKey({ kind, name }: Subject): string {
  return `${kind} ${name}`;
}

/** Puts entries together to incidents, oldest first. */
export function incidentsOf(entries: readonly IncidentEntry[]): readonly Incident[] {
  const byIncident = Map.groupBy(entries, ({ incident }) => incident);
  return [...byIncident].map(([number, own]) => incidentOf(number, own)).sort((a, b) => a.number - b.number);
}

function incidentOf(number: number, entries: readonly IncidentEntry[]): Incident {
  const states = new Map<string, KnownState>();
  for (const { subject, state } of entries)
    if (subject !== null) states.set(subjectKey(subject), state ?? 'operational');
  return {
    number,
    openedAtMs: Math.min(...entries.map(({ atMs }) => atMs)),
    closedAtMs: entries.find(({ kind }) => kind === 'closed')?.atMs ?? null,
    states,
    entries,
  };
}

/** An incident that grows while news are told. */
interface OpenIncident {
  readonly number: number;
  readonly openedAtMs: number;
  readonly states: Map<string, KnownState>;
}

/** Tells what is new: opens incidents, goes on with those that are open, and closes them when all of their subjects are well. */
export class IncidentTeller {
  readonly #open: OpenIncident[];
  readonly #maintenance: readonly Maintenance[];
  readonly #told: IncidentEntry[] = [];
  #number: number;

  /** `lastNumber` is that of the last entry of all. */
  constructor(open: readonly Incident[], maintenance: readonly Maintenance[], lastNumber: number) {
    this.#open = open.map(({ number, openedAtMs, states }) => ({
      number,
      openedAtMs,
      states: new Map(states),
    }));
    this.#maintenance = maintenance.filter(({ cancelledAtMs }) => cancelledAtMs === null);
    this.#number = lastNumber;
  }

  get entries(): readonly IncidentEntry[] {
    return this.#told;
  }

  /** A subject has entered another state. */
  tell({ subject, state, atMs, facts }: Transition): void {
    const incident = this.#incidentWith(subject);
    if (state === 'operational') {
      if (incident !== undefined) this.#recover(incident, subject, atMs, state, facts);
      return;
    }
    if (incident !== undefined) this.#add(incident, 'changed', subject, state, atMs, facts);
    else if (!this.isMaintained(subject, atMs)) this.#begin(subject, state, atMs, facts);
  }

  /** A subject is in trouble and no incident says so: its maintenance is over. */
  tellStanding({ kind, name, machine }: JudgedSubject): void {
    const subject = { kind, name };
    if (machine.settled === 'operational' || this.#incidentWith(subject) !== undefined) return;
    const [first, ...others] = machine.recent.slice(-cellsToEnter);
    if (first === undefined || others.length === 0) return;
    if ([first, ...others].every(({ startMs }) => !this.isMaintained(subject, startMs)))
      this.#begin(subject, machine.settled, first.startMs, null);
  }

  /** A subject is there no more, or nobody has measured it for long. */
  tellGone(isGone: (key: string) => boolean, nowMs: number): void {
    for (const incident of [...this.#open])
      for (const [key, state] of incident.states)
        if (state !== 'operational' && isGone(key))
          this.#recover(incident, subjectOf(key), nowMs, null, null);
  }

  isMaintained(subject: Subject, atMs: number): boolean {
    return this.#maintenance.some(
      (work) => atMs >= work.fromMs && atMs < work.toMs && concerns(work, subject),
    );
  }

  #incidentWith(subject: Subject): OpenIncident | undefined {
    return this.#open.find(({ states }) => states.has(subjectKey(subject)));
  }

  #begin(subject: Subject, state: KnownState, atMs: number, facts: StatusFacts | null): void {
    const together = this.#open.find(({ openedAtMs }) => Math.abs(atMs - openedAtMs) <= togetherMs);
    if (together !== undefined) return this.#add(together, 'joined', subject, state, atMs, facts);
    const incident = { number: this.#number + 1, openedAtMs: atMs, states: new Map<string, KnownState>() };
    this.#open.push(incident);
    this.#add(incident, 'opened', subject, state, atMs, facts);
  }

  #recover(
    incident: OpenIncident,
    subject: Subject,
    atMs: number,
    state: 'operational' | null,
    facts: StatusFacts | null,
  ): void {
    this.#add(incident, 'recovered', subject, state, atMs, facts);
    if ([...incident.states.values()].some((each) => each !== 'operational')) return;
    this.#write({ ...nothingMore, incident: incident.number, atMs, kind: 'closed' });
    this.#open.splice(this.#open.indexOf(incident), 1);
  }

  #add(
    incident: OpenIncident,
    kind: IncidentEntry['kind'],
    subject: Subject,
    state: KnownState | null,
    atMs: number,
    facts: StatusFacts | null,
  ): void {
    incident.states.set(subjectKey(subject), state ?? 'operational');
    this.#write({ ...nothingMore, incident: incident.number, atMs, kind, subject, state, facts });
  }

  #write(entry: NewIncidentEntry): void {
    this.#number++;
    this.#told.push({ number: this.#number, ...entry });
  }
}

const nothingMore = { subject: null, state: null, facts: null, words: null, author: null };

export function concerns({ subjects }: Maintenance, subject: Subject): boolean {
  return subjects === null || subjects.some((each) => subjectKey(each) === subjectKey(subject));
}

function subjectOf(key: string): Subject {
  const at = key.indexOf(' ');
  // Keys are made by `subjectKey` alone.
  return { kind: key.slice(0, at) as Subject['kind'], name: key.slice(at + 1) };
}

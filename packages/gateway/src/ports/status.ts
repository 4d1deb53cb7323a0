import type { ChannelFailure } from './channel-history.ts';

/** Something whose state is measured: a model, a channel, or the gateway's own part of all calls, whose name is empty. */
export type SubjectKind = 'model' | 'channel' | 'gateway';

export interface Subject {
  readonly kind: SubjectKind;
  /** The id of the model or the channel. */
  readonly name: string;
}

/** A cell of time, in milliseconds. */
export const cellMs = 300_000;
export const dayMs = 86_400_000;

/** The calls of a subject that ended in some time. */
export interface SubjectCounts {
  readonly good: number;
  readonly bad: number;
  readonly probesGood: number;
  readonly probesBad: number;
  /** Milliseconds to first content; of the gateway, microseconds of its own. See `Spread`. */
  readonly spread: string;
}

/** Counts of a cell, or an increment of them. */
export interface CellCounts extends Subject, SubjectCounts {
  readonly startMs: number;
  /** How often a channel failed in which way, written as a spread is: `kind:count`. Left out where it did not. */
  readonly faults?: string;
}

/** Counts of a day, which begins at midnight UTC. */
export interface DayCounts extends Subject, SubjectCounts {
  readonly startMs: number;
  /** How many cells of it were measured. */
  readonly cells: number;
}

export const subjectStates = ['operational', 'degraded', 'partial', 'outage', 'unknown'] as const;
/** `unknown`: nothing was measured lately. */
export type SubjectState = (typeof subjectStates)[number];
/** A state that was measured, from best to worst. */
export type KnownState = Exclude<SubjectState, 'unknown'>;

export interface StandingSubject extends Subject {
  readonly state: SubjectState;
}

/** Words of an operator by language. */
export interface PublicWords {
  readonly en?: string;
  readonly zh?: string;
}

/** The measurement that an entry is about. */
export interface StatusFacts {
  /** Calls or probes that went well, and all of them. */
  readonly good: number;
  readonly total: number;
  readonly isProbed: boolean;
  /** Milliseconds to first content that 95 of 100 calls stayed below, and what is usual; left out where neither is known. */
  readonly p95Ms?: number;
  readonly usualP95Ms?: number;
}

/**
 * An entry of an incident. It is never changed: what is known later is another entry. `opened` begins it, `joined` brings another
 * subject into it, `changed` and `recovered` tell of one, `closed` ends it, and `words` are an operator's.
 */
export interface IncidentEntry {
  readonly number: number;
  readonly incident: number;
  /** The beginning of what it tells of. */
  readonly atMs: number;
  readonly kind: 'opened' | 'joined' | 'changed' | 'recovered' | 'closed' | 'words';
  /** Null where it is about the whole incident. */
  readonly subject: Subject | null;
  readonly state: KnownState | null;
  readonly facts: StatusFacts | null;
  readonly words: PublicWords | null;
  readonly author: string | null;
}

export type NewIncidentEntry = Omit<IncidentEntry, 'number'>;

/** Work that is announced: its subjects have no incidents meanwhile. */
export interface Maintenance {
  readonly id: number;
  readonly title: PublicWords;
  readonly fromMs: number;
  readonly toMs: number;
  /** Null where everything is concerned. */
  readonly subjects: readonly Subject[] | null;
  readonly cancelledAtMs: number | null;
  readonly author: string;
}

export type NewMaintenance = Omit<Maintenance, 'id' | 'cancelledAtMs'>;

/** Everything that the status page is made of. */
export interface StatusHistory {
  readonly subjects: readonly StandingSubject[];
  readonly cells: readonly CellCounts[];
  readonly days: readonly DayCounts[];
  readonly entries: readonly IncidentEntry[];
  readonly maintenance: readonly Maintenance[];
}

/** The deployment as its status page shows it: nothing of it is private. */
export interface PublicDeployment {
  readonly name: string;
  readonly consoleOrigin: string;
  readonly language: 'en' | 'zh-CN';
  readonly siblings: readonly PublicSibling[];
  /** True where answers are made up. */
  readonly isSimulated: boolean;
}

export interface PublicSibling {
  readonly name: string;
  readonly consoleOrigin: string;
  readonly language: 'en' | 'zh-CN' | null;
  readonly region: string | null;
}

/** A subject that the page may name, and how. */
export interface ListedSubject extends Subject {
  readonly label: string;
}

/** A page is made of the store's rows and this. */
export interface StatusView {
  readonly nowMs: number;
  readonly deployment: PublicDeployment;
  readonly subjects: readonly ListedSubject[];
  /** The directory that the files are written to as well; null writes none. */
  readonly directory: string | null;
}

/** A file of the status page, as it is sent. */
export interface StatusFile {
  /** Its path, such as `/status.json`. */
  readonly path: string;
  readonly type: string;
  readonly etag: string;
  readonly bytes: Uint8Array;
  /** Null where it would be no shorter. */
  readonly gzipped: Uint8Array | null;
}

/** Keeps what is measured, of all processes that share the store. */
export interface StatusStore {
  /** Adds increments to cells, and failures to those of their channels. */
  add(increments: readonly CellCounts[], nowMs: number, failures?: readonly ChannelFailure[]): Promise<void>;
  /** Judges all cells that have ended, and opens and closes incidents. True when a cell was judged. */
  judge(subjects: readonly Subject[], nowMs: number): Promise<boolean>;
  /**
   * Lets one process send the probes of a cell, and tells it what all of them have counted in it; null for those that come later. One that is
   * killed meanwhile has the probes of no other cell.
   */
  claimProbes(startMs: number): Promise<readonly CellCounts[] | null>;
  history(nowMs: number): Promise<StatusHistory>;
  /** The files of the page, made anew and written. */
  files(view: StatusView): Promise<readonly StatusFile[]>;
  /** Entries of incidents, newest incident first. */
  incidents(limit: number, beforeIncident: number | null): Promise<readonly IncidentEntry[]>;
  /** Null where there is no such incident. */
  addWords(
    incident: number,
    words: PublicWords,
    author: string,
    nowMs: number,
  ): Promise<IncidentEntry | null>;
  maintenances(): Promise<readonly Maintenance[]>;
  addMaintenance(maintenance: NewMaintenance): Promise<Maintenance>;
  /** Null where there is none that could be cancelled. */
  cancelMaintenance(id: number, nowMs: number): Promise<Maintenance | null>;
}

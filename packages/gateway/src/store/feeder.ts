import { existsSync, renameSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { Damage, LedgerAlarm, Recovery, Salvaged } from '../ports/store.ts';
import { type Anchor, anchorAt, lossOf, storeAnchors } from './anchors.ts';
import { Arrivals } from './arrivals.ts';
import { type CatchUpStep, catchUpBy, type Targets } from './catch-up.ts';
import { FeederTrouble, StrangeStoreError } from './feeder-trouble.ts';
import { type Feeding, Feedings } from './feedings.ts';
import type { BegunRun } from './journal/ledger.ts';
import { Progress } from './journal/progress.ts';
import type { Extent, Passage } from './journal/reader.ts';
import { Books } from './sqlite/books.ts';
import { type Maker, makersOf } from './sqlite/makers.ts';
import {
  acquireFeeder,
  acquireRun,
  beginRun,
  journalDirectory,
  knownRuns,
  type Run,
  removeRun,
  runFile,
} from './sqlite/runs.ts';

/** Lines of one transaction: as many as make its own cost small, and so few that a change of configuration need not wait long. */
const linesMax = 4_000;
const usualIntervalMs = 200;
/** How often it is looked for runs of other processes, living and dead. */
const othersIntervalMs = 1_000;
const [pollMs, replayStepMs] = [20, 250];
/** A transaction that took so much, about half of what one may take, has probably left more behind. */
const plentyBytes = 128 * 1024;

/** `later`: the store cannot be written just now, or never again. */
type Step =
  | { readonly kind: 'fed'; readonly lines: number; readonly isPlenty: boolean }
  | { readonly kind: 'end' | 'later' }
  | { readonly kind: 'damaged'; readonly damage: Damage };

/** A step of a start through the journals of the dead. */
export interface ReplayStep extends Recovery {
  readonly isDone: boolean;
}

export interface FeederOptions {
  readonly database: DatabaseSync;
  readonly file: string;
  readonly now: () => number;
  readonly onAlarm: (alarm: LedgerAlarm) => void;
  /** How often it looks for lines by itself. */
  readonly intervalMs?: number;
}

/**
 * Carries the lines of journals into the store, in large transactions that also hold how far they reach: so each line arrives
 * once, and a transaction that is lost takes its place along, which is why it may be left to a later one to make it durable.
 * One process at a time is the feeder: of its own journal, of those of the others that live, and of the dead.
 */
export class Feeder {
  readonly #options: FeederOptions;
  readonly #database: DatabaseSync;
  readonly #books: Books;
  readonly #makers: readonly Maker[];
  readonly #arrivals: Arrivals;
  readonly #feedings: Feedings;
  /** Locks of runs whose processes are dead, until all of them is fed. */
  readonly #dead = new Map<bigint, DatabaseSync>();
  readonly #trouble: FeederTrouble;
  #anchors: readonly Anchor[];
  #own: { readonly run: Run; readonly progress: Progress } | null = null;
  #lock: DatabaseSync | null = null;
  #timer: NodeJS.Timeout | null = null;
  #lookedAroundAt = 0;
  /** Other processes whose journals were not fed to their end when it was last looked. */
  #busyOthers: readonly bigint[] = [];

  constructor(options: FeederOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#books = new Books(options.database);
    this.#feedings = new Feedings(options, this.#books);
    this.#makers = makersOf(options.database);
    this.#arrivals = new Arrivals(options);
    this.#trouble = new FeederTrouble(options, () => this.#own?.progress ?? null);
    this.#anchors = storeAnchors(options.file);
  }

  /** Makes this process a run, whose journal is fed from now on. */
  begin(): BegunRun {
    const { file, now } = this.#options;
    const progress = Progress.create();
    const run = beginRun(this.#database, file, now());
    this.#own = { run, progress: new Progress(progress) };
    // Whoever can take the lock takes this process for dead.
    this.#anchors = [...this.#anchors, anchorAt(runFile(file, run.id))];
    this.#tickIn(this.#options.intervalMs ?? usualIntervalMs);
    return { directory: run.directory, progress, anchors: this.#anchors };
  }

  /** The run that this process is; null before it has begun. */
  get run(): bigint | null {
    return this.#own?.run.id ?? null;
  }

  /** Somebody waits for what other runs hold: the next tick looks whether one of them is dead. */
  suspect(): void {
    this.#lookedAroundAt = Number.NEGATIVE_INFINITY;
  }

  /** All steps at once, for who has no other use of its thread meanwhile. */
  catchUp(): Promise<number | null> {
    return catchUpBy((targets) => this.catchUpStep(targets));
  }

  /** A step towards what was durable at the first one, whose targets the next ones are given. Short, as others wait for their turn. */
  catchUpStep(known: Targets | null): CatchUpStep {
    const targets = this.#hold() ? null : (known ?? this.#arrivals.ends(this.#own));
    try {
      const behind =
        targets === null
          ? [...this.#feedRound(true)].filter(([, { kind }]) => kind !== 'end').map(([id]) => id)
          : this.#arrivals.shortOf(targets);
      const isHopeless = this.#trouble.isFailing || behind.every((id) => this.#trouble.isDamaged(id));
      return { asOfMs: behind.length === 0 ? null : this.#arrivals.fedAtMs(behind), isHopeless, targets };
    } finally {
      // A command is no run, and must not stay in the way of a process that is.
      if (this.#own === null) this.#letGo();
    }
  }

  /** Feeds what the dead have left behind, for a while, and ends the calls that they left open. Throws when the store does not take it. */
  async replay(): Promise<ReplayStep> {
    const step = { isDone: false, lines: 0, interrupted: 0, damage: null };
    if (!this.#hold()) {
      const isDone = this.#takeTheDead() === 0;
      this.#letGo();
      if (!isDone) await wait(pollMs);
      return { ...step, isDone };
    }
    this.#takeTheDead();
    const deadline = performance.now() + replayStepMs;
    let [lines, interrupted] = [0, 0];
    for (const id of this.#dead.keys()) {
      for (let isAtEnd = false; !isAtEnd; ) {
        const fed = this.#feed(id, { isDead: true });
        if (fed.kind === 'damaged') {
          this.#letGo();
          return { isDone: true, lines, interrupted, damage: fed.damage };
        }
        if (fed.kind === 'later') throw this.#trouble.cause;
        if (fed.kind === 'fed') lines += fed.lines;
        else interrupted += this.#retire(id);
        isAtEnd = fed.kind === 'end';
        if (performance.now() > deadline) return { ...step, lines, interrupted };
      }
    }
    return { isDone: true, lines, interrupted, damage: null };
  }

  /**
   * Feeds the journals of the dead past what is damaged in them, and keeps them aside. Null while another process feeds: then there is
   * none to salvage, or none that may be touched.
   */
  salvage(): readonly Salvaged[] | null {
    if (!this.#hold()) return null;
    this.#takeTheDead();
    const salvaged: Salvaged[] = [];
    for (const id of this.#dead.keys()) {
      const before = salvaged.length;
      const feed = () => this.#feed(id, { isDead: true });
      for (let step = feed(); step.kind !== 'end'; step = feed()) {
        if (step.kind === 'later') throw this.#trouble.cause;
        if (step.kind === 'damaged') {
          const skipped = this.#skip(id, step.damage);
          // Nothing is left of a journal whose damage is all there is.
          if (skipped.bytesSkipped === 0) break;
          salvaged.push(skipped);
        }
      }
      this.#retire(id, salvaged.length > before);
    }
    this.#letGo();
    return salvaged;
  }

  /** Feeds the rest of this process's journal, and takes it away. What another process feeds is left to that. */
  close(): void {
    clearTimeout(this.#timer ?? undefined);
    const own = this.#own;
    if (own !== null) {
      this.#own = null;
      try {
        const feed = () => this.#feed(own.run.id, { until: own.progress.durable }).kind;
        let step: Step['kind'] = this.#hold() ? 'fed' : 'later';
        while (step === 'fed') step = feed();
        if (step === 'end') this.#end(own.run);
      } catch (error) {
        this.#trouble.fail(error);
      }
      if (own.run.lock.isOpen) own.run.lock.close();
    }
    this.#letGo();
  }

  #tickIn(delayMs: number): void {
    const { intervalMs = usualIntervalMs } = this.#options;
    this.#timer = setTimeout(() => {
      const began = performance.now();
      // A change of configuration that is under way on this connection has its turn first.
      const did = this.#database.isTransaction ? 'nothing' : this.#tick();
      // Whoever else waits for the lock of the store looks only now and then, and would hardly find it free between two steps in a row.
      this.#tickIn({ fed: 0, made: performance.now() - began + pollMs, nothing: intervalMs }[did]);
    }, delayMs).unref();
  }

  /** `fed`: there is more to feed. `made`: there is more to make of what was fed. */
  #tick(): 'fed' | 'made' | 'nothing' {
    if (this.#trouble.hasStopped || this.#own === null) return 'nothing';
    try {
      if (this.#hold()) {
        const looksAround = performance.now() - this.#lookedAroundAt >= othersIntervalMs;
        const steps = [...this.#feedRound(looksAround).values()];
        if (this.#trouble.isFailing) return 'nothing';
        // Lines that have come meanwhile wait for more: a transaction costs as much as dozens of calls.
        if (steps.some((step) => step.kind === 'fed' && step.isPlenty)) return 'fed';
        // While nothing else is done.
        return this.#makers.some((maker) => maker.step()) ? 'made' : 'nothing';
      }
      this.#own.progress.feed(this.#books.fedOf(this.#own.run.id) ?? 0);
    } catch (error) {
      this.#trouble.fail(error);
    }
    return 'nothing';
  }

  /** A transaction of each journal that has something to feed, by its run. */
  #feedRound(looksAround: boolean): ReadonlyMap<bigint, Step> {
    const own = this.#own;
    const steps = new Map<bigint, Step>();
    if (own !== null) steps.set(own.run.id, this.#feed(own.run.id, { until: own.progress.durable }));
    if (looksAround) {
      this.#lookedAroundAt = performance.now();
      this.#takeTheDead();
    }
    const others = looksAround ? this.#knownOthers().map(({ id }) => id) : this.#busyOthers;
    for (const id of others) if (!this.#dead.has(id)) steps.set(id, this.#feed(id, {}));
    this.#busyOthers = others.filter((id) => steps.get(id)?.kind === 'fed');
    for (const id of this.#dead.keys()) {
      const step = this.#feed(id, { isDead: true });
      steps.set(id, step);
      if (step.kind !== 'end') continue;
      try {
        this.#retire(id);
      } catch (error) {
        this.#trouble.fail(error);
        steps.set(id, { kind: 'later' });
      }
    }
    for (const [id, step] of steps)
      if (step.kind === 'damaged') this.#trouble.report(id, step.damage, id === own?.run.id);
    return steps;
  }

  #feed(id: bigint, extent: Extent): Step {
    if (!this.#isAnchored() || !this.#trouble.mayFeed()) return { kind: 'later' };
    try {
      const feeding = this.#feedings.of(id);
      const passage = feeding.reader.read(feeding.place, linesMax, extent);
      const isMissing = passage !== null && 'detail' in passage && !existsSync(passage.file);
      if (id === this.#own?.run.id) this.#trouble.miss(isMissing ? passage : null);
      if (passage === null) return { kind: 'end' };
      if ('detail' in passage)
        return isMissing && id === this.#own?.run.id
          ? { kind: 'later' }
          : { kind: 'damaged', damage: passage };
      const isPlenty = passage.end - feeding.place >= plentyBytes || extent.isDead === true;
      this.#carry(feeding, passage);
      return { kind: 'fed', lines: passage.lines.length, isPlenty };
    } catch (error) {
      this.#trouble.fail(error);
      this.#findPlace(id);
      return { kind: 'later' };
    }
  }

  /**
   * True while the paths of the store lead to what is open here. Otherwise nothing may leave the journal, as the store that it is carried
   * into may be found by nobody; and what has the names of the run may be another process's.
   */
  #isAnchored(): boolean {
    const isAnchored = lossOf(this.#anchors) === null;
    if (!isAnchored) this.#trouble.isFailing = true;
    return isAnchored;
  }

  /** The store knows how far a journal is fed: further, when another process has fed it; less, when it is not the store that was fed. */
  #findPlace(id: bigint): void {
    const feeding = this.#feedings.known(id);
    if (feeding === undefined || this.#trouble.hasStopped) return;
    try {
      const fed = this.#books.fedOf(id);
      if (fed !== null && fed >= feeding.place) feeding.place = fed;
      else if (id === this.#own?.run.id) this.#trouble.fail(new StrangeStoreError());
      else this.#feedings.forget(id);
    } catch (error) {
      this.#trouble.fail(error);
    }
  }

  /** Takes the lines into the store together with the place behind them. */
  #carry(feeding: Feeding, passage: Passage): void {
    // The first lines of a segment make durable all that was before it, whose segments may then go.
    const isBeginning = feeding.place <= passage.segment;
    const fedAtMs = passage.lines.length < linesMax ? this.#options.now() : null;
    const alarms = this.#books.take(passage, { run: feeding.id, from: feeding.place, fedAtMs }, isBeginning);
    feeding.place = passage.end;
    this.#trouble.isFailing = false;
    if (feeding.id === this.#own?.run.id) this.#own.progress.feed(passage.end);
    for (const alarm of alarms) this.#options.onAlarm(alarm);
    if (isBeginning && this.#isAnchored()) this.#feedings.removeBefore(feeding, passage.segment);
  }

  /** Goes on behind damage with what can still be read of it. */
  #skip(id: bigint, damage: Damage): Salvaged {
    const feeding = this.#feedings.of(id);
    const passage = feeding.reader.salvage(feeding.place);
    const bytesSkipped = passage.end - feeding.place;
    if (bytesSkipped > 0) this.#carry(feeding, passage);
    return { ...damage, linesKept: passage.lines.length, bytesSkipped };
  }

  /** Ends the calls that a dead run left open, now that all of its journal is fed, and takes away what is left of it. */
  #retire(id: bigint, keepsJournal = false): number {
    if (!this.#isAnchored()) throw new Error('files of the store are not where they were');
    const lock = this.#dead.get(id);
    const { file } = this.#options;
    const interrupted = this.#books.retire(id, this.#options.now());
    this.#feedings.forget(id);
    const directory = journalDirectory(file, id);
    if (keepsJournal) renameSync(directory, `${directory}.damaged`);
    this.#dead.delete(id);
    if (lock !== undefined) removeRun(file, id, lock);
    return interrupted;
  }

  /** Ends this process's run in order. Calls that it leaves open are ended by the next start, which says how many there were. */
  #end({ id, lock }: Run): void {
    this.#books.end(id, this.#options.now());
    this.#feedings.forget(id);
    removeRun(this.#options.file, id, lock);
  }

  /** True when this process is the feeder, which it becomes when no other is. */
  #hold(): boolean {
    this.#lock ??= acquireFeeder(this.#options.file);
    return this.#lock !== null;
  }

  #letGo(): void {
    this.#feedings.forgetAll();
    for (const lock of this.#dead.values()) lock.close();
    this.#dead.clear();
    this.#lock?.close();
    this.#lock = null;
  }

  #knownOthers() {
    const own = this.#own?.run.id;
    return knownRuns(this.#database, this.#options.file).filter(({ id }) => id !== own);
  }

  /** Returns how many there are. */
  #takeTheDead(): number {
    for (const { id } of this.#knownOthers()) {
      const lock = this.#dead.has(id) ? null : acquireRun(this.#options.file, id);
      if (lock !== null) this.#dead.set(id, lock);
    }
    return this.#dead.size;
  }
}

import type { Catalogue, Target } from '../catalogue/catalogue.ts';
import { isListed } from '../catalogue/listing.ts';
import type { ChannelFailure } from '../ports/channel-history.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type CellCounts,
  cellMs,
  type ListedSubject,
  type PublicDeployment,
  type StatusFile,
  type StatusStore,
  type Subject,
} from '../ports/status.ts';
import type { StatusSink } from '../ports/status-sink.ts';
import type { Outcome } from '../route/outcomes.ts';
import { judgeDelayMs } from './judge.ts';
import { type AskTarget, StatusProbes } from './probes.ts';
import { StatusTally } from './tally.ts';

/** A process that is killed loses so much of what it has counted. */
const saveEveryMs = 10_000;
/** The page is made so long after the start, if nobody has asked for it before. */
const firstPageMs = 10_000;
/** Counts that could not be written; beyond it the oldest are let go of. */
const unsavedMax = 20_000;

export interface StatusKeeperOptions {
  readonly store: StatusStore;
  readonly clock: Clock;
  readonly catalogue: { readonly current: Catalogue };
  /** Asked each time the page is made: where its ports are is known once they are open. */
  readonly deployment: () => PublicDeployment;
  /** The directory of static files; null writes none. */
  readonly directory: string | null;
  /** Probes in a cell at the most; 0 sends none. */
  readonly probesPerCell: number;
  /** Hears what went wrong behind; private. */
  readonly onTrouble: (error: unknown) => void;
}

/** Counts what calls come to, has it judged, and keeps the page that shows it. All but counting is done behind. */
export class StatusKeeper implements StatusSink {
  readonly #options: StatusKeeperOptions;
  readonly tally: StatusTally;
  readonly #startedAtMs: number;
  #probes: StatusProbes | null = null;
  #unsaved: CellCounts[] = [];
  #unsavedFailures: readonly ChannelFailure[] = [];
  #savedAtMs: number;
  #judgedToMs = 0;
  #listed: { readonly catalogue: Catalogue; readonly subjects: readonly ListedSubject[] } | null = null;
  #files: ReadonlyMap<string, StatusFile> | null = null;
  #making: Promise<void> | null = null;
  #working: Promise<void> | null = null;
  /** Something that the page shows has changed since it was made. */
  #isStale = true;
  #isClosed = false;

  constructor(options: StatusKeeperOptions) {
    this.#options = options;
    this.tally = new StatusTally((name) => options.catalogue.current.models.has(name));
    this.#startedAtMs = options.clock.now();
    this.#savedAtMs = this.#startedAtMs;
    this.#judgedToMs = lastJudged(this.#startedAtMs);
  }

  /** A probe has ended, whoever wanted it. */
  probed(target: Target, modelId: string, outcome: Outcome): void {
    this.#probes?.probed(target, modelId, outcome, this.#options.clock.now());
  }

  /** Has probes sent from now on. */
  probeWith(ask: AskTarget): void {
    this.#probes = new StatusProbes(ask, this.tally, this.#options.probesPerCell, this.#startedAtMs);
  }

  /** The files of the page; null before it was first made. */
  get files(): ReadonlyMap<string, StatusFile> | null {
    return this.#files;
  }

  /** Looks what there is to do. Call it every second. Resolves when it is done; never rejects. */
  async tick(): Promise<void> {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.now();
    this.#probes?.tick(nowMs);
    this.#working ??= this.#work(nowMs).finally(() => {
      this.#working = null;
    });
    await this.#working;
  }

  /** Everything whose state is measured. */
  get subjects(): readonly Subject[] {
    return allSubjects(this.#options.catalogue.current);
  }

  /** Something was said or announced: the page is made anew. */
  changed(): void {
    this.#isStale = true;
  }

  /** Makes the page, if it is not being made. Never rejects. */
  make(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  /** Writes what was counted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
    await this.#making;
    await this.#safely(() => this.#save());
  }

  async #work(nowMs: number): Promise<void> {
    await this.#safely(async () => {
      const isDue = lastJudged(nowMs) > this.#judgedToMs;
      const wantsCounts = this.#probes?.wantsCounts(nowMs) ?? false;
      if (isDue || wantsCounts || nowMs - this.#savedAtMs >= saveEveryMs) await this.#save();
      if (wantsCounts) await this.#chooseProbes(nowMs);
      if (isDue) await this.#judge(nowMs);
      if (this.#listed?.catalogue !== this.#options.catalogue.current) this.#isStale = true;
      const hasBegun = this.#files !== null || nowMs - this.#startedAtMs >= firstPageMs;
      if (this.#isStale && hasBegun) await this.make();
    });
  }

  async #save(): Promise<void> {
    this.#savedAtMs = this.#options.clock.now();
    this.#unsaved = [...this.#unsaved, ...this.tally.take()].slice(-unsavedMax);
    this.#unsavedFailures = [...this.#unsavedFailures, ...this.tally.takeFailures()].slice(-unsavedMax);
    const [saving, failures] = [this.#unsaved, this.#unsavedFailures];
    if (saving.length + failures.length === 0) return;
    [this.#unsaved, this.#unsavedFailures] = [[], []];
    try {
      await this.#options.store.add(saving, this.#savedAtMs, failures);
    } catch (error) {
      this.#unsaved = [...saving, ...this.#unsaved];
      this.#unsavedFailures = [...failures, ...this.#unsavedFailures];
      throw error;
    }
  }

  async #chooseProbes(nowMs: number): Promise<void> {
    const { store, catalogue } = this.#options;
    const counts = await store.claimProbes(nowMs - (nowMs % cellMs));
    this.#probes?.choose(catalogue.current, counts, nowMs);
  }

  async #judge(nowMs: number): Promise<void> {
    const { store, catalogue } = this.#options;
    await store.judge(allSubjects(catalogue.current), nowMs);
    this.#judgedToMs = lastJudged(nowMs);
    this.#isStale = true;
  }

  async #make(): Promise<void> {
    await this.#safely(async () => {
      const { store, clock, deployment, directory } = this.#options;
      const catalogue = this.#options.catalogue.current;
      if (this.#listed?.catalogue !== catalogue)
        this.#listed = { catalogue, subjects: listedSubjects(catalogue) };
      this.#isStale = false;
      const { subjects } = this.#listed;
      const files = await store.files({
        ...{ nowMs: clock.now(), deployment: deployment(), subjects, directory },
      });
      this.#files = new Map(files.map((file) => [file.path, file]));
    });
  }

  async #safely(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }
}

/** The cells before it have ended, and every process has had time to hand in its counts. */
function lastJudged(nowMs: number): number {
  return nowMs - judgeDelayMs - ((nowMs - judgeDelayMs) % cellMs);
}

function allSubjects({ models, channels }: Catalogue): readonly Subject[] {
  return [
    { kind: 'gateway', name: '' },
    ...[...models.keys()].map((name) => ({ kind: 'model' as const, name })),
    ...[...channels.keys()].map((name) => ({ kind: 'channel' as const, name })),
  ];
}

/** The public may know of these: models that are offered, by their ids, and channels that are listed, by their aliases. */
function listedSubjects({ models, channels }: Catalogue): readonly ListedSubject[] {
  const offered = [...models.values()].filter(
    ({ isOffered, listed, targets }) => isOffered && listed && targets.some(({ channel }) => channel.enabled),
  );
  const listed = [...channels.values()].filter((channel) => channel.enabled && isListed(channel));
  return [
    ...offered.map(({ id }) => ({ kind: 'model' as const, name: id, label: id })),
    ...listed.map(({ id, alias }) => ({ kind: 'channel' as const, name: id, label: alias })),
  ];
}

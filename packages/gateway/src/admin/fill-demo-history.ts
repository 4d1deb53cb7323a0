import { setImmediate as turn } from 'node:timers/promises';
import { alertKinds, foldOf, subjectOf } from '../catalogue/alert-kinds.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type ChannelFailure, failuresKept } from '../ports/channel-history.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventNews } from '../ports/events.ts';
import type { AttemptEntry, CallEntry } from '../ports/ledger.ts';
import { type CellCounts, cellMs, dayMs, type Subject } from '../ports/status.ts';
import type { Store } from '../ports/store.ts';
import { sumOfFaults } from '../status/faults.ts';
import { judgeDelayMs } from '../status/judge.ts';
import { addValue, type Spread, writeSpread } from '../status/spread.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { demoHistory, historyDays, seededChance, traceAt, troubleAt, troublesUntil } from './demo-history.ts';
import type { OpenedStatus } from './open-status.ts';

/** Entries of one turn of the event loop: it takes about a millisecond. */
const entriesPerTurn = 25;
const seed = 20_261_123;

export interface HistoryParts {
  readonly store: Pick<Store, 'ledger' | 'status' | 'events'>;
  readonly catalogue: Catalogue;
  readonly nowMs: number;
  /** No more is written once it is aborted. */
  readonly signal: AbortSignal;
}

/**
 * Fills the ledger and the status page of a demo with two weeks that never were, by the way that real calls take: the ledger's
 * own entry, and the cells that calls are counted in. Calls meanwhile keep their turns.
 */
async function fillDemoHistory({ store, catalogue, nowMs, signal }: HistoryParts): Promise<void> {
  const cells = new HistoryCells(catalogue, nowMs);
  let written = 0;
  for (const entry of demoHistory(catalogue, nowMs, seededChance(seed))) {
    if (signal.aborted) return;
    store.ledger.settle(entry, () => undefined);
    cells.add(entry);
    written++;
    if (written % entriesPerTurn === 0) await turn();
  }
  const days = historyDays + 1;
  const firstMs = nowMs - (nowMs % dayMs) - (days - 1) * dayMs;
  for (let day = firstMs; day <= nowMs && !signal.aborted; day += dayMs) {
    const endMs = Math.min(day + dayMs, nowMs - (nowMs % cellMs));
    const failures = endMs + dayMs > nowMs ? cells.failures : [];
    await store.status.add(cells.between(day, endMs), endMs, failures);
    await store.status.judge(cells.subjects, endMs + judgeDelayMs);
  }
  if (!signal.aborted) await store.events.record(newsOf(catalogue, nowMs), nowMs);
}

/** The alerts that the failing channel of the script would have raised, long over: no webhook hears of them. */
function newsOf(catalogue: Catalogue, nowMs: number): readonly EventNews[] {
  const chance = seededChance(seed);
  const kind = 'channel-out-of-service';
  return troublesUntil(nowMs).flatMap(({ channel: place, fromMs, toMs }) => {
    const channel = place === null ? undefined : [...catalogue.channels.keys()][place];
    if (channel === undefined) return [];
    return [...catalogue.models.values()].flatMap((model): EventNews[] => {
      const target = model.targets.find((each) => each.channel.id === channel);
      if (target === undefined) return [];
      const detail = { channel, model: target.upstreamModel, reason: 'simulated' };
      const { severity, foldMs } = alertKinds[kind];
      return [
        {
          ...{ id: traceAt(fromMs, chance), kind, severity, detail, foldMs },
          ...{ subject: subjectOf(kind, detail), fold: foldOf(kind, detail), count: 1, webhooks: [] },
          ...{ firstAtMs: fromMs, lastAtMs: fromMs, endedAtMs: toMs },
        },
      ];
    });
  });
}

/** The cells of the history: its calls, and beside them the probes that a cell with few calls is judged by. */
class HistoryCells {
  readonly subjects: readonly Subject[];
  /** The last ones of each channel, oldest first. */
  failures: readonly ChannelFailure[] = [];
  readonly #catalogue: Catalogue;
  readonly #endMs: number;
  readonly #cells = new Map<string, CellCounts & { readonly values: Spread }>();

  constructor(catalogue: Catalogue, endMs: number) {
    this.#catalogue = catalogue;
    this.#endMs = endMs;
    this.subjects = [
      ...[...catalogue.models.keys()].map((name) => ({ kind: 'model' as const, name })),
      ...[...catalogue.channels.keys()].map((name) => ({ kind: 'channel' as const, name })),
      { kind: 'gateway', name: '' },
    ];
  }

  add(entry: CallEntry): void {
    const { attempts, finishedAtMs, unbilledReason, modelRequested, stream, ttftMs, overheadUs } = entry;
    for (const attempt of attempts) {
      const isGood = attempt.result === 'answered';
      const isOwn = unbilledReason === 'refused_by_upstream' && attempt.n === attempts.length;
      // A whole model that fails says nothing of one channel.
      if (attempt.result === 'caller_gone' || isOwn || unbilledReason === 'upstream_failed') continue;
      this.#count(
        { kind: 'channel', name: attempt.channelId },
        finishedAtMs,
        isGood,
        stream ? attempt.ttftMs : null,
      );
      if (!isGood) this.#failed(entry, attempt);
    }
    const isBad = unbilledReason === 'upstream_failed';
    if (unbilledReason !== null && !isBad) return;
    this.#count({ kind: 'model', name: modelRequested }, finishedAtMs, !isBad, stream ? ttftMs : null);
    this.#count({ kind: 'gateway', name: '' }, finishedAtMs, !isBad, overheadUs);
  }

  #failed({ traceId, finishedAtMs: atMs, modelRequested: model }: CallEntry, attempt: AttemptEntry): void {
    const { channelId, upstreamModel, detail: words } = attempt;
    const failure = { channelId, atMs, traceId, model, upstreamModel, kind: 'server-error', words } as const;
    const own = this.failures.filter((each) => each.channelId === channelId);
    const oldest = own.length < failuresKept ? undefined : own[0];
    this.failures = [...this.failures.filter((each) => each !== oldest), failure];
  }

  between(fromMs: number, toMs: number): readonly CellCounts[] {
    const found: CellCounts[] = [];
    for (let startMs = fromMs; startMs < toMs; startMs += cellMs)
      for (const subject of this.subjects) found.push(this.#withProbes(subject, startMs));
    return found;
  }

  #count(subject: Subject, atMs: number, isGood: boolean, value: number | null): void {
    const startMs = atMs - (atMs % cellMs);
    const key = `${subject.kind} ${subject.name} ${startMs}`;
    const before: CellCounts & { readonly values: Spread } = this.#cells.get(key) ?? {
      ...subject,
      startMs,
      ...nothing,
      values: new Map(),
    };
    if (isGood && value !== null) addValue(before.values, value);
    this.#cells.set(key, {
      ...before,
      good: before.good + (isGood ? 1 : 0),
      bad: before.bad + (isGood ? 0 : 1),
      ...(isGood || subject.kind !== 'channel'
        ? {}
        : { faults: sumOfFaults(before.faults ?? '', 'server-error:1') }),
    });
  }

  #withProbes(subject: Subject, startMs: number): CellCounts {
    const { values, ...counted } = this.#cells.get(`${subject.kind} ${subject.name} ${startMs}`) ?? {
      ...{ ...subject, startMs, ...nothing },
      values: new Map<number, number>(),
    };
    const spread = writeSpread(values);
    if (subject.kind === 'gateway') return { ...counted, spread };
    const probes = this.#probesAt(subject, startMs);
    return { ...counted, spread, probesGood: probes.good, probesBad: probes.bad };
  }

  /** A probe or two go well, but for what the script has fail then. */
  #probesAt({ kind, name }: Subject, startMs: number): { readonly good: number; readonly bad: number } {
    const trouble = troubleAt(startMs, this.#endMs);
    const { models, channels } = this.#catalogue;
    const place = [...(kind === 'model' ? models : channels).keys()].indexOf(name);
    const isHit = kind === 'channel' ? trouble?.channel === place : trouble?.model === place;
    if (trouble === undefined || !isHit) return { good: 2, bad: 0 };
    return trouble.share === 1 ? { good: 0, bad: 2 } : { good: 6, bad: 2 };
  }
}

const nothing = { good: 0, bad: 0, probesGood: 0, probesBad: 0, spread: '' };

/** The parts of a gateway that has just begun to serve. */
export interface ServingParts extends Pick<HistoryParts, 'store'> {
  readonly configuration: Pick<ConfigurationService, 'catalogue' | 'selfConfiguration'>;
  readonly status: OpenedStatus;
  readonly clock: Clock;
  readonly log: { readonly logger: Logger };
}

/** Fills the history of a demo that is new, behind the calls; `opened` waits for it to stop before it lets go of the store. */
export function fillHistoryBehind(parts: ServingParts, opened: AsyncDisposableStack): void {
  const { store, configuration, status, clock, log } = parts;
  const { selfConfiguration, catalogue } = configuration;
  if (selfConfiguration.kind !== 'demo' || !selfConfiguration.isNew) return;
  const stop = new AbortController();
  const filling = fillDemoHistory({
    ...{ store, catalogue: catalogue.current, nowMs: clock.now(), signal: stop.signal },
  }).then(
    () => status.keeper.changed(),
    (error: unknown) => log.logger.warn('the simulated history is not whole', { error }),
  );
  opened.defer(async () => {
    stop.abort();
    await filling;
  });
}

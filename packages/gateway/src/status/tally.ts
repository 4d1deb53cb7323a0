import { type ChannelFailure, failuresKept } from '../ports/channel-history.ts';
import type { CallEntry } from '../ports/ledger.ts';
import type { EndedAttempt } from '../ports/observer.ts';
import { type CellCounts, cellMs, type Subject, type SubjectKind } from '../ports/status.ts';
import type { CallTally } from '../ports/status-sink.ts';
import { caseOf, rowOf } from '../route/outcomes.ts';
import { type Faults, writeFaults } from './faults.ts';
import { addValue, type Spread, writeSpread } from './spread.ts';
import { verdictOnChannel, verdictOnModel } from './verdict.ts';

/** Counts of a subject in the running cell. */
interface Tally {
  readonly startMs: number;
  good: number;
  bad: number;
  probesGood: number;
  probesBad: number;
  readonly spread: Spread;
  /** Null until there is one. */
  faults: Faults | null;
}

/** Subjects that are counted at a time; calls of others are not. The catalogue has far fewer. */
const subjectsMax = 5_000;

/**
 * Counts calls, attempts and probes by subject and cell as they end. A call that went well costs a look into a map and an addition for
 * each of its subjects, and nothing is allocated; whoever takes the counts folds them and carries them into the store, behind.
 */
export class StatusTally implements CallTally {
  readonly #running = {
    model: new Map<string, Tally>(),
    channel: new Map<string, Tally>(),
    gateway: new Map<string, Tally>(),
  } satisfies Record<SubjectKind, Map<string, Tally>>;
  readonly #isModel: (name: string) => boolean;
  /** Cells that another one has followed since they were last taken. */
  #ended: CellCounts[] = [];
  /** The last ones of each channel since they were last taken, oldest first. */
  #failures = new Map<string, ChannelFailure[]>();

  /** `isModel`: the word is one of the catalogue's, and none that a caller made up. */
  constructor(isModel: (name: string) => boolean) {
    this.#isModel = isModel;
  }

  /** A single function, since every call comes through it. */
  callFinished(entry: CallEntry, attempts: readonly EndedAttempt[]): void {
    const { finishedAtMs, status, stream, modelRequested } = entry;
    const isCount = entry.unbilledReason === 'token_count';
    const startMs = finishedAtMs - (finishedAtMs % cellMs);
    const { model, channel, gateway } = this.#running;
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      if (attempt === undefined) continue;
      const found = channel.get(attempt.target.channel.id);
      if (attempt.outcome.kind === 'answered' && found?.startMs === startMs && !isCount) {
        found.good++;
        if (stream && attempt.ttftMs !== null) addValue(found.spread, attempt.ttftMs);
      } else this.#countAttempt(entry, attempt, at, startMs);
    }
    const [own, all] = [model.get(modelRequested), gateway.get('')];
    if (status !== 'complete' || isCount || own?.startMs !== startMs || all?.startMs !== startMs)
      return this.#countCall(entry, attempts, startMs);
    if (attempts.length > 0) addValue(all.spread, entry.overheadUs);
    own.good++;
    all.good++;
    if (stream && entry.ttftMs !== null) addValue(own.spread, entry.ttftMs);
  }

  #countAttempt(entry: CallEntry, attempt: EndedAttempt, at: number, startMs: number): void {
    const { target, outcome, ttftMs } = attempt;
    const verdict = entry.unbilledReason === 'token_count' ? null : verdictOnChannel(outcome);
    if (verdict === null) {
      if (rowOf(outcome).health.kind === 'missing') this.#failed(entry, attempt, at);
      return;
    }
    const tally = this.#at('channel', target.channel.id, startMs);
    if (tally !== null) tally[verdict]++;
    if (verdict === 'bad') this.#failed(entry, attempt, at, tally);
    else if (tally !== null && entry.stream && ttftMs !== null) addValue(tally.spread, ttftMs);
  }

  #countCall(entry: CallEntry, attempts: readonly EndedAttempt[], startMs: number): void {
    if (!this.#isModel(entry.modelRequested)) return;
    const verdict = verdictOnModel(entry, attempts.at(-1)?.outcome);
    const all = this.#at('gateway', '', startMs);
    if (all !== null && attempts.length > 0) addValue(all.spread, entry.overheadUs);
    const own = verdict === null ? null : this.#at('model', entry.modelRequested, startMs);
    if (own === null || verdict === null) return;
    own[verdict]++;
    if (all !== null) all[verdict]++;
    if (verdict === 'good' && entry.stream && entry.ttftMs !== null) addValue(own.spread, entry.ttftMs);
  }

  /** A probe of ours tells of a subject. */
  probed({ kind, name }: Subject, isGood: boolean, nowMs: number): void {
    const tally = this.#at(kind, name, nowMs - (nowMs % cellMs));
    if (tally === null) return;
    if (isGood) tally.probesGood++;
    else tally.probesBad++;
  }

  /** All that was counted since it was last asked for. */
  take(): readonly CellCounts[] {
    const taken = this.#ended;
    this.#ended = [];
    for (const kind of subjectKinds) {
      for (const [name, tally] of this.#running[kind]) taken.push(cellOf(kind, name, tally));
      this.#running[kind].clear();
    }
    return taken;
  }

  /** The failures of channels since they were last asked for. */
  takeFailures(): readonly ChannelFailure[] {
    const taken = [...this.#failures.values()].flat();
    this.#failures.clear();
    return taken;
  }

  #failed(entry: CallEntry, { target, outcome }: EndedAttempt, at: number, tally: Tally | null = null): void {
    const kind = caseOf(outcome);
    if (tally !== null) {
      tally.faults ??= new Map();
      tally.faults.set(kind, (tally.faults.get(kind) ?? 0) + 1);
    }
    const channelId = target.channel.id;
    const known = this.#failures.get(channelId);
    if (known === undefined && this.#failures.size >= subjectsMax) return;
    const failures = known ?? [];
    if (known === undefined) this.#failures.set(channelId, failures);
    const { traceId, finishedAtMs: atMs, modelRequested: model, attempts } = entry;
    const { upstreamModel } = target;
    failures.push({
      channelId,
      atMs,
      traceId,
      model,
      upstreamModel,
      kind,
      words: attempts[at]?.detail ?? null,
    });
    if (failures.length > failuresKept) failures.shift();
  }

  /** Null where there are too many. */
  #at(kind: SubjectKind, name: string, startMs: number): Tally | null {
    const running = this.#running[kind];
    const found = running.get(name);
    if (found?.startMs === startMs) return found;
    if (found !== undefined) this.#ended.push(cellOf(kind, name, found));
    else if (running.size >= subjectsMax) return null;
    const begun: Tally = {
      ...{ startMs, good: 0, bad: 0, probesGood: 0, probesBad: 0, spread: new Map(), faults: null },
    };
    running.set(name, begun);
    return begun;
  }
}

const subjectKinds = ['model', 'channel', 'gateway'] as const satisfies readonly SubjectKind[];

function cellOf(kind: SubjectKind, name: string, { spread, faults, ...counts }: Tally): CellCounts {
  const cell = { kind, name, ...counts, spread: writeSpread(spread) };
  return faults === null ? cell : { ...cell, faults: writeFaults(faults) };
}

import type { LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import { quantile } from '../harness/statistics.ts';
import type { EntriesByCall } from './ledger-check.ts';
import type { RunResult, SeenCall } from './run.ts';

/** The yield of one phase. Times in milliseconds; null where there was nothing to take them of. */
export interface PhaseFigures {
  readonly phase: string;
  readonly calls: number;
  readonly answered: number;
  /** Broken off after content had come. */
  readonly cut: number;
  /** Broken off by one channel after content, continued by another and whole. */
  readonly rescued: number;
  readonly failed: number;
  /** Taken of streams only, as the next one. */
  readonly ttftP50Ms: number | null;
  readonly ttftP99Ms: number | null;
  /** From the request to the end of an answer that is no stream. */
  readonly wholeP99Ms: number | null;
  readonly attempts: number;
  /** Attempts at channels that the incident of the phase hit. */
  readonly attemptsAtHit: number;
  /** The upstreams' charge for all attempts, per answered call, in micro-dollars. */
  readonly costUsdMicro: number;
}

/** Figures of every phase, in the order of their beginnings; those of the same name together. */
export function figuresOf(
  { calls, hitChannels }: RunResult,
  entries: EntriesByCall,
): readonly PhaseFigures[] {
  const phases = Map.groupBy(calls, ({ phase }) => phase);
  return [...phases].map(([phase, its]) => {
    const entriesOf = its.flatMap(({ id }) => entries.get(id) ?? []);
    const attempts = entriesOf.flatMap((entry) => entry.attempts);
    const count = (ending: SeenCall['answer']['ending']) =>
      its.filter(({ answer }) => answer.ending === ending).length;
    const answered = count('answered');
    return {
      phase,
      calls: its.length,
      answered,
      cut: count('cut'),
      rescued: its.filter(({ answer }) => answer.isRescued && answer.ending === 'answered').length,
      failed: count('failed'),
      ...times(its),
      attempts: attempts.length,
      attemptsAtHit: attempts.filter(({ channelId }) => hitChannels.has(channelId)).length,
      costUsdMicro: costNanoUsd(entriesOf) / 1000 / answered,
    };
  });
}

function times(calls: readonly SeenCall[]) {
  const begun = calls.flatMap(({ surface, answer }) =>
    surface.stream && answer.firstContentMs !== null ? [answer.firstContentMs] : [],
  );
  const whole = calls.flatMap(({ surface, answer }) => (surface.stream ? [] : [answer.durationMs]));
  return {
    ttftP50Ms: quantileOrNull(begun, 0.5),
    ttftP99Ms: quantileOrNull(begun, 0.99),
    wholeP99Ms: quantileOrNull(whole, 0.99),
  };
}

function quantileOrNull(values: readonly number[], share: number): number | null {
  return values.length === 0 ? null : quantile(values, share);
}

function costNanoUsd(entries: readonly LedgerRecord[]): number {
  const sum = entries
    .flatMap(({ attempts }) => attempts)
    .reduce((total, { costNanoUsd: cost }) => total + (cost ?? 0n), 0n);
  return Number(sum);
}

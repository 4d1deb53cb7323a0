import type { AttemptEntry, CallEntry } from '../ports/ledger.ts';
import {
  createHistogram,
  exposeHistograms,
  exposeSamples,
  type Histogram,
  type LabelledCell,
  LabelTable,
  recordValue,
  type Sample,
} from './exposition.ts';

// Seconds. Calls of models last from a tenth of a second to minutes; our own share of them is microseconds.
const callBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 600];
const overheadBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

interface Count {
  value: number;
}

/** Sums over the calls of one model on one surface. */
interface ModelTotals {
  readonly duration: Histogram;
  readonly firstContent: Histogram;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  images: number;
  chargeNanoUsd: bigint;
}

interface Nanos {
  nanoUsd: bigint;
}

/** The sums over finished calls. Recording touches plain numbers only; the text is made when somebody asks. */
export class CallMetrics {
  readonly #calls = new LabelTable<Count>(zero);
  readonly #unbilled = new LabelTable<Count>(zero);
  readonly #attempts = new LabelTable<Count>(zero);
  readonly #models = new LabelTable<ModelTotals>(emptyTotals);
  readonly #overhead = new LabelTable<Histogram>(() => createHistogram(overheadBounds));
  readonly #costs = new LabelTable<Nanos>(() => ({ nanoUsd: 0n }));

  record(entry: CallEntry): void {
    this.#calls.at(entry.surface, entry.status, entry.errorCode ?? '').value++;
    if (entry.unbilledReason !== null) this.#unbilled.at(entry.unbilledReason).value++;
    // A model that was never tried may be any word a caller made up; it names no series.
    if (entry.attempts.length === 0) return;
    recordValue(this.#overhead.at(entry.surface), entry.overheadUs / 1e6);
    addToTotals(this.#models.at(entry.surface, entry.modelRequested), entry);
    for (const attempt of entry.attempts) this.#recordAttempt(attempt);
  }

  expose(): string {
    return this.#exposeCalls() + this.#exposeTimes() + this.#exposeUse();
  }

  #recordAttempt(attempt: AttemptEntry): void {
    this.#attempts.at(attempt.channelId, attempt.result).value++;
    if (attempt.costNanoUsd !== 0n) this.#costs.at(attempt.channelId).nanoUsd += attempt.costNanoUsd;
  }

  #exposeCalls(): string {
    return (
      exposeSamples(
        'counter',
        {
          name: 'headgate_calls_total',
          help: 'Finished calls; code is empty for a call without an error.',
          labels: ['surface', 'status', 'code'],
        },
        counts(this.#calls),
      ) +
      exposeSamples(
        'counter',
        { name: 'headgate_unbilled_calls_total', help: 'Calls not billed, by reason.', labels: ['reason'] },
        counts(this.#unbilled),
      ) +
      exposeSamples(
        'counter',
        {
          name: 'headgate_attempts_total',
          help: 'Requests sent to upstreams, by what came of them.',
          labels: ['channel', 'result'],
        },
        counts(this.#attempts),
      )
    );
  }

  #exposeTimes(): string {
    const labels = ['surface', 'model'];
    return (
      exposeHistograms(
        {
          name: 'headgate_call_duration_seconds',
          help: 'From the first byte to the last of a call.',
          labels,
        },
        map(this.#models, (totals) => totals.duration),
      ) +
      exposeHistograms(
        {
          name: 'headgate_time_to_first_content_seconds',
          help: "From the request's last byte to first content.",
          labels,
        },
        map(this.#models, (totals) => totals.firstContent),
      ) +
      exposeHistograms(
        {
          name: 'headgate_gateway_overhead_seconds',
          help: "The gateway's own time, from the request's last byte to the first byte sent upstream.",
          labels: ['surface'],
        },
        this.#overhead.entries(),
      )
    );
  }

  #exposeUse(): string {
    return (
      exposeSamples(
        'counter',
        {
          name: 'headgate_tokens_total',
          help: 'Tokens used, in classes that do not overlap; images in pieces.',
          labels: ['surface', 'model', 'type'],
        },
        this.#models.entries().flatMap(({ labels, cell }) => tokenSamples(labels, cell)),
      ) +
      exposeSamples(
        'counter',
        { name: 'headgate_charge_usd_total', help: 'Charged to callers.', labels: ['surface', 'model'] },
        map(this.#models, (totals) => decimalUsd(totals.chargeNanoUsd)),
      ) +
      exposeSamples(
        'counter',
        {
          name: 'headgate_upstream_cost_usd_total',
          help: 'Charged to us by upstreams.',
          labels: ['channel'],
        },
        map(this.#costs, (cost) => decimalUsd(cost.nanoUsd)),
      )
    );
  }
}

function zero(): Count {
  return { value: 0 };
}

function emptyTotals(): ModelTotals {
  return {
    duration: createHistogram(callBounds),
    firstContent: createHistogram(callBounds),
    input: 0,
    cacheRead: 0,
    cacheWrite: 0,
    output: 0,
    images: 0,
    chargeNanoUsd: 0n,
  };
}

function addToTotals(totals: ModelTotals, entry: CallEntry): void {
  const { usage } = entry;
  recordValue(totals.duration, entry.durationMs / 1000);
  if (entry.ttftMs !== null) recordValue(totals.firstContent, entry.ttftMs / 1000);
  totals.input += usage.inputFresh + usage.inputAudio + usage.inputImage;
  totals.cacheRead += usage.inputCacheRead;
  totals.cacheWrite += usage.inputCacheWrite5m + usage.inputCacheWrite1h;
  totals.output += usage.output + usage.outputAudio + usage.outputImage;
  totals.images += usage.images;
  totals.chargeNanoUsd += entry.chargeNanoUsd;
}

function tokenSamples(labels: readonly string[], totals: ModelTotals): Sample[] {
  return [
    { labels: [...labels, 'input'], cell: totals.input },
    { labels: [...labels, 'cache_read'], cell: totals.cacheRead },
    { labels: [...labels, 'cache_write'], cell: totals.cacheWrite },
    { labels: [...labels, 'output'], cell: totals.output },
    { labels: [...labels, 'images'], cell: totals.images },
  ];
}

function counts(table: LabelTable<Count>): Sample[] {
  return map(table, (count) => count.value);
}

function map<Cell, Value>(table: LabelTable<Cell>, read: (cell: Cell) => Value): LabelledCell<Value>[] {
  return table.entries().map(({ labels, cell }) => ({ labels, cell: read(cell) }));
}

/** Exact, because money never passes through a float. */
function decimalUsd(nanoUsd: bigint): string {
  const sign = nanoUsd < 0n ? '-' : '';
  const digits = String(nanoUsd < 0n ? -nanoUsd : nanoUsd).padStart(10, '0');
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

import type { AttemptEntry, CallEntry } from '../ports/ledger.ts';
import type { RescueEnd } from '../ports/observer.ts';
import {
  CountTable,
  createHistogram,
  exposeHistograms,
  exposeSamples,
  type Histogram,
  LabelTable,
  recordValue,
  type Sample,
} from './exposition.ts';

// Seconds. Calls of models last from a tenth of a second to minutes; our own share of them is microseconds.
const callBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 600];
const overheadBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

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

/** The sums over finished calls. Recording touches plain numbers only; the text is made when somebody asks. */
export class CallMetrics {
  readonly #calls = new CountTable();
  readonly #unbilled = new CountTable();
  readonly #attempts = new CountTable();
  readonly #rescues = new CountTable();
  readonly #models = new LabelTable(emptyTotals);
  readonly #overhead = new LabelTable(() => createHistogram(overheadBounds));
  readonly #costs = new LabelTable(() => ({ nanoUsd: 0n }));
  readonly #statedCosts = new LabelTable(() => ({ nanoUsd: 0n }));

  record(entry: CallEntry): void {
    this.#calls.count(entry.surface, entry.status, entry.errorCode ?? '');
    if (entry.unbilledReason !== null) this.#unbilled.count(entry.unbilledReason);
    // A model that was never tried may be any word a caller made up; it names no series.
    if (entry.attempts.length === 0) return;
    recordValue(this.#overhead.at(entry.surface), entry.overheadUs / 1e6);
    addToTotals(this.#models.at(entry.surface, entry.modelRequested), entry);
    for (const attempt of entry.attempts) this.#recordAttempt(attempt);
  }

  rescued(end: RescueEnd): void {
    this.#rescues.count(end);
  }

  #recordAttempt(attempt: AttemptEntry): void {
    this.#attempts.count(attempt.channelId, attempt.result);
    const { costNanoUsd } = attempt;
    if (costNanoUsd !== null && costNanoUsd !== 0n) this.#costs.at(attempt.channelId).nanoUsd += costNanoUsd;
    if (attempt.statedCostNanoUsd !== null)
      this.#statedCosts.at(attempt.channelId).nanoUsd += attempt.statedCostNanoUsd;
  }

  expose(): string {
    const models = ['surface', 'model'];
    return [
      exposeSamples(
        'counter',
        'headgate_calls_total',
        'Finished calls; code is empty for a call without an error.',
        ['surface', 'status', 'code'],
        this.#calls.samples(),
      ),
      exposeSamples(
        'counter',
        'headgate_unbilled_calls_total',
        'Calls not billed, by reason.',
        ['reason'],
        this.#unbilled.samples(),
      ),
      exposeSamples(
        'counter',
        'headgate_attempts_total',
        'Requests sent to upstreams, by what came of them.',
        ['channel', 'result'],
        this.#attempts.samples(),
      ),
      exposeSamples(
        'counter',
        'headgate_rescues_total',
        'Streams of text that broke off in a group whose streams are continued elsewhere, by what came of them.',
        ['end'],
        this.#rescues.samples(),
      ),
      exposeHistograms(
        'headgate_call_duration_seconds',
        'From the first byte to the last of a call.',
        models,
        this.#models.map((totals) => totals.duration),
      ),
      exposeHistograms(
        'headgate_time_to_first_content_seconds',
        "From the request's last byte to first content.",
        models,
        this.#models.map((totals) => totals.firstContent),
      ),
      exposeHistograms(
        'headgate_gateway_overhead_seconds',
        "The gateway's own time, from the request's last byte to the first byte sent upstream.",
        ['surface'],
        this.#overhead.entries(),
      ),
      exposeSamples(
        'counter',
        'headgate_tokens_total',
        'Tokens used, in classes that do not overlap; images in pieces.',
        [...models, 'type'],
        this.#models.entries().flatMap(({ labels, cell }) => tokenSamples(labels, cell)),
      ),
      exposeSamples(
        'counter',
        'headgate_charge_usd_total',
        'Charged to callers.',
        models,
        this.#models.map((totals) => decimalUsd(totals.chargeNanoUsd)),
      ),
      this.#exposeCosts(),
    ].join('');
  }

  #exposeCosts(): string {
    return [
      exposeSamples(
        'counter',
        'headgate_upstream_cost_usd_total',
        'Charged to us by upstreams.',
        ['channel'],
        this.#costs.map(({ nanoUsd }) => decimalUsd(nanoUsd)),
      ),
      exposeSamples(
        'counter',
        'headgate_upstream_stated_cost_usd_total',
        'Charged to us, as upstreams state it in their answers.',
        ['channel'],
        this.#statedCosts.map(({ nanoUsd }) => decimalUsd(nanoUsd)),
      ),
    ].join('');
  }
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
  const { input, cacheRead, cacheWrite, output, images } = totals;
  const classes = { input, cache_read: cacheRead, cache_write: cacheWrite, output, images };
  return Object.entries(classes).map(([type, cell]) => ({ labels: [...labels, type], cell }));
}

/** Exact, because money never passes through a float. */
function decimalUsd(nanoUsd: bigint): string {
  const sign = nanoUsd < 0n ? '-' : '';
  const digits = String(nanoUsd < 0n ? -nanoUsd : nanoUsd).padStart(10, '0');
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

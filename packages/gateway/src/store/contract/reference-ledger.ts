import { noUsage, type Usage } from '@headgate/protocols';
import { nanoUsd } from '../../money/money.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { ModelPage, UsagePeriod, UsageTotals } from '../../ports/usage-report.ts';

/** A ledger in the fewest words: the model that every store is held against. */
export class ReferenceLedger {
  readonly entries = new Map<string, CallEntry>();

  /** How many entries were other ones than those that stand. */
  conflicts = 0;

  /** The first entry of a trace id stands. */
  settle(entry: CallEntry): void {
    const known = this.entries.get(entry.traceId);
    if (known === undefined) this.entries.set(entry.traceId, entry);
    else if (textOf(known) !== textOf(entry)) this.conflicts++;
  }

  totals(keyId: string, { fromMs, toMs }: UsagePeriod): UsageTotals {
    return sum(this.#callsOf(keyId, fromMs, toMs));
  }

  series(keyId: string, bounds: readonly number[]) {
    return bounds.slice(1).flatMap((toMs, index) => {
      const fromMs = bounds[index] ?? toMs;
      const calls = this.#callsOf(keyId, fromMs, toMs);
      return calls.length === 0 ? [] : [{ fromMs, totals: sum(calls) }];
    });
  }

  byModel(keyId: string, { fromMs, toMs }: UsagePeriod): ModelPage {
    const models = Map.groupBy(this.#callsOf(keyId, fromMs, toMs), summedModel);
    const rows = [...models].map(([model, calls]) => ({ model, totals: sum(calls) }));
    return { models: rows.sort((a, b) => (a.model < b.model ? -1 : 1)), nextCursor: null };
  }

  /** Trace ids, newest first. */
  page(keyId: string, { fromMs, toMs }: UsagePeriod): readonly string[] {
    return this.#callsOf(keyId, fromMs, toMs)
      .sort((a, b) => b.startedAtMs - a.startedAtMs || (a.traceId < b.traceId ? 1 : -1))
      .map((call) => call.traceId);
  }

  balance(accountId: string): bigint {
    const calls = [...this.entries.values()].filter((call) => call.accountId === accountId);
    return -sum(calls).chargeNanoUsd;
  }

  #callsOf(keyId: string, fromMs: number, toMs: number): CallEntry[] {
    const calls = [...this.entries.values()].filter((call) => call.keyId === keyId);
    return calls.filter((call) => call.startedAtMs >= fromMs && call.startedAtMs < toMs);
  }
}

/** Only a call that was admitted or tried is known to have asked for a model that there is. */
function summedModel({ priceVersion, attempts, modelRequested }: CallEntry): string {
  return priceVersion === null && attempts.length === 0 ? '(unknown)' : modelRequested;
}

function sum(calls: readonly CallEntry[]): UsageTotals {
  return {
    calls: calls.length,
    billedCalls: calls.filter((call) => call.unbilledReason === null).length,
    usage: calls.map((call) => call.usage).reduce(addUsage, noUsage),
    chargeNanoUsd: nanoUsd(calls.reduce((total, call) => total + call.chargeNanoUsd, 0n)),
  };
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputFresh: a.inputFresh + b.inputFresh,
    inputCacheRead: a.inputCacheRead + b.inputCacheRead,
    inputCacheWrite5m: a.inputCacheWrite5m + b.inputCacheWrite5m,
    inputCacheWrite1h: a.inputCacheWrite1h + b.inputCacheWrite1h,
    inputAudio: a.inputAudio + b.inputAudio,
    inputImage: a.inputImage + b.inputImage,
    output: a.output + b.output,
    outputReasoning: a.outputReasoning + b.outputReasoning,
    outputAudio: a.outputAudio + b.outputAudio,
    outputImage: a.outputImage + b.outputImage,
    images: a.images + b.images,
    inputCacheReadAudio: a.inputCacheReadAudio + b.inputCacheReadAudio,
    citation: a.citation + b.citation,
    webSearches: a.webSearches + b.webSearches,
    fileSearches: a.fileSearches + b.fileSearches,
    codeSessions: a.codeSessions + b.codeSessions,
    groundings: a.groundings + b.groundings,
    pages: a.pages + b.pages,
  };
}

/** Equal texts, equal entries; bigints included. */
function textOf(entry: CallEntry): string {
  return JSON.stringify(entry, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

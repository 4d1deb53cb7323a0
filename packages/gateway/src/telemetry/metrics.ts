import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CallEntry } from '../ports/ledger.ts';
import type { AlertKind, Refusal } from '../ports/observer.ts';
import type { Outcome } from '../route/outcomes.ts';
import { CallMetrics } from './call-metrics.ts';
import { createHistogram, exposeHistograms, exposeSamples, LabelTable, recordValue } from './exposition.ts';

/** The process's numbers. Recording is plain arithmetic; nothing of a metrics library runs on a call's path. */
export interface Metrics {
  callStarted(): void;
  callFinished(entry: CallEntry): void;
  refused(refusal: Refusal): void;
  alertRaised(kind: AlertKind): void;
  readonly service: ServiceMetrics;
  /** One group commit of the ledger became durable. */
  ledgerCommitted(entries: number, durationMs: number): void;
  expose(): Promise<Exposition>;
}

export interface MetricsSources {
  /** Entries waiting for a ledger commit. */
  ledgerQueued(): number;
}

/** Everything there is to scrape, in the Prometheus text format. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

// Seconds: from a fast disk's commit to one in trouble.
const commitBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2];

export function createMetrics(sources: MetricsSources): Metrics {
  const process = new Registry();
  // CPU, memory, event-loop delay, garbage collection and handles, under the names dashboards know.
  collectDefaultMetrics({ register: process });
  const calls = new CallMetrics();
  const service = new ServiceMetrics();
  const commits = createHistogram(commitBounds);
  const refusals = new LabelTable(() => ({ count: 0 }));
  const alerts = new Map<AlertKind, number>();
  let callsInFlight = 0;
  let entriesCommitted = 0;
  return {
    service,
    callStarted() {
      callsInFlight++;
    },
    callFinished(entry) {
      callsInFlight--;
      calls.record(entry);
    },
    refused({ platform, code }) {
      refusals.at(platform, code).count++;
    },
    alertRaised(kind) {
      alerts.set(kind, (alerts.get(kind) ?? 0) + 1);
    },
    ledgerCommitted(entries, durationMs) {
      entriesCommitted += entries;
      recordValue(commits, durationMs / 1000);
    },
    async expose() {
      const single = (type: 'counter' | 'gauge', name: string, help: string, value: number) =>
        exposeSamples(type, { name, help, labels: [] }, [{ labels: [], cell: value }]);
      const text =
        calls.expose() +
        service.expose() +
        single('gauge', 'headgate_calls_in_flight', 'Calls begun and not finished.', callsInFlight) +
        single(
          'gauge',
          'headgate_ledger_queue_entries',
          'Entries waiting for a commit.',
          sources.ledgerQueued(),
        ) +
        single('counter', 'headgate_ledger_entries_total', 'Entries made durable.', entriesCommitted) +
        exposeHistograms(
          { name: 'headgate_ledger_commit_seconds', help: 'Duration of one group commit.', labels: [] },
          [{ labels: [], cell: commits }],
        ) +
        exposeSamples(
          'counter',
          {
            name: 'headgate_refusals_total',
            help: 'Requests answered with an error before they became calls.',
            labels: ['platform', 'code'],
          },
          [...refusals.entries()].map(({ labels, cell }) => ({ labels, cell: cell.count })),
        ) +
        exposeSamples(
          'counter',
          { name: 'headgate_alerts_total', help: 'Things an operator should hear of.', labels: ['kind'] },
          [...alerts].map(([kind, count]) => ({ labels: [kind], cell: count })),
        ) +
        (await process.metrics());
      return { contentType: 'text/plain; version=0.0.4; charset=utf-8', text };
    },
  };
}

interface Count {
  value: number;
}

/** How often targets went out of service, and what came of probes. */
export class ServiceMetrics {
  readonly #probes = new LabelTable<Count>(zero);
  readonly #ejections = new LabelTable<Count>(zero);

  probed(channelId: string, result: Outcome['kind']): void {
    this.#probes.at(channelId, result).value++;
  }

  ejected(channelId: string): void {
    this.#ejections.at(channelId).value++;
  }

  expose(): string {
    return (
      exposeSamples(
        'counter',
        {
          name: 'headgate_probes_total',
          help: 'Requests for one token that the gateway itself made, by what came of them.',
          labels: ['channel', 'result'],
        },
        samplesOf(this.#probes),
      ) +
      exposeSamples(
        'counter',
        {
          name: 'headgate_ejections_total',
          help: 'Times that a model of a channel was taken out of service for its failures.',
          labels: ['channel'],
        },
        samplesOf(this.#ejections),
      )
    );
  }
}

function zero(): Count {
  return { value: 0 };
}

function samplesOf(table: LabelTable<Count>) {
  return table.entries().map(({ labels, cell }) => ({ labels, cell: cell.value }));
}

import { collectDefaultMetrics, Registry } from 'prom-client';
import type { AlertKind } from '../catalogue/alert-kinds.ts';
import type { CallEntry } from '../ports/ledger.ts';
import type { Refusal, RescueEnd } from '../ports/observer.ts';
import type { Outcome } from '../route/outcomes.ts';
import { CallMetrics } from './call-metrics.ts';
import {
  CountTable,
  createHistogram,
  exposeHistograms,
  exposeSamples,
  recordValue,
  type Sample,
} from './exposition.ts';

/** The process's numbers. Recording is plain arithmetic; nothing of a metrics library runs on a call's path. */
export interface Metrics {
  /** Calls begun and not finished. */
  readonly callsInFlight: number;
  callStarted(): void;
  callFinished(entry: CallEntry): void;
  refused(refusal: Refusal): void;
  rescued(end: RescueEnd): void;
  alertRaised(kind: AlertKind): void;
  /** A message was posted to a webhook once. */
  webhookTried(webhook: string, isTaken: boolean): void;
  readonly service: ServiceMetrics;
  /** One group commit of the ledger became durable. */
  ledgerCommitted(entries: number, durationMs: number): void;
  expose(): Promise<Exposition>;
}

export interface MetricsSources {
  /** Entries waiting for a ledger commit. */
  ledgerQueued(): number;
  /** Bytes of requests and answers that calls hold. */
  bytesHeld(): number;
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
  const refusals = new CountTable();
  const alerts = new CountTable();
  const messages = new CountTable();
  let callsInFlight = 0;
  let entriesCommitted = 0;
  return {
    service,
    get callsInFlight() {
      return callsInFlight;
    },
    callStarted() {
      callsInFlight++;
    },
    callFinished(entry) {
      callsInFlight--;
      calls.record(entry);
    },
    rescued(end) {
      calls.rescued(end);
    },
    refused({ platform, code }) {
      refusals.count(platform, code);
    },
    alertRaised(kind) {
      alerts.count(kind);
    },
    webhookTried(webhook, isTaken) {
      messages.count(webhook, isTaken ? 'taken' : 'failed');
    },
    ledgerCommitted(entries, durationMs) {
      entriesCommitted += entries;
      recordValue(commits, durationMs / 1000);
    },
    async expose() {
      const text = [
        calls.expose(),
        service.expose(),
        single('gauge', 'headgate_calls_in_flight', 'Calls begun and not finished.', callsInFlight),
        single('gauge', 'headgate_ledger_queue_entries', 'Entries not durable yet.', sources.ledgerQueued()),
        single('gauge', 'headgate_held_bytes', 'Bytes of bodies and answers held.', sources.bytesHeld()),
        single('counter', 'headgate_ledger_entries_total', 'Entries made durable.', entriesCommitted),
        exposeHistograms(
          'headgate_ledger_commit_seconds',
          'Duration of one group commit.',
          [],
          [{ labels: [], cell: commits }],
        ),
        exposeTold(refusals, alerts, messages),
        await process.metrics(),
      ].join('');
      return { contentType: 'text/plain; version=0.0.4; charset=utf-8', text };
    },
  };
}

/** The things that callers were refused, and that operators were told of. */
function exposeTold(refusals: CountTable, alerts: CountTable, messages: CountTable): string {
  return [
    exposeSamples(
      'counter',
      'headgate_refusals_total',
      'Requests answered with an error before they became calls.',
      ['platform', 'code'],
      refusals.samples(),
    ),
    exposeSamples(
      'counter',
      'headgate_alerts_total',
      'Things an operator should hear of.',
      ['kind'],
      alerts.samples(),
    ),
    exposeSamples(
      'counter',
      'headgate_webhook_attempts_total',
      'Attempts to post an event to a webhook.',
      ['webhook', 'result'],
      messages.samples(),
    ),
  ].join('');
}

function single(type: 'counter' | 'gauge', name: string, help: string, cell: number): string {
  return exposeSamples(type, name, help, [], [{ labels: [], cell }]);
}

/** How often targets went out of service, and what came of probes. */
export class ServiceMetrics {
  readonly #probes = new CountTable();
  readonly #ejections = new CountTable();
  #standing: readonly Sample[] = [];
  #lacking: ReadonlyMap<string, readonly string[]> = new Map();

  probed(channelId: string, result: Outcome['kind']): void {
    this.#probes.count(channelId, result);
  }

  ejected(channelId: string): void {
    this.#ejections.count(channelId);
  }

  /** How many models of each channel are in each state; told before every scrape. */
  stand(
    channels: readonly { readonly id: string; readonly models: readonly { readonly state: string }[] }[],
  ): void {
    this.#standing = channels.flatMap(({ id, models }) =>
      [...Map.groupBy(models, ({ state }) => state)].map(([state, { length }]) => ({
        labels: [id, state],
        cell: length,
      })),
    );
  }

  /** Names each channel once for every credential that is not there, or does not name it. */
  lacksCredentials(channelIds: readonly string[]): void {
    this.#lacking = Map.groupBy(channelIds, (id) => id);
  }

  expose(): string {
    return (
      exposeSamples(
        'gauge',
        'headgate_channel_models',
        'Models of a channel by how they stand: serving, limited, refused, missing, ejected or on trial.',
        ['channel', 'state'],
        this.#standing,
      ) +
      exposeSamples(
        'gauge',
        'headgate_credentials_missing',
        'Credentials of a channel that are not there; a channel without any is off.',
        ['channel'],
        [...this.#lacking].map(([id, { length }]) => ({ labels: [id], cell: length })),
      ) +
      exposeSamples(
        'counter',
        'headgate_probes_total',
        'Requests for one token that the gateway itself made, by what came of them.',
        ['channel', 'result'],
        this.#probes.samples(),
      ) +
      exposeSamples(
        'counter',
        'headgate_ejections_total',
        'Times that a model of a channel was taken out of service for its failures.',
        ['channel'],
        this.#ejections.samples(),
      )
    );
  }
}

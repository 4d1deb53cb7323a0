import { secretsNow, type Webhook } from '../catalogue/webhooks.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventSink } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import type { UpstreamClient } from '../ports/upstream.ts';
import type { Log } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { EventQueue } from './event-queue.ts';
import { NewsBell } from './news-bell.ts';
import { postMessage } from './post-message.ts';
import { testMessage } from './webhook-message.ts';
import { WebhookSender } from './webhook-sender.ts';

/** The stream of what operators should hear of, as the parts of a gateway use it. */
export interface Events extends EventSink {
  /** The webhooks in force from here on. */
  useWebhooks(webhooks: readonly Webhook[]): void;
  readonly webhooks: readonly Webhook[];
  /** Posts a message that only says that messages arrive: resolves with what was wrong; null where there is no such webhook, or it has no secret. */
  postTest(webhook: string): Promise<string | null> | null;
  /** Resolves when the store has taken news in, or after so long. */
  nextNews(withinMs: number): Promise<void>;
  /** From here on there is a store; what happened before waits for it. */
  keepIn(store: Store): void;
  /** Writes what has not been written. */
  close(): Promise<void>;
}

export interface EventsOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly uniform: () => number;
  /** The name of this gateway among others. */
  readonly deployment: () => string;
  readonly client: UpstreamClient;
}

export function openEvents({ log, metrics, newId, ...options }: EventsOptions): Events {
  const bell = new NewsBell();
  const over: EventSink['over'] = (kind, detail) => queue.over(kind, detail);
  const raise: EventSink['raise'] = (kind, detail) => queue.raise(kind, detail);
  const counted = countedAlerts({ raise, over }, metrics);
  const sender = new WebhookSender({ ...options, events: counted, onAttempt: metrics.webhookTried });
  const queue = new EventQueue({
    ...{ clock: options.clock, newId, redact: log.sink.redact },
    webhooksFor: (kind) => sender.namesFor(kind),
    onRecorded: () => {
      bell.ring();
      void sender.look();
    },
    onStuck: (news) => sender.sendUnstored(news),
  });
  return {
    raise,
    over,
    useWebhooks: (webhooks) => sender.use(webhooks),
    get webhooks() {
      return sender.webhooks;
    },
    postTest(name) {
      const webhook = sender.webhooks.find(({ id }) => id === name);
      if (webhook === undefined || webhook.secrets.length === 0) return null;
      const { deployment, clock, client } = options;
      const now = clock.now();
      const message = testMessage(newId(), deployment(), secretsNow(webhook, now), now);
      return postMessage(client, webhook, message);
    },
    nextNews: (withinMs) => bell.heard(withinMs),
    keepIn(store) {
      queue.keepIn(store);
      sender.start(store);
    },
    async close() {
      await sender.stop();
      await queue.close();
      await options.client.close();
    },
  };
}

/** The same sink, whose alerts are counted by the metrics, too. */
export function countedAlerts(sink: EventSink, metrics: Metrics): EventSink {
  return {
    raise(kind, detail) {
      metrics.alertRaised(kind);
      sink.raise(kind, detail);
    },
    over: (kind, detail) => sink.over(kind, detail),
  };
}

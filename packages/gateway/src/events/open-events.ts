import type { Clock } from '../ports/clock.ts';
import type { EventSink } from '../ports/events.ts';
import type { Log } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { EventQueue } from './event-queue.ts';
import { NewsBell } from './news-bell.ts';

/** The stream of what operators should hear of, as the parts of a gateway use it. */
export interface Events {
  readonly queue: EventQueue;
  /** Resolves when the store has taken news in, or after so long. */
  nextNews(withinMs: number): Promise<void>;
}

export interface EventsOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly newId: () => string;
}

export function openEvents({ log, clock, newId }: EventsOptions): Events {
  const bell = new NewsBell();
  const queue = new EventQueue({
    ...{ clock, newId, redact: log.sink.redact, webhooksFor: () => [] },
    onRecorded: () => bell.ring(),
    onStuck: () => undefined,
  });
  return { queue, nextNews: (withinMs) => bell.heard(withinMs) };
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

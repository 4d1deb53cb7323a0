import { z } from 'zod';
import type { WebhookStatus } from '../../admin/webhook-status.ts';
import type { EventFilter, EventStore, OperatorEvent } from '../../ports/events.ts';
import { eventNewsView, eventPage, eventQuery, followQuery, webhookPage } from './contract/events.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';

/** The source of the answers. */
export interface EventSources {
  readonly events: Pick<EventStore, 'list' | 'follow'>;
  /** Waits for news of events in this process, or so long; rejects never. */
  nextNews(withinMs: number): Promise<void>;
  webhooks(): Promise<readonly WebhookStatus[]>;
}

/** A follower is answered after this time at the latest; another process's news are looked for every second. */
const waitSecondsUsual = 30;
const lookEveryMs = 1_000;
/** Followers that wait at a time. */
const followersMax = 50;

/** Tells what operators should hear of, in pages and as it comes, and what became of the messages about it. */
export function eventsApi(api: ConsoleApi, { events, nextNews, webhooks }: EventSources): void {
  let followers = 0;
  const common = { method: 'get', access: 'operator', tag: 'Events' } as const;
  api.route(
    {
      ...{ ...common, path: '/events', query: eventQuery, answer: eventPage },
      summary: 'Events, the newest first',
    },
    async ({ query }) => {
      const before = readCursor(query.cursor, z.tuple([z.string().regex(/^[0-9a-f]{32}$/)]));
      if (!before.ok) return before.error;
      const found = await events.list(filterOf(query), query.limit + 1, before.value?.[0] ?? null);
      return answer(page(found.map(viewOf), query.limit, ({ id }) => [id]));
    },
  );
  api.route(
    {
      ...{ ...common, path: '/events/follow', query: followQuery, answer: eventNewsView },
      summary:
        'Events that have begun or ended since the mark of the answer before, as soon as there are any',
    },
    async ({ query, request }) => {
      if (followers >= followersMax) return crowded;
      followers += 1;
      try {
        let mark = query.after ?? null;
        for (let left = (query.wait ?? waitSecondsUsual) * 1000; ; left -= lookEveryMs) {
          const found = await events.follow(filterOf(query), mark);
          // Who has no mark yet is given the one of now.
          if (mark === null || found.events.length > 0 || left <= 0 || request.signal.aborted)
            return answer({ events: found.events.map(viewOf), mark: found.mark });
          mark = found.mark;
          await nextNews(Math.min(left, lookEveryMs));
        }
      } finally {
        followers -= 1;
      }
    },
  );
  api.route(
    {
      ...{ ...common, path: '/events/webhooks', answer: webhookPage },
      summary: 'Receivers of events, and how their messages stand',
    },
    async () => answer({ items: (await webhooks()).map(webhookOf), next: null }),
  );
}

function filterOf({
  kind,
  severity,
  since,
}: Pick<z.output<typeof eventQuery>, 'kind' | 'severity' | 'since'>) {
  return {
    fromMs: since === undefined ? 0 : Date.parse(since),
    ...(kind === undefined ? {} : { kind }),
    ...(severity === undefined ? {} : { severity }),
  } satisfies EventFilter;
}

function viewOf({ firstAtMs, lastAtMs, endedAtMs, ...event }: OperatorEvent) {
  const at = { firstAt: timeOf(firstAtMs), lastAt: timeOf(lastAtMs) };
  return { ...event, ...at, endedAt: endedAtMs === null ? null : timeOf(endedAtMs) };
}

function webhookOf({ lastTriedAtMs, lastDeliveredAtMs, ...status }: WebhookStatus) {
  return {
    ...status,
    lastTriedAt: lastTriedAtMs === null ? null : timeOf(lastTriedAtMs),
    lastDeliveredAt: lastDeliveredAtMs === null ? null : timeOf(lastDeliveredAtMs),
  };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

const crowded = problem(
  'too_many_followers',
  `${followersMax} requests follow the events already; ask with wait=0, or later.`,
);

import { z } from 'zod';
import { acknowledgeEvents, type EventTools } from '../../admin/events.ts';
import type { Actor } from '../../admin/people/actor.ts';
import type { EventFilter, EventStore } from '../../ports/events.ts';
import {
  acknowledgeBody,
  acknowledgedView,
  eventNewsView,
  eventPage,
  eventQuery,
  followQuery,
  unseenView,
} from './contract/events.ts';
import { eventView } from './event-view.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';

/** The source of the answers. */
export interface EventSources {
  readonly events: Pick<EventStore, 'list' | 'follow'>;
  eventTools(actor: Actor): EventTools;
  /** Waits for news of events in this process, or so long; rejects never. */
  nextNews(withinMs: number): Promise<void>;
}

/** A follower is answered after this time at the latest; another process's news are looked for every second. */
const waitSecondsUsual = 30;
const lookEveryMs = 1_000;
/** Followers that wait at a time. */
const followersMax = 50;

/** Tells what operators should hear of, in pages and as it comes, and notes who has seen it. */
export function eventsApi(api: ConsoleApi, { events, nextNews, eventTools }: EventSources): void {
  let followers = 0;
  const common = { method: 'get', access: 'operator', tag: 'Events' } as const;
  api.route(
    {
      ...{ ...common, path: '/events', query: eventQuery, answer: eventPage },
      summary: 'Events, the newest first',
    },
    async ({ query, actor }) => {
      const before = readCursor(query.cursor, z.tuple([z.string().regex(/^[0-9a-f]{32}$/)]));
      if (!before.ok) return before.error;
      const found = await events.list(
        filterOf(query, eventTools(actor).nowMs),
        query.limit + 1,
        before.value?.[0] ?? null,
      );
      return answer(page(found.map(eventView), query.limit, ({ id }) => [id]));
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
          const found = await events.follow(filterOf(query, 0), mark);
          // Who has no mark yet is given the one of now.
          if (mark === null || found.events.length > 0 || left <= 0 || request.signal.aborted)
            return answer({ events: found.events.map(eventView), mark: found.mark });
          mark = found.mark;
          await nextNews(Math.min(left, lookEveryMs));
        }
      } finally {
        followers -= 1;
      }
    },
  );
  seenApi(api, { eventTools });
}

function seenApi(api: ConsoleApi, { eventTools }: Pick<EventSources, 'eventTools'>): void {
  api.route(
    {
      ...{ method: 'get', path: '/events/unseen', access: 'operator', tag: 'Events', answer: unseenView },
      summary: 'How many events last that nobody has acknowledged, notes left out',
    },
    async ({ actor }) => {
      const { store, nowMs } = eventTools(actor);
      return answer(await store.events.unseen(nowMs));
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/events/acknowledge', access: 'operator', tag: 'Events' },
      ...{ body: acknowledgeBody, answer: acknowledgedView },
      summary: 'Notes that you have seen these events',
      description: 'The name of who was first stays. What nobody had acknowledged before is answered.',
    },
    async ({ body: { ids }, actor }) => {
      const seen = await acknowledgeEvents(eventTools(actor), ids);
      return answer({ items: seen.map(eventView) });
    },
  );
}

type Asked = Omit<z.output<typeof eventQuery>, 'cursor' | 'limit'>;

function filterOf({ kind, severity, since, until, state, acknowledged }: Asked, nowMs: number): EventFilter {
  return {
    fromMs: since === undefined ? 0 : Date.parse(since),
    ...(until === undefined ? {} : { toMs: Date.parse(until) }),
    ...(kind === undefined ? {} : { kind }),
    ...(severity === undefined ? {} : { severity }),
    ...(state === undefined ? {} : { over: { isOver: state === 'ended', atMs: nowMs } }),
    ...(acknowledged === undefined ? {} : { isAcknowledged: acknowledged }),
  };
}

const crowded = problem(
  'too_many_followers',
  `${followersMax} requests follow the events already; ask with wait=0, or later.`,
);

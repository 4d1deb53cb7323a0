import { fail, type Result, succeed } from '@headgate/protocols';
import { type Context, Hono } from 'hono';
import type { WebhookStatus } from '../../admin/webhook-status.ts';
import { alertKindNames } from '../../catalogue/alert-kinds.ts';
import { type EventFilter, type EventStore, severities } from '../../ports/events.ts';
import { type ConsoleProblem, sendProblem } from './operator-gate.ts';

/** The source of the answers. */
export interface EventSources {
  readonly events: Pick<EventStore, 'list' | 'follow'>;
  /** Waits for news of events in this process, or so long; rejects never. */
  nextNews(withinMs: number): Promise<void>;
  webhooks(): Promise<readonly WebhookStatus[]>;
}

const limitMax = 500;
const limitUsual = 50;
/** A follower is answered after this time at the latest; another process's news are looked for every second. */
const waitSecondsMax = 30;
const lookEveryMs = 1_000;
/** Followers that wait at a time. */
const followersMax = 50;

/**
 * Tells what operators should hear of: `GET /events` lists, newest first and in pages; `GET /events/follow` answers as soon as an event has
 * begun or ended since the mark that the answer before gave; `GET /events/webhooks` tells what became of their messages.
 */
export function eventsApi({ events, nextNews, webhooks }: EventSources): Hono {
  const routes = new Hono();
  let followers = 0;
  routes.get('/events', async (context) => {
    const filter = readFilter(context);
    const limit = readNumber(context, 'limit', 1, limitMax, limitUsual);
    if (!filter.ok) return sendProblem(context, filter.error);
    if (!limit.ok) return sendProblem(context, limit.error);
    const before = context.req.query('before') ?? null;
    if (before !== null && !/^[0-9a-f]{32}$/.test(before))
      return sendProblem(context, invalid('before', 'must be the id of an event'));
    const found = await events.list(filter.value, limit.value + 1, before);
    const page = found.slice(0, limit.value);
    return context.json({
      events: page,
      next: found.length > limit.value ? (page.at(-1)?.id ?? null) : null,
    });
  });
  routes.get('/events/follow', async (context) => {
    const filter = readFilter(context);
    const wait = readNumber(context, 'wait', 0, waitSecondsMax, waitSecondsMax);
    const after = readNumber(context, 'after', 0, Number.MAX_SAFE_INTEGER, -1);
    if (!filter.ok) return sendProblem(context, filter.error);
    if (!wait.ok) return sendProblem(context, wait.error);
    if (!after.ok) return sendProblem(context, after.error);
    if (followers >= followersMax) return sendProblem(context, crowded);
    followers += 1;
    try {
      let mark = after.value === -1 ? null : after.value;
      for (let left = wait.value * 1000; ; left -= lookEveryMs) {
        const found = await events.follow(filter.value, mark);
        // Who has no mark yet is given the one of now.
        if (mark === null || found.events.length > 0 || left <= 0 || context.req.raw.signal.aborted)
          return context.json(found);
        mark = found.mark;
        await nextNews(Math.min(left, lookEveryMs));
      }
    } finally {
      followers -= 1;
    }
  });
  routes.get('/events/webhooks', async (context) => context.json({ webhooks: await webhooks() }));
  return routes;
}

function readFilter(context: Context): Result<EventFilter, ConsoleProblem> {
  const kind = context.req.query('kind');
  const severity = context.req.query('severity');
  const knownKind = alertKindNames.find((name) => name === kind);
  const knownSeverity = severities.find((name) => name === severity);
  if (kind !== undefined && knownKind === undefined)
    return fail(invalid('kind', `must be one of ${alertKindNames.join(', ')}`));
  if (severity !== undefined && knownSeverity === undefined)
    return fail(invalid('severity', `must be one of ${severities.join(', ')}`));
  const fromMs = readNumber(context, 'sinceMs', 0, Number.MAX_SAFE_INTEGER, 0);
  if (!fromMs.ok) return fromMs;
  return succeed({
    fromMs: fromMs.value,
    ...(knownKind === undefined ? {} : { kind: knownKind }),
    ...(knownSeverity === undefined ? {} : { severity: knownSeverity }),
  });
}

function readNumber(
  { req }: Context,
  name: string,
  min: number,
  max: number,
  absent: number,
): Result<number, ConsoleProblem> {
  const text = req.query(name);
  if (text === undefined) return succeed(absent);
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max
    ? succeed(value)
    : fail(invalid(name, `must be a whole number from ${min} to ${max}`));
}

function invalid(param: string, what: string): ConsoleProblem {
  return { status: 400, code: 'invalid_request', message: `${param}: ${what}`, param };
}

const crowded: ConsoleProblem = {
  status: 503,
  code: 'too_many_followers',
  message: `${followersMax} requests follow the events already; ask with wait=0, or later.`,
};

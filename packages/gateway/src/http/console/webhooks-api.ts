import { z } from 'zod';
import { type EventTools, redeliver, tryWebhook } from '../../admin/events.ts';
import type { Actor } from '../../admin/people/actor.ts';
import type { PieceTools } from '../../admin/piecewise.ts';
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  graceUsual,
  removeWebhook,
  rotateWebhook,
} from '../../admin/webhooks/change-webhooks.ts';
import { webhookFormOf, webhookText } from '../../admin/webhooks/webhook-form.ts';
import type { WebhookStatus } from '../../admin/webhooks/webhook-status.ts';
import type { DeliveryRecord } from '../../ports/events.ts';
import { pageQuery } from './contract/common.ts';
import { declarationView } from './contract/keys.ts';
import {
  deliveryBody,
  deliveryPage,
  secretRotation,
  toldWebhookView,
  webhookAnswerView,
  webhookDraft,
  webhookPage,
  webhookPatch,
  webhookView,
} from './contract/webhooks.ts';
import { eventView } from './event-view.ts';
import { answer, created, invalid, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';
import { pieceProblem, seenBy } from './piece-problems.ts';

/** The source of the answers. */
export interface WebhookSources {
  webhooks(): Promise<readonly WebhookStatus[]>;
  webhookTools(actor: Actor): PieceTools;
  eventTools(actor: Actor): EventTools;
  /** Posts a message that only says that messages arrive; null where there is no such webhook, or it has no secret. */
  postTest(webhook: string): Promise<string | null> | null;
}

const common = { access: 'operator', tag: 'Webhooks' } as const;

/** Tells of the receivers of events and what has become of their messages, makes and changes them, and has messages sent. */
export function webhooksApi(api: ConsoleApi, sources: WebhookSources): void {
  readingRoutes(api, sources);
  changingRoutes(api, sources);
  messageRoutes(api, sources);
}

function readingRoutes(api: ConsoleApi, sources: WebhookSources): void {
  api.route(
    {
      ...{ ...common, method: 'get', path: '/webhooks', answer: webhookPage },
      summary: 'Receivers of events, and how their messages stand',
    },
    async () => answer({ items: (await sources.webhooks()).map(webhookOf), next: null }),
  );
  api.route(
    { ...common, method: 'get', path: '/webhooks/{name}', answer: webhookView, summary: 'A webhook' },
    ({ params: { name }, actor }) => viewOf(sources, actor, name),
  );
  api.route(
    {
      ...{ ...common, method: 'get', path: '/webhooks/{name}/declaration', answer: declarationView },
      summary: 'A webhook as a configuration file declares it, without what the store keeps of its secret',
    },
    async ({ params: { name }, actor }) => {
      const webhook = findWebhook(await stored(sources, actor), name);
      if (webhook === null) return notThere(name);
      return answer({ yaml: webhookText(webhook) }, { version: webhookFormOf(webhook) });
    },
  );
}

function changingRoutes(api: ConsoleApi, sources: WebhookSources): void {
  const onceShown = ['secret'];
  api.route(
    {
      ...{ ...common, method: 'post', path: '/webhooks', creates: true, fresh: true, onceShown },
      ...{ rawBody: webhookDraft, answer: toldWebhookView },
      summary: 'Makes a webhook and tells its secret, once',
    },
    async ({ actor, body }) => {
      if (!isRecord(body)) return notAnObject;
      const { name, ...form } = body;
      const made = await createWebhook(sources.webhookTools(actor), String(name ?? ''), form);
      return made.ok ? told(sources, actor, made.value) : pieceProblem(made.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'patch', path: '/webhooks/{name}', fresh: true },
      ...{ rawBody: webhookPatch, answer: webhookView, summary: 'Replaces members of a webhook' },
    },
    async ({ actor, params: { name }, body, ifMatch }) => {
      if (!isRecord(body)) return notAnObject;
      const changed = await changeWebhook(sources.webhookTools(actor), name, body, seenBy(ifMatch));
      return changed.ok ? viewOf(sources, actor, name) : pieceProblem(changed.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'delete', path: '/webhooks/{name}', fresh: true, answer: null },
      summary: 'Takes a webhook away, its secrets and its messages with it',
    },
    async ({ actor, params: { name }, ifMatch }) => {
      const removed = await removeWebhook(sources.webhookTools(actor), name, seenBy(ifMatch));
      return removed.ok ? nothing() : pieceProblem(removed.error);
    },
  );
  api.route(
    {
      ...{
        ...common,
        method: 'post',
        path: '/webhooks/{name}/rotate',
        creates: true,
        fresh: true,
        onceShown,
      },
      ...{ body: secretRotation, answer: toldWebhookView },
      summary:
        'Gives a webhook another secret and tells it, once; the one before signs beside it for a while',
    },
    async ({ actor, params: { name }, body: { grace = graceUsual } }) => {
      const rotated = await rotateWebhook(sources.webhookTools(actor), name, grace);
      return rotated.ok ? told(sources, actor, rotated.value) : pieceProblem(rotated.error);
    },
  );
}

const phases = z.enum(['begun', 'ended']);
const place = z.tuple([z.string().regex(/^[0-9a-f]{32}$/), phases]);

function messageRoutes(api: ConsoleApi, { eventTools, postTest }: WebhookSources): void {
  api.route(
    {
      ...{ ...common, method: 'get', path: '/webhooks/{name}/deliveries' },
      ...{ query: pageQuery, answer: deliveryPage },
      summary: 'Messages to a webhook, those of the newest events first',
    },
    async ({ params: { name }, query: { cursor, limit }, actor }) => {
      const before = readCursor(cursor, place);
      if (!before.ok) return before.error;
      const [eventId, phase] = before.value ?? [];
      const behind = eventId === undefined || phase === undefined ? null : { eventId, phase };
      const found = await eventTools(actor).store.events.deliveries(name, limit + 1, behind);
      return answer(page(found.map(deliveryOf), limit, (last) => [last.event.id, last.phase]));
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/webhooks/{name}/test', answer: webhookAnswerView },
      summary: 'Posts a message that only says that messages arrive, and tells what its receiver answers',
    },
    async ({ params: { name }, actor }) => {
      const tried = await tryWebhook({ ...eventTools(actor), post: postTest }, name);
      return tried === null ? unknown : answer(tried);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/webhooks/{name}/redeliver' },
      ...{ body: deliveryBody, answer: null },
      summary: 'Has a message sent once more, from the first attempt on',
    },
    async ({ params: { name }, body, actor }) =>
      (await redeliver(eventTools(actor), name, body)) ? nothing() : unknown,
  );
}

const unknown = problem('not_found', 'There is no such webhook or message, or its secret is missing.');
const notAnObject = invalid([{ field: '', message: 'must be an object of members' }]);

function notThere(name: string) {
  return problem('not_found', `There is no webhook "${name}".`);
}

function stored({ webhookTools }: WebhookSources, actor: Actor) {
  return webhookTools(actor).store.configuration.load();
}

/** How it stands, and of what is written the state that an edit is held against. */
async function seen(sources: WebhookSources, actor: Actor, name: string) {
  const [statuses, configuration] = await Promise.all([sources.webhooks(), stored(sources, actor)]);
  const status = statuses.find((each) => each.name === name);
  const webhook = findWebhook(configuration, name);
  if (status === undefined || webhook === null) return null;
  return { view: webhookOf(status), version: webhookFormOf(webhook) };
}

async function viewOf(sources: WebhookSources, actor: Actor, name: string) {
  const found = await seen(sources, actor, name);
  return found === null ? notThere(name) : answer(found.view, { version: found.version });
}

async function told(
  sources: WebhookSources,
  actor: Actor,
  { id, secret }: { readonly id: string; readonly secret: string },
) {
  const found = await seen(sources, actor, id);
  if (found === null) return notThere(id);
  return created({ secret, webhook: found.view }, { version: found.version });
}

function webhookOf({ lastTriedAtMs, lastDeliveredAtMs, formerUntilMs, ...status }: WebhookStatus) {
  return {
    ...status,
    declared: status.source !== 'console',
    formerUntil: timeOf(formerUntilMs),
    lastTriedAt: timeOf(lastTriedAtMs),
    lastDeliveredAt: timeOf(lastDeliveredAtMs),
  };
}

function deliveryOf({ event, dueAtMs, triedAtMs, ...delivery }: DeliveryRecord) {
  return { ...delivery, event: eventView(event), nextAt: timeOf(dueAtMs), lastTriedAt: timeOf(triedAtMs) };
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

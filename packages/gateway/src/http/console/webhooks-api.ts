import { z } from 'zod';
import { type EventTools, redeliver, tryWebhook } from '../../admin/events.ts';
import type { Actor } from '../../admin/people/actor.ts';
import type { WebhookStatus } from '../../admin/webhook-status.ts';
import type { DeliveryRecord } from '../../ports/events.ts';
import { pageQuery } from './contract/common.ts';
import { deliveryBody, deliveryPage, webhookAnswerView, webhookPage } from './contract/events.ts';
import { eventView } from './event-view.ts';
import { answer, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';

/** The source of the answers. */
export interface WebhookSources {
  webhooks(): Promise<readonly WebhookStatus[]>;
  eventTools(actor: Actor): EventTools;
  /** Posts a message that only says that messages arrive; null where there is no such webhook, or it has no secret. */
  postTest(webhook: string): Promise<string | null> | null;
}

const phases = z.enum(['begun', 'ended']);
const place = z.tuple([z.string().regex(/^[0-9a-f]{32}$/), phases]);

/** Tells of the receivers of events, what has become of their messages, and has some sent. */
export function webhooksApi(api: ConsoleApi, { webhooks, eventTools, postTest }: WebhookSources): void {
  const common = { access: 'operator', tag: 'Webhooks' } as const;
  api.route(
    {
      ...{ ...common, method: 'get', path: '/events/webhooks', answer: webhookPage },
      summary: 'Receivers of events, and how their messages stand',
    },
    async () => answer({ items: (await webhooks()).map(webhookOf), next: null }),
  );
  api.route(
    {
      ...{ ...common, method: 'get', path: '/events/webhooks/{name}/deliveries' },
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
      ...{ ...common, method: 'post', path: '/events/webhooks/{name}/test', answer: webhookAnswerView },
      summary: 'Posts a message that only says that messages arrive, and tells what its receiver answers',
    },
    async ({ params: { name }, actor }) => {
      const tried = await tryWebhook({ ...eventTools(actor), post: postTest }, name);
      return tried === null ? unknown : answer(tried);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/events/webhooks/{name}/redeliver' },
      ...{ body: deliveryBody, answer: null },
      summary: 'Has a message sent once more, from the first attempt on',
    },
    async ({ params: { name }, body, actor }) =>
      (await redeliver(eventTools(actor), name, body)) ? nothing() : unknown,
  );
}

const unknown = problem('not_found', 'There is no such webhook or message, or its secret is missing.');

function webhookOf({ lastTriedAtMs, lastDeliveredAtMs, ...status }: WebhookStatus) {
  return { ...status, lastTriedAt: timeOf(lastTriedAtMs), lastDeliveredAt: timeOf(lastDeliveredAtMs) };
}

function deliveryOf({ event, dueAtMs, triedAtMs, ...delivery }: DeliveryRecord) {
  return { ...delivery, event: eventView(event), nextAt: timeOf(dueAtMs), lastTriedAt: timeOf(triedAtMs) };
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

import type { DeliveryPlace, KeptEvent } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import { type AuditTools, writeAudit } from './audit.ts';
import { nameOf } from './people/actor.ts';

export interface EventTools extends AuditTools {
  readonly store: Pick<Store, 'audit' | 'events'>;
}

/** Notes that whoever asks has seen these events; gives back those that nobody had before. */
export async function acknowledgeEvents(
  tools: EventTools,
  ids: readonly string[],
): Promise<readonly KeptEvent[]> {
  const { store, actor, nowMs } = tools;
  const seen = await store.events.acknowledge(ids, nameOf(actor), nowMs);
  for (const { id, kind, subject } of seen)
    await writeAudit(tools, {
      action: 'event.acknowledge',
      target: { kind: 'event', id, name: subject === '' ? kind : subject },
      accountId: null,
      after: { kind, subject },
    });
  return seen;
}

/** Has a message to a webhook sent once more; false where there is none. */
export async function redeliver(tools: EventTools, webhook: string, place: DeliveryPlace): Promise<boolean> {
  if (!(await tools.store.events.redeliver(webhook, place, tools.nowMs))) return false;
  await note(tools, 'redeliver', webhook, { event: place.eventId, phase: place.phase });
  return true;
}

/** The answer of a receiver to a message that says nothing but that messages arrive. */
export interface WebhookAnswer {
  /** Null when it has taken it. */
  readonly problem: string | null;
  readonly tookMs: number;
}

/** Posts such a message; null where there is no webhook of that name that has its secret. */
export async function tryWebhook(
  tools: EventTools & { readonly post: (webhook: string) => Promise<string | null> | null },
  webhook: string,
): Promise<WebhookAnswer | null> {
  const begunAt = performance.now();
  const posted = tools.post(webhook);
  if (posted === null) return null;
  const problem = await posted;
  await note(tools, 'test', webhook, { problem });
  return { problem, tookMs: Math.round(performance.now() - begunAt) };
}

function note(tools: EventTools, verb: string, id: string, after: Readonly<Record<string, unknown>>) {
  return writeAudit(tools, {
    action: `webhook.${verb}`,
    target: { kind: 'webhook', id },
    accountId: null,
    after,
  });
}

import type { Webhook } from '../../catalogue/webhooks.ts';
import type { WebhookStanding } from '../../ports/events.ts';

/** A webhook, as operators see it. */
export interface WebhookStatus
  extends Omit<WebhookStanding, 'webhook'>,
    Pick<Webhook, 'severity' | 'description' | 'enabled' | 'allowPrivate' | 'source' | 'keeps'> {
  readonly name: string;
  /** Scheme, host and port: what stands behind them may be a secret of its receiver. */
  readonly origin: string;
  /** Null for all. */
  readonly kinds: readonly string[] | null;
  /** False while its secret is not there: then its messages wait. */
  readonly isReady: boolean;
  /** When the secret before this one signs no more; null where there is none. */
  readonly formerUntilMs: number | null;
}

export function webhookStatuses(
  webhooks: readonly Webhook[],
  standings: readonly WebhookStanding[],
  nowMs: number,
): readonly WebhookStatus[] {
  const counts = new Map(standings.map(({ webhook, ...standing }) => [webhook, standing]));
  return webhooks.map(({ id, url, kinds, severity, secrets, ...webhook }) => {
    const { description, enabled, allowPrivate, source, keeps } = webhook;
    const until = secrets.flatMap(({ untilMs }) => (untilMs !== null && untilMs > nowMs ? [untilMs] : []));
    return {
      ...{ name: id, origin: new URL(url).origin, kinds, severity, isReady: secrets.length > 0 },
      ...{ description, enabled, allowPrivate, source, keeps },
      formerUntilMs: until.length === 0 ? null : Math.max(...until),
      ...(counts.get(id) ?? nothingYet),
    };
  });
}

const nothingYet: Omit<WebhookStanding, 'webhook'> = {
  waiting: 0,
  delivered: 0,
  givenUp: 0,
  lastTriedAtMs: null,
  lastDeliveredAtMs: null,
  problem: null,
};

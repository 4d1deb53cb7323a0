import type { Webhook } from '../catalogue/webhooks.ts';
import type { WebhookStanding } from '../ports/events.ts';

/** A webhook, as operators see it. */
export interface WebhookStatus extends Omit<WebhookStanding, 'webhook'> {
  readonly name: string;
  /** Scheme, host and port: what stands behind them may be a secret of its receiver. */
  readonly origin: string;
  /** Null for all. */
  readonly kinds: readonly string[] | null;
  readonly severity: string;
  /** False while its secret is not there: then its messages wait. */
  readonly isReady: boolean;
}

export function webhookStatuses(
  webhooks: readonly Webhook[],
  standings: readonly WebhookStanding[],
): readonly WebhookStatus[] {
  const counts = new Map(standings.map(({ webhook, ...standing }) => [webhook, standing]));
  return webhooks.map(({ id, url, kinds, severity, secret }) => ({
    ...{ name: id, origin: new URL(url).origin, kinds, severity, isReady: secret !== null },
    ...(counts.get(id) ?? nothingYet),
  }));
}

const nothingYet: Omit<WebhookStanding, 'webhook'> = {
  waiting: 0,
  delivered: 0,
  givenUp: 0,
  lastTriedAtMs: null,
  lastDeliveredAtMs: null,
  problem: null,
};

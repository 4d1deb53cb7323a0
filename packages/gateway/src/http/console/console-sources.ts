import { channelStatuses } from '../../admin/channel-status.ts';
import { explainRoute } from '../../admin/explain-route.ts';
import type { Restart } from '../../admin/serving.ts';
import { webhookStatuses } from '../../admin/webhook-status.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Webhook } from '../../catalogue/webhooks.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import type { Router } from '../../route/router.ts';
import type { ApiSources } from './operations-api.ts';

/** The parts of a gateway that the console tells of. */
export interface ConsoleParts {
  readonly store: Pick<Store, 'accounts' | 'audit' | 'catchUp' | 'configuration' | 'events' | 'findEntry'>;
  readonly catalogue: { readonly current: Catalogue };
  readonly events: {
    readonly webhooks: readonly Webhook[];
    nextNews(withinMs: number): Promise<void>;
  };
  readonly restart: Restart;
  readonly router: Router;
  readonly clock: Clock;
}

export function consoleSources({
  store,
  catalogue,
  events,
  restart,
  router,
  clock,
}: ConsoleParts): ApiSources {
  return {
    accounts: (actor) => ({ store, actor, nowMs: clock.now() }),
    events: store.events,
    nextNews: events.nextNews,
    webhooks: async () => webhookStatuses(events.webhooks, await store.events.standings()),
    explainRoute: (question) =>
      explainRoute(question, { catalogue: catalogue.current, router, nowMs: clock.now() }),
    findEntry: store.findEntry,
    restart,
    channels: () => channelStatuses(catalogue.current, router, clock.now()),
  };
}

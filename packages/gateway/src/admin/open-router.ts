import type { Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Gateway } from '../ports/gateway.ts';
import type { Observer } from '../ports/observer.ts';
import type { Store } from '../ports/store.ts';
import { Prober } from '../route/prober.ts';
import { Router } from '../route/router.ts';
import { StateKeeper } from '../route/saved.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { plannerOptions } from './explain-route.ts';

const probeIntervalMs = 1000;
/** A process that is killed loses so much of what its router has learned. */
const saveIntervalMs = 1000;

export interface RouterParts {
  readonly settings: Settings;
  readonly store: Pick<Store, 'routerStates'>;
  readonly configuration: Pick<ConfigurationService, 'hashCredential'>;
  readonly observer: Pick<Observer, 'serviceChanged'>;
  readonly clock: Clock;
}

/** The router, with what an earlier process has learned, which a later one will hear of. */
export async function openRouter(
  { settings, store, configuration, observer, clock }: RouterParts,
  opened: AsyncDisposableStack,
): Promise<{ readonly router: Router; readonly keeper: StateKeeper }> {
  const router = new Router({
    ...plannerOptions(settings, configuration.hashCredential),
    uniform: Math.random,
    onService: ({ channel, upstreamModel }, change) =>
      observer.serviceChanged(change, channel.id, upstreamModel),
  });
  const keeper = new StateKeeper(router, store.routerStates, clock);
  await keeper.restore();
  opened.defer(() => keeper.close());
  const saving = setInterval(() => void keeper.save(), saveIntervalMs);
  opened.defer(() => clearInterval(saving));
  return { router, keeper };
}

/** Asks between calls what is out of service or idle. */
export function openProber(
  gateway: Gateway,
  router: Router,
  idleMs: number,
  opened: AsyncDisposableStack,
): Prober {
  const prober = new Prober({ gateway, router, idleMs });
  const probing = setInterval(() => prober.tick(), probeIntervalMs);
  opened.defer(() => {
    clearInterval(probing);
    prober.stop();
  });
  return prober;
}

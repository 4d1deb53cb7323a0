import type { Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { StatusKeeper } from '../status/keeper.ts';
import type { AskTarget } from '../status/probes.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { type Deployment, deploymentOf, publicDeployment, statusDirectory } from './deployment.ts';

const tickMs = 1000;

export interface StatusParts {
  readonly settings: Settings;
  readonly store: Pick<Store, 'status'>;
  readonly configuration: Pick<ConfigurationService, 'catalogue' | 'selfConfiguration'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The status page of a gateway that is about to listen: the origins of its ports are known once it does. */
export interface OpenedStatus {
  readonly keeper: StatusKeeper;
  /** The deployment as people are told of it, by where its ports are reached if nobody says another origin. */
  deployment(listening: { readonly apiOrigin: string; readonly consoleOrigin: string }): Deployment;
  /** Counts are judged and the page is made from now on. */
  start(
    listening: { readonly apiOrigin: string; readonly consoleOrigin: string },
    prober: { readonly ask: AskTarget },
  ): void;
}

/** Its counts are written when `opened` lets go of it. */
export function openStatus(parts: StatusParts, opened: AsyncDisposableStack): OpenedStatus {
  const { settings, store, configuration, clock, logger } = parts;
  let listening = { apiOrigin: '', consoleOrigin: '' };
  const deployment = (at: typeof listening) => deploymentOf(settings, at);
  const isSimulated = configuration.selfConfiguration.kind === 'demo';
  const keeper = new StatusKeeper({
    ...{ store: store.status, clock, catalogue: configuration.catalogue },
    deployment: () => publicDeployment(deployment(listening), isSimulated),
    directory: statusDirectory(settings),
    probesPerCell: settings.statusProbes,
    onTrouble: (error) => logger.warn('the status page is not up to date', { error }),
  });
  opened.defer(() => keeper.close());
  return {
    keeper,
    deployment,
    start(origins, prober) {
      listening = origins;
      keeper.probeWith((target, model) => prober.ask(target, model));
      const ticking = setInterval(() => void keeper.tick(), tickMs);
      opened.defer(() => clearInterval(ticking));
    },
  };
}

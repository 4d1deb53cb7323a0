import type { ConfigurationFile } from '../config/configuration-file.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { StatusKeeper } from '../status/keeper.ts';
import type { AskTarget } from '../status/probes.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { deploymentOf, publicDeployment, statusDirectory } from './deployment.ts';

const tickMs = 1000;

export interface StatusParts {
  readonly settings: Settings;
  readonly file: ConfigurationFile | null;
  readonly store: Pick<Store, 'status'>;
  readonly configuration: Pick<ConfigurationService, 'catalogue' | 'selfConfiguration'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The status page of a gateway that is about to listen: the origins of its ports are known once it does. */
export interface OpenedStatus {
  readonly keeper: StatusKeeper;
  /** Counts are judged and the page is made from now on. */
  start(
    listening: { readonly apiOrigin: string; readonly consoleOrigin: string },
    prober: { readonly ask: AskTarget },
  ): void;
}

/** Its counts are written when `opened` lets go of it. */
export function openStatus(parts: StatusParts, opened: AsyncDisposableStack): OpenedStatus {
  const { settings, file, store, configuration, clock, logger } = parts;
  let listening = { apiOrigin: '', consoleOrigin: '' };
  const isSimulated = configuration.selfConfiguration.kind === 'demo';
  const keeper = new StatusKeeper({
    ...{ store: store.status, clock, catalogue: configuration.catalogue },
    deployment: () => publicDeployment(deploymentOf(settings, listening, file), isSimulated),
    directory: statusDirectory(settings),
    probesPerCell: settings.statusProbes,
    onTrouble: (error) => logger.warn('the status page is not up to date', { error }),
  });
  opened.defer(() => keeper.close());
  return {
    keeper,
    start(origins, prober) {
      listening = origins;
      keeper.probeWith((target, model) => prober.ask(target, model));
      const ticking = setInterval(() => keeper.tick(), tickMs);
      opened.defer(() => clearInterval(ticking));
    },
  };
}

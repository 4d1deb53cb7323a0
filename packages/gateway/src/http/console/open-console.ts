import type { ChannelStatus } from '../../admin/channel-status.ts';
import type { LedgerTrouble } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import type { ListenAddress } from '../listening.ts';
import { type ConsoleServer, startConsole, unreadyReasons } from './console-server.ts';
import { type ConsoleParts, consoleSources, type PortOrigins } from './console-sources.ts';
import { StatusLane, type StatusPageSource } from './status-lane.ts';

/** The state of the process, as probes are told it, and its ports' places once these are known. */
export interface ProcessState extends PortOrigins {
  readonly isStarting: boolean;
  readonly isLeaving: boolean;
}

/** The parts of a gateway that its console port is made of. */
export interface ConsolePortParts extends ConsoleParts {
  readonly store: ConsoleParts['store'] & Pick<Store, 'creates'> & { readonly trouble: LedgerTrouble | null };
  readonly status: ConsoleParts['status'] & { readonly keeper: StatusPageSource };
  readonly metrics: {
    readonly service: { stand(statuses: readonly ChannelStatus[]): void };
    expose(): Promise<{ readonly contentType: string; readonly text: string }>;
  };
}

/** An address, and how long a request may take to come. */
export interface ConsolePlace extends ListenAddress {
  readonly headersMs: number;
  readonly bodyMs: number;
}

/** Opens the console port of a gateway. */
export function openConsole(
  parts: ConsolePortParts,
  place: ConsolePlace,
  state: ProcessState,
  onBug: (error: unknown) => void,
): Promise<ConsoleServer> {
  const { store, metrics, tokens, settings, clock, status } = parts;
  const routes = consoleSources(parts, state);
  return startConsole({
    ...{ ...place, consoleOrigin: settings.consoleOrigin, tokens, routes, onBug },
    unreadyReasons: () => unreadyReasons(state, store.trouble),
    exposeMetrics: async () => {
      metrics.service.stand(await routes.board.statuses());
      return metrics.expose();
    },
    creates: store.creates,
    onClosing: () => routes.people.refusals.settle(),
    trustedProxies: settings.trustedProxies,
    now: clock.now,
    apiOrigin: () => state.apiOrigin,
    status: new StatusLane(status.keeper, () => settings.language, clock.now),
  });
}

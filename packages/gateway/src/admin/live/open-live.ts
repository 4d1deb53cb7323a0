import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventStore } from '../../ports/events.ts';
import { keyFinder } from '../key-finder.ts';
import { LiveHub } from './live-hub.ts';

/** The parts of a gateway that a hub tells of. */
export interface LiveParts {
  readonly store: { readonly events: Pick<EventStore, 'follow'> };
  readonly catalogue: { readonly current: Catalogue };
  readonly metrics: { readonly callsInFlight: number };
  readonly clock: Clock;
}

/** The hub of a process; its readers end before the port that they came by. */
export function openLive(
  { store, catalogue, metrics, clock }: LiveParts,
  opened: AsyncDisposableStack,
): LiveHub {
  const keyOf = keyFinder(catalogue);
  const options = {
    now: clock.now,
    openCalls: () => metrics.callsInFlight,
    nameOf: (id: string) => keyOf(id)?.name ?? id,
    followEvents: (mark: number | null) => store.events.follow({}, mark),
    every: (ms: number, work: () => void) => {
      const timer = setInterval(work, ms);
      return () => clearInterval(timer);
    },
  };
  return opened.adopt(new LiveHub(options), (hub) => hub.close());
}

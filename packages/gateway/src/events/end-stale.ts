import { type AlertKind, foldOf } from '../catalogue/alert-kinds.ts';
import type { EventSink, EventStore } from '../ports/events.ts';

/** The kinds of events that last, and whose end nobody tells of who has died before. */
const lastingKinds = [
  'channel-out-of-service',
  'configuration-incomplete',
  'disk-full',
  'ledger-unavailable',
  'missing-credential',
  'store-lost',
  'unpriced-model',
] as const satisfies AlertKind[];

/** Events looked at of each kind. */
const lookedAtMax = 500;

function standingName(...[kind, detail]: Parameters<EventSink['raise']>): string {
  return `${kind}\n${foldOf(kind, detail)}`;
}

/** Ends what earlier processes have left without an end and this one finds in order. Never rejects. */
export async function endStale(
  store: Pick<EventStore, 'list'>,
  events: EventSink,
  standing: readonly Parameters<EventSink['raise']>[],
): Promise<void> {
  const names = new Set(standing.map((alert) => standingName(...alert)));
  for (const kind of lastingKinds) {
    const found = await store.list({ kind }, lookedAtMax, null).catch(() => []);
    for (const { detail, endedAtMs } of found)
      if (endedAtMs === null && !names.has(standingName(kind, detail))) events.over(kind, detail);
  }
}

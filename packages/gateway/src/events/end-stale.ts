import { type AlertKind, foldOf } from '../catalogue/alert-kinds.ts';
import type { EventSink, EventStore, OperatorEvent } from '../ports/events.ts';

/** The kinds of events that last, and whose end nobody tells of who has died before. */
const lastingKinds = [
  'channel-out-of-service',
  'configuration-incomplete',
  'disk-full',
  'ledger-unavailable',
  'missing-credential',
  'setting-left-out',
  'store-lost',
  'unpriced-model',
] as const satisfies AlertKind[];

/** Events of a page: a transaction reads them while others wait for the store. */
const pageMax = 500;

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
    let before: string | null = null;
    do {
      const page: readonly OperatorEvent[] = await store.list({ kind }, pageMax, before).catch(() => []);
      for (const { detail, endedAtMs } of page)
        if (endedAtMs === null && !names.has(standingName(kind, detail))) events.over(kind, detail);
      before = page.length < pageMax ? null : (page.at(-1)?.id ?? null);
    } while (before !== null);
  }
}

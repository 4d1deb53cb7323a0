import type { AlertKind } from '../catalogue/alert-kinds.ts';
import type { EventSink } from '../ports/events.ts';
import type { LedgerAlarm } from '../ports/store.ts';
import type { Log } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** The alarms of the ledger that are alerts by themselves; entries that it cannot take are told of by their calls. */
const alertsOfLedger: Readonly<Partial<Record<LedgerAlarm['kind'], AlertKind>>> = {
  conflict: 'ledger-conflict',
  full: 'disk-full',
  lost: 'store-lost',
};

const eventsOfLedger: Readonly<Record<Exclude<LedgerAlarm['kind'], 'mended'>, AlertKind>> = {
  conflict: 'ledger-conflict',
  full: 'disk-full',
  lost: 'store-lost',
  unavailable: 'ledger-unavailable',
  bug: 'bug',
};

/** All that is over when the ledger can be written again. */
const ledgerTroubles = ['disk-full', 'store-lost', 'ledger-unavailable'] as const satisfies AlertKind[];

/** Logs what the ledger says about itself, counts it where it is an alert, and hands it on to operators. */
export function tellLedgerAlarm(
  { kind, traceId, detail: reason }: LedgerAlarm,
  log: Log,
  metrics: Metrics,
  events: EventSink,
): void {
  const fields = { reason, ...(traceId === null ? {} : { traceId }) };
  if (kind === 'mended') {
    for (const trouble of ledgerTroubles) events.over(trouble, {});
    return log.logger.warn('the ledger goes on', fields);
  }
  events.raise(eventsOfLedger[kind], kind === 'bug' ? { error: reason } : fields);
  const alert = alertsOfLedger[kind];
  if (alert !== undefined) metrics.alertRaised(alert);
  log.logger.error('ledger alarm', { alert: alert ?? kind, ...fields });
}

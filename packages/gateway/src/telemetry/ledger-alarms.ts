import type { AlertKind } from '../ports/observer.ts';
import type { LedgerAlarm } from '../ports/store.ts';
import type { Log } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** The alarms of the ledger that are alerts by themselves; entries that it cannot take are told of by their calls. */
const alertsOfLedger: Readonly<Partial<Record<LedgerAlarm['kind'], AlertKind>>> = {
  conflict: 'ledger-conflict',
  full: 'disk-full',
  lost: 'store-lost',
};

/** Logs what the ledger says about itself, and counts it where it is an alert. */
export function tellLedgerAlarm(
  { kind, traceId, detail: reason }: LedgerAlarm,
  log: Log,
  metrics: Metrics,
): void {
  const fields = { reason, ...(traceId === null ? {} : { traceId }) };
  if (kind === 'mended') return log.logger.warn('the ledger goes on', fields);
  const alert = alertsOfLedger[kind];
  if (alert !== undefined) metrics.alertRaised(alert);
  log.logger.error('ledger alarm', { alert: alert ?? kind, ...fields });
}

import type { OwnerLimits } from '../catalogue/limits.ts';
import { formatNanoUsd, nanoUsd } from '../money/money.ts';
import type { LimitAlert } from '../ports/leases.ts';
import type { Observer } from '../ports/observer.ts';

/** Tells the operator that an owner's money runs short, or that there is some again. */
export function tell(
  alert: LimitAlert,
  { owner, id, timeZone }: OwnerLimits,
  observer: Pick<Observer, 'alert' | 'alertOver'>,
): void {
  const { kind, standing, amount, window } = alert;
  if (kind === 'balance-over') return observer.alertOver('balance-exhausted', { account: id });
  const usd = (value: bigint) => formatNanoUsd(nanoUsd(value));
  if (kind === 'balance-exhausted')
    return observer.alert(kind, { account: id, availableUsd: usd(standing), creditLimitUsd: usd(amount) });
  const { span, fromMs, toMs } = window ?? { span: 'total', fromMs: 0, toMs: 0 };
  const spent = { subject: `${owner}:${id}`, spentUsd: usd(standing), budgetUsd: usd(amount) };
  if (span === 'total') return observer.alert(kind, { ...spent, window: span });
  const date = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone).toPlainDate();
  const name = span === 'day' ? `day ${date}` : `month ${date.toString().slice(0, 7)}`;
  observer.alert(kind, { ...spent, window: name, endsAtMs: toMs });
}

import type { CallRow } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import * as texts from './texts.ts';

const tones: Readonly<Record<CallRow['status'], Tone>> = {
  open: 'accent',
  complete: 'good',
  failed: 'bad',
  timed_out: 'bad',
  caller_gone: 'neutral',
  limit_reached: 'warn',
  interrupted: 'warn',
};

/** How a call ended, and why it was not billed where it was not. */
export function CallStatus({
  call,
}: {
  readonly call: Pick<CallRow, 'status' | 'unbilledReason' | 'errorCode'>;
}) {
  const t = useTexts(texts);
  const reason = call.unbilledReason === null ? null : t(`reason.${call.unbilledReason}`);
  return (
    <span className="inline-flex max-w-full items-center gap-2" title={reason ?? undefined}>
      <Badge tone={call.status === 'complete' && reason !== null ? 'neutral' : tones[call.status]}>
        {t(`status.${call.status}`)}
      </Badge>
      {reason !== null && <span className="truncate text-xs text-soft">{call.errorCode ?? reason}</span>}
    </span>
  );
}

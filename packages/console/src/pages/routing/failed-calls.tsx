import type { CallRow, CallRowPage } from '@headgate/gateway/console';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { Time } from '../../ui/figures.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { CallStatus } from '../ledger/call-status.tsx';
import * as texts from './texts.ts';

/** The last calls that failed, each of which says how it was routed. */
export function FailedCalls({ onChoose }: { readonly onChoose: (traceId: string) => void }) {
  const t = useTexts(texts);
  const failed = useGet<CallRowPage>('/calls', { status: 'failed', limit: 8 });
  if (failed.error) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (failed.data === undefined) return <Skeleton className="h-24 w-full" />;
  if (failed.data.items.length === 0) return <p className="text-sm text-soft">{t('wrong.none')}</p>;
  return (
    <ul aria-label={t('wrong')} className="flex flex-col">
      {failed.data.items.map((call) => (
        <Failed key={call.traceId} call={call} onChoose={onChoose} />
      ))}
    </ul>
  );
}

interface FailedProps {
  readonly call: CallRow;
  readonly onChoose: (traceId: string) => void;
}

function Failed({ call, onChoose }: FailedProps) {
  return (
    <li>
      <button
        type="button"
        onClick={() => onChoose(call.traceId)}
        className="flex w-full flex-wrap items-center gap-x-4 gap-y-1 rounded-md px-2 py-1.5 text-left text-sm hover:bg-hover"
      >
        <span className="w-28 shrink-0 text-soft">
          <Time iso={call.startedAt} />
        </span>
        <bdi className="min-w-0 grow basis-40 truncate">{call.modelRequested}</bdi>
        <CallStatus call={call} />
      </button>
    </li>
  );
}

import type { CallView } from '@headgate/gateway/console';
import { SearchX } from 'lucide-react';
import { useGet } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
import { useTexts } from '../../app/texts.ts';
import { Copy } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Count, Duration, Money } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { CallStatus } from '../ledger/call-status.tsx';
import * as ledgerTexts from '../ledger/texts.ts';
import { CallFacts } from './call-facts.tsx';
import { Charge } from './charge.tsx';
import { Routing } from './routing.tsx';
import * as texts from './texts.ts';
import { Timeline } from './timeline.tsx';
import { useWords } from './words.ts';

/** One call: when what happened, what it used, and what it was charged for. */
export function CallPage() {
  const t = useTexts(texts);
  const id = usePathId();
  const { data: call, error, refetch, isPending } = useGet<CallView>(`/calls/${id}`, {}, { staleMs: 10_000 });
  if (error?.status === 404)
    return (
      <Empty title={t('gone')} icon={SearchX} isPage action={<Link to="/ledger">{t('ledger')}</Link>}>
        {t('goneHint')}
      </Empty>
    );
  return (
    <Page
      title={`${t('title')} ${id.slice(0, 8)}`}
      heading={
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-mono text-lg break-all">{id}</span>
          <Copy text={id} label={t('copyId')} />
        </span>
      }
      back={<Link to="/ledger">{t('ledger')}</Link>}
      description={call === undefined ? undefined : <CallStatus call={call} />}
    >
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {isPending && error === null && <Skeleton className="h-64 w-full" />}
      {call !== undefined && <Story call={call} />}
    </Page>
  );
}

function Story({ call }: { readonly call: CallView }) {
  const t = useTexts(texts);
  const reasons = useTexts(ledgerTexts);
  return (
    <>
      {call.unbilledReason !== null && call.status !== 'open' && (
        <Notice>{t('notBilled', { reason: reasons(`reason.${call.unbilledReason}`) })}</Notice>
      )}
      <Figures call={call} />
      <Section title={t('timeline')}>
        <Timeline call={call} />
      </Section>
      <div className="grid gap-5 lg:grid-cols-2">
        <Section title={t('usage')}>
          <UsageList call={call} />
        </Section>
        <Section title={t('formula')} plain>
          <div className="rounded-lg border border-line bg-surface">
            <Charge call={call} />
          </div>
        </Section>
      </div>
      {call.losses.length > 0 && (
        <Section title={t('losses')}>
          <p className="mb-2 text-soft">{t('lossesHint')}</p>
          <ul className="flex flex-wrap gap-2">
            {call.losses.map((loss) => (
              <li
                key={loss}
                className="max-w-full rounded-sm bg-hover px-1.5 font-mono text-xs leading-5 break-words"
              >
                {loss}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={t('facts')}>
        <CallFacts call={call} />
      </Section>
      {call.plans !== undefined && call.plans.length > 0 && <Routing plans={call.plans} />}
    </>
  );
}

function Figures({ call }: { readonly call: CallView }) {
  const t = useTexts(texts);
  return (
    <Stats>
      <Stat label={t('charge')} value={<Money usd={call.charge} />} />
      {call.cost !== undefined && <Stat label={t('cost')} value={<Money usd={call.cost} />} />}
      {call.margin !== undefined && <Stat label={t('margin')} value={<Money usd={call.margin} />} />}
      <Stat label={t('ttft')} value={<Duration ms={call.ttftMs} />} />
      <Stat
        label={t('duration')}
        value={<Duration ms={call.durationMs} />}
        detail={t('tries', { count: call.tries.length })}
      />
      <Stat
        label={t('tokens')}
        value={
          <>
            <Count value={call.inputTokens} /> → <Count value={call.outputTokens} />
          </>
        }
      />
    </Stats>
  );
}

function UsageList({ call }: { readonly call: CallView }) {
  const t = useTexts(texts);
  const word = useWords('part');
  if (call.usage.length === 0) return <p className="text-soft">{t('nothingUsed')}</p>;
  return (
    <>
      <Facts
        items={call.usage.map(({ part, units }) => ({ label: word(part), value: <Count value={units} /> }))}
      />
      {call.usageSource === 'estimated' && <p className="mt-2 text-xs text-warn">{t('estimated')}</p>}
    </>
  );
}

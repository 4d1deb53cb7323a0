import type { CallView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Money, Percent } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { useReasons } from '../routing/words.ts';
import * as texts from './texts.ts';

type Plan = NonNullable<CallView['plans']>[number];
type Candidate = Plan['candidates'][number];

/** Why the call went where it went: for operators. */
export function Routing({ plans }: { readonly plans: readonly Plan[] }) {
  const t = useTexts(texts);
  return (
    <Section title={t('routing')} plain>
      <div className="flex flex-col gap-4">
        {plans.map((plan, at) => (
          <PlanView key={plan.attemptsBefore} plan={plan} n={at + 1} isOne={plans.length === 1} />
        ))}
      </div>
    </Section>
  );
}

function PlanView({ plan, n, isOne }: { readonly plan: Plan; readonly n: number; readonly isOne: boolean }) {
  const t = useTexts(texts);
  const [chosen, left] = [useReasons('choice'), useReasons('left')];
  return (
    <div className="flex flex-col gap-2">
      <p className="text-soft">
        {isOne ? '' : `${t('plan', { n })}: `}
        {chosen(plan.choice, plan.because)} · {t('candidates', { count: plan.candidateCount })}
      </p>
      {plan.candidates.length > 0 && (
        <Table<Candidate>
          label={t('routing')}
          rows={plan.candidates}
          rowKey={({ channel, upstreamModel }) => `${channel} ${upstreamModel}`}
          empty={null}
          columns={[
            { id: 'channel', header: t('channel'), cell: ({ channel }) => channel },
            {
              id: 'model',
              header: t('upstreamModel'),
              hideBelow: 'sm',
              cell: ({ upstreamModel }) => upstreamModel,
            },
            {
              id: 'share',
              hideBelow: 'sm',
              header: t('share'),
              align: 'end',
              width: 90,
              cell: ({ share }) => <Percent value={share} />,
            },
            {
              id: 'chance',
              hideBelow: 'sm',
              header: t('chance'),
              align: 'end',
              width: 90,
              cell: ({ chance }) => <Percent value={chance} />,
            },
            {
              id: 'cost',
              header: t('expected'),
              align: 'end',
              width: 120,
              cell: ({ expectedCost }) => <Money usd={expectedCost} />,
            },
          ]}
        />
      )}
      {plan.exclusions.map(({ reason, because, channels, count }) => (
        <p key={reason} className="text-xs text-soft">
          {t('excluded')}: {channels.join(', ')}
          {count > channels.length ? ` … (${count})` : ''} – {left(reason, because)}
        </p>
      ))}
    </div>
  );
}

import type { DeliveryView, WebhookAnswerView, WebhookPage as Webhooks } from '@headgate/gateway/console';
import { useParams } from '@tanstack/react-router';
import { MailCheck, RotateCcw, Send } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useChange, useCursorList, useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Count, Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import * as texts from './texts.ts';
import { WebhookState } from './webhooks-page.tsx';

/** One receiver of alerts: the messages that it was sent, and whether it takes one now. */
export function WebhookPage() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const { data, error, refetch } = useGet<Webhooks>('/events/webhooks', {}, { refetchMs: 5_000 });
  const webhook = data?.items.find(({ name }) => name === id);
  const path = `/events/webhooks/${encodeURIComponent(id)}`;
  const list = useCursorList<DeliveryView>(`${path}/deliveries`, {}, { refetchMs: 5_000 });
  const [answer, setAnswer] = useState<WebhookAnswerView | null>(null);
  const test = useChange<undefined, WebhookAnswerView>('POST', `${path}/test`, {
    invalidates: [],
    onDone: setAnswer,
  });
  const redeliver = useChange<{ eventId: string; phase: string }>('POST', `${path}/redeliver`, {
    invalidates: ['/events/webhooks'],
    onDone: () => toast.success(t('isDue')),
  });
  const columns = useDeliveryColumns(({ event, phase }) =>
    redeliver.mutate({ body: { eventId: event.id, phase } }),
  );
  const back = <Link to="/webhooks">{t('webhooks')}</Link>;
  if (data === undefined && error)
    return (
      <Page title={id} back={back}>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Page>
    );
  return (
    <Page
      title={id}
      heading={<bdi>{id}</bdi>}
      description={webhook?.origin}
      back={back}
      actions={
        <Button
          icon={Send}
          busy={test.isPending}
          disabled={webhook?.isReady !== true}
          onClick={() => test.mutate({}, { onError: toast.error })}
        >
          {t('sendTest')}
        </Button>
      }
    >
      {answer !== null && <TestAnswer answer={answer} />}
      {webhook !== undefined && <Standing webhook={webhook} />}
      <Section title={t('messages')} plain>
        <Table
          label={t('messages')}
          columns={columns}
          query={list}
          rowKey={({ event, phase }) => `${event.id} ${phase}`}
          empty={
            <Empty title={t('noMessages')} icon={MailCheck}>
              {t('noMessagesHint')}
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

/** The messages that it hears of, and how many of them came. */
function Standing({ webhook }: { readonly webhook: Webhooks['items'][number] }) {
  const t = useTexts(texts);
  return (
    <Facts
      items={[
        { label: t('state'), value: <WebhookState {...webhook} /> },
        {
          label: t('filter'),
          value: `${webhook.kinds === null ? t('all') : webhook.kinds.join(', ')} · ${t('from', { severity: webhook.severity })}`,
        },
        { label: t('delivered'), value: <Count value={webhook.delivered} /> },
        { label: t('waiting'), value: <Count value={webhook.waiting} /> },
        { label: t('givenUp'), value: <Count value={webhook.givenUp} /> },
      ]}
    />
  );
}

function TestAnswer({ answer: { problem, tookMs } }: { readonly answer: WebhookAnswerView }) {
  const t = useTexts(texts);
  if (problem === null) return <Notice tone="good">{t('taken', { ms: tookMs })}</Notice>;
  return <Notice tone="bad">{t('notTaken', { problem, ms: tookMs })}</Notice>;
}

const tones: Readonly<Record<DeliveryView['state'], Tone>> = {
  delivered: 'good',
  waiting: 'warn',
  'given-up': 'bad',
};

function useDeliveryColumns(onAgain: (delivery: DeliveryView) => void): readonly Column<DeliveryView>[] {
  const t = useTexts(texts);
  // biome-ignore lint/correctness/useExhaustiveDependencies: The function does the same in every draw.
  return useMemo(
    () => [
      {
        ...{ id: 'state', header: t('state'), width: 116 },
        cell: ({ state }) => <StateDot state={tones[state]} label={t(`delivery.${state}`)} />,
      },
      {
        ...{ id: 'what', header: t('what') },
        cell: ({ event, phase }) => (
          <span title={event.subject}>
            {t(`kind.${event.kind}`)} <span className="text-soft">· {t(`phase.${phase}`)}</span>
          </span>
        ),
      },
      {
        ...{ id: 'attempts', header: t('attempts'), hideBelow: 'sm', align: 'end', width: 90 },
        cell: ({ attempts }) => <Count value={attempts} />,
      },
      {
        ...{ id: 'tried', header: t('lastTried'), hideBelow: 'md', align: 'end', width: 118 },
        cell: ({ lastTriedAt }) => <Time iso={lastTriedAt} />,
      },
      {
        ...{ id: 'next', header: t('nextTry'), hideBelow: 'md', align: 'end', width: 118 },
        cell: ({ nextAt }) => <Time iso={nextAt} />,
      },
      {
        ...{ id: 'problem', header: t('lastError'), hideBelow: 'lg' },
        cell: ({ problem }) => <span title={problem ?? undefined}>{problem ?? '–'}</span>,
      },
      {
        ...{ id: 'again', header: '', align: 'end', width: 116 },
        cell: (delivery) => (
          <Button size="sm" variant="ghost" icon={RotateCcw} onClick={() => onAgain(delivery)}>
            {t('again')}
          </Button>
        ),
      },
    ],
    [t],
  );
}

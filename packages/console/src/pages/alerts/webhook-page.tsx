import type { DeliveryView, WebhookAnswerView, WebhookView } from '@headgate/gateway/console';
import { MailCheck, RotateCcw, Send } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useChange, useCursorList, useTagged } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
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
import { Skeleton } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import * as texts from './texts.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { DeclaredWebhook, WebhookYaml } from './webhook-declaration.tsx';
import * as ownTexts from './webhook-texts.ts';
import { Hearing, WebhookState } from './webhooks-page.tsx';

/** One receiver of alerts: the messages that it was sent, and whether it takes one now. */
export function WebhookPage() {
  const t = useTexts(texts);
  const id = usePathId();
  const path = `/webhooks/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useTagged<WebhookView>(path, { refetchMs: 5_000 });
  const [answer, setAnswer] = useState<WebhookAnswerView | null>(null);
  const test = useChange<undefined, WebhookAnswerView>('POST', `${path}/test`, {
    invalidates: [],
    onDone: setAnswer,
  });
  const back = <Link to="/webhooks">{t('webhooks')}</Link>;
  if (data === undefined)
    return (
      <Page title={id} heading={<bdi>{id}</bdi>} back={back}>
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton className="h-72 w-full" />
        )}
      </Page>
    );
  const { value: webhook, etag } = data;
  return (
    <Page
      title={id}
      heading={<bdi>{id}</bdi>}
      description={webhook.description === null ? webhook.origin : <bdi>{webhook.description}</bdi>}
      back={back}
      actions={
        <>
          <Button
            icon={Send}
            busy={test.isPending}
            disabled={!webhook.isReady}
            onClick={() => test.mutate({}, { onError: toast.error })}
          >
            {t('sendTest')}
          </Button>
          <WebhookActions webhook={webhook} path={path} etag={etag} />
        </>
      }
    >
      {answer !== null && <TestAnswer answer={answer} />}
      {webhook.declared && <DeclaredWebhook webhook={webhook} />}
      <Standing webhook={webhook} />
      <Messages path={path} />
      <WebhookYaml path={path} />
    </Page>
  );
}

/** The messages to it, those of the newest alerts first. */
function Messages({ path }: { readonly path: string }) {
  const t = useTexts(texts);
  const list = useCursorList<DeliveryView>(`${path}/deliveries`, {}, { refetchMs: 5_000 });
  const redeliver = useChange<{ eventId: string; phase: string }>('POST', `${path}/redeliver`, {
    invalidates: ['/webhooks'],
    onDone: () => toast.success(t('isDue')),
  });
  const columns = useDeliveryColumns(({ event, phase }) =>
    redeliver.mutate({ body: { eventId: event.id, phase } }),
  );
  return (
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
  );
}

/** The messages that it hears of, and how many of them came. */
function Standing({ webhook }: { readonly webhook: WebhookView }) {
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  return (
    <Facts
      items={[
        { label: t('state'), value: <WebhookState {...webhook} /> },
        { label: t('filter'), value: <Hearing {...webhook} /> },
        { label: own('url'), value: <bdi className="break-all">{webhook.origin}</bdi> },
        { label: own('secret'), value: own(webhook.keeps === 'store' ? 'inStore' : 'inPlace') },
        ...(webhook.formerUntil === null
          ? []
          : [{ label: own('formerUntil'), value: <Time iso={webhook.formerUntil} absolute /> }]),
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

import type { WebhookPage, WebhookView } from '@headgate/gateway/console';
import { Plus, Webhook } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count, Time } from '../../ui/figures.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { MakeWebhook } from './make-webhook.tsx';
import * as texts from './texts.ts';
import * as ownTexts from './webhook-texts.ts';

/** The receivers of alerts, and what became of their messages. */
export function WebhooksPage() {
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  const [isMaking, setMaking] = useState(false);
  const webhooks = useGet<WebhookPage>('/webhooks', {}, { refetchMs: 5_000 });
  const make = (
    <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
      {own('make')}
    </Button>
  );
  return (
    <Page title={t('webhooks')} description={t('webhooksDescription')} actions={make}>
      {isMaking && <MakeWebhook onClose={() => setMaking(false)} />}
      <Table
        label={t('webhooks')}
        columns={useWebhookColumns()}
        rows={webhooks.data?.items}
        source={webhooks}
        rowKey={({ name }) => name}
        rowLink={({ name }) => ({ to: '/webhooks/$id', params: { id: name } })}
        empty={
          <Empty title={t('noWebhooks')} icon={Webhook}>
            {t('noWebhooksHint')}
          </Empty>
        }
      />
    </Page>
  );
}

/** Says how a webhook stands. */
/** Everything, unless fewer kinds or heavier alerts are wanted. */
export function Hearing({ kinds, severity }: Pick<WebhookView, 'kinds' | 'severity'>) {
  const t = useTexts(texts);
  const wanted = kinds === null ? t('all') : kinds.join(', ');
  return (
    <span title={kinds?.join(', ')}>
      {severity === 'info' ? wanted : `${wanted} · ${t('from', { severity: t(`severity.${severity}`) })}`}
    </span>
  );
}

export function WebhookState({
  enabled,
  isReady,
  problem,
}: Pick<WebhookView, 'enabled' | 'isReady' | 'problem'>) {
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  if (!enabled) return <StateDot state="neutral" label={own('isOff')} />;
  return (
    <span title={problem ?? undefined}>
      <StateDot
        state={!isReady ? 'bad' : problem === null ? 'good' : 'warn'}
        label={isReady ? (problem ?? t('ready')) : t('noSecret')}
      />
    </span>
  );
}

function useWebhookColumns(): readonly Column<WebhookView>[] {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        ...{ id: 'receiver', header: t('receiver') },
        cell: ({ name, origin, description }) => (
          <span title={description ?? origin}>
            {name} <span className="text-soft">{origin}</span>
          </span>
        ),
      },
      {
        ...{ id: 'filter', header: t('filter'), hideBelow: 'md' },
        cell: (webhook) => <Hearing {...webhook} />,
      },
      {
        ...{ id: 'state', header: t('state') },
        cell: (webhook) => <WebhookState {...webhook} />,
      },
      {
        id: 'delivered',
        header: t('delivered'),
        align: 'end',
        width: 96,
        cell: ({ delivered }) => <Count value={delivered} />,
      },
      {
        id: 'waiting',
        header: t('waiting'),
        hideBelow: 'sm',
        align: 'end',
        width: 90,
        cell: ({ waiting }) => <Count value={waiting} />,
      },
      {
        id: 'givenUp',
        header: t('givenUp'),
        hideBelow: 'sm',
        align: 'end',
        width: 96,
        cell: ({ givenUp }) => <Count value={givenUp} />,
      },
      {
        ...{ id: 'last', header: t('lastDelivered'), hideBelow: 'lg', align: 'end', width: 130 },
        cell: ({ lastDeliveredAt }) => <Time iso={lastDeliveredAt} />,
      },
    ],
    [t],
  );
}

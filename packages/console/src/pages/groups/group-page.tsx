import type { DeclarationView, DeclaredPlaceView, GroupView } from '@headgate/gateway/console';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useChange, useGet, useTagged } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Count } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { BudgetBars } from '../keys/budget-bars.tsx';
import { RateLimits } from '../keys/rate-limits.tsx';
import * as texts from './texts.ts';

const ChangeGroup = lazy(async () => ({ default: (await import('./change-group.tsx')).ChangeGroup }));

/** One group. */
export function GroupPage() {
  const t = useTexts(texts);
  const id = usePathId('id');
  const navigate = useNavigate();
  const [isRemoving, setRemoving] = useState(false);
  const group = useTagged<GroupView>(`/groups/${id}`);
  const remove = useChange('DELETE', `/groups/${id}`, { invalidates: ['/groups'] });
  const back = <Link to="/groups">{t('title')}</Link>;
  if (group.data === undefined)
    return (
      <Page title={t('group')} back={back}>
        {group.error ? (
          <ErrorState error={group.error} onRetry={() => void group.refetch()} />
        ) : (
          <Skeleton className="h-72 w-full" />
        )}
      </Page>
    );
  const { value, etag } = group.data;
  const { name, declared } = value;
  const change = (
    <Suspense fallback={<Skeleton className="h-72 w-full" />}>
      <ChangeGroup key={etag} group={value} etag={etag} />
    </Suspense>
  );
  const tabs = [
    { id: 'settings', label: t('settings'), content: <Settings group={value} /> },
    ...(declared ? [] : [{ id: 'change', label: t('change'), content: change }]),
    { id: 'yaml', label: 'YAML', content: <Yaml id={id} /> },
  ];
  const removeButton = !declared && (
    <Button icon={Trash2} onClick={() => setRemoving(true)}>
      {t('remove')}
    </Button>
  );
  return (
    <Page
      title={name}
      back={back}
      description={<code className="font-mono text-xs">{id}</code>}
      actions={removeButton}
    >
      {declared && <DeclaredNotice id={id} />}
      <Tabs items={tabs} />
      <Confirm
        open={isRemoving}
        onClose={() => setRemoving(false)}
        title={t('removeTitle', { name })}
        description={t('removeDetail')}
        confirmLabel={t('remove')}
        danger
        onConfirm={async () => {
          await remove.mutateAsync({});
          await navigate({ to: '/groups' });
        }}
      />
    </Page>
  );
}

/** The file that declares it, with the line where that is known. */
function DeclaredNotice({ id }: { readonly id: string }) {
  const t = useTexts(texts);
  const place = useGet<DeclaredPlaceView>(`/declared-places/groups/${encodeURIComponent(id)}`);
  const { file = null, line = null } = place.data ?? {};
  return (
    <Notice title={t('declaredTitle')}>
      {t('declaredDetail', { id })} {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>}
    </Notice>
  );
}

function Settings({ group }: { readonly group: GroupView }) {
  const t = useTexts(texts);
  const { platform, multiplier, models, routing, timezone, limits, keys, budgets } = group;
  return (
    <>
      {budgets.length > 0 && (
        <Section title={t('budgets')}>
          <BudgetBars budgets={budgets} />
        </Section>
      )}
      <RateLimits of={`/groups/${group.id}`} limits={limits} />
      <Section>
        <Facts
          items={[
            { label: t('platform'), value: platform },
            { label: t('multiplier'), value: `× ${multiplier}` },
            { label: t('models'), value: models?.join(', ') ?? t('all') },
            { label: t('preset'), value: t(routing.preset) },
            { label: t('channels'), value: routing.channels?.join(', ') ?? t('all') },
            { label: t('hedging'), value: t(routing.hedging ? 'yes' : 'no') },
            { label: t('rescue'), value: t(routing.rescue === 'continue' ? 'yes' : 'no') },
            { label: t('timezone'), value: timezone },
            ...(limits === null ? [{ label: t('limits'), value: '–' }] : []),
            {
              label: t('keys'),
              value: (
                <Link to="/keys" search={{ group: group.id }}>
                  <Count value={keys} />
                </Link>
              ),
            },
          ]}
        />
      </Section>
    </>
  );
}

function Yaml({ id }: { readonly id: string }) {
  const declaration = useGet<DeclarationView>(`/groups/${id}/declaration`);
  if (declaration.error) return <ErrorState error={declaration.error} />;
  return declaration.data === undefined ? (
    <Skeleton className="h-32 w-full" />
  ) : (
    <Code>{declaration.data.yaml}</Code>
  );
}

import type { ChannelView } from '@headgate/gateway/console';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useChange, useTagged } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Count, Duration, Percent, Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { toast } from '../../ui/toast.tsx';
import { useProof } from '../profile/proof.tsx';
import { Credentials } from './credentials.tsx';
import { Declaration } from './declaration.tsx';
import { Failures } from './failures.tsx';
import { ChannelHistory } from './history.tsx';
import { useLiveChannel } from './live-channels.ts';
import { ChannelState } from './states.tsx';
import { Targets } from './targets.tsx';
import * as texts from './texts.ts';

const TryChannel = lazy(async () => ({ default: (await import('./try-channel.tsx')).TryChannel }));
const EditChannel = lazy(async () => ({ default: (await import('./edit-channel.tsx')).EditChannel }));
/** The stream tells of calls of its own process; what other processes do is seen by asking. */
const standingMs = 20_000;

/** One channel: how it stands, its circuits and credentials, and what can be done about it. */
export function ChannelPage() {
  const t = useTexts(texts);
  const id = usePathId();
  const path = `/channels/${encodeURIComponent(id)}`;
  const channel = useTagged<ChannelView>(path, { refetchMs: standingMs });
  useLiveChannel(id, path);
  const back = <Link to="/channels">{t('back')}</Link>;
  if (channel.error && channel.data === undefined)
    return (
      <Page title={id} back={back}>
        <ErrorState error={channel.error} onRetry={() => void channel.refetch()} />
      </Page>
    );
  if (channel.data === undefined)
    return (
      <Page title={id} back={back}>
        <Skeleton className="h-64 w-full" />
      </Page>
    );
  const { value, etag } = channel.data;
  return (
    <Page
      title={id}
      heading={<Heading channel={value} />}
      back={back}
      actions={<Actions channel={value} path={path} etag={etag} />}
    >
      <Notices channel={value} />
      <Standing channel={value} />
      <ChannelHistory path={path} />
      <Targets channel={value} path={path} />
      <Credentials channel={value} path={path} />
      <Failures path={path} />
      <Declaration channel={value} path={path} />
    </Page>
  );
}

function Heading({ channel: { id, simulated, source } }: { readonly channel: ChannelView }) {
  const t = useTexts(texts);
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-2">
      <bdi className="break-all">{id}</bdi>
      {simulated && <Badge tone="accent">{t('simulated')}</Badge>}
      {source !== 'console' && <Badge>{t(`source.${source}`)}</Badge>}
    </span>
  );
}

function Notices({ channel: { problems, source, state, inFlight } }: { readonly channel: ChannelView }) {
  const t = useTexts(texts);
  return (
    <>
      {problems.length > 0 && (
        <Notice tone="bad" title={t('problems')}>
          {problems.join('; ')}
        </Notice>
      )}
      {state === 'draining' && (
        <Notice title={t('draining')}>{t('draining.text', { count: inFlight })}</Notice>
      )}
      {source !== 'console' && (
        <Notice title={t('readOnly')}>{t('readOnly.text', { source: t(`source.${source}`) })}</Notice>
      )}
    </>
  );
}

function Standing({ channel }: { readonly channel: ChannelView }) {
  const t = useTexts(texts);
  const { state, since, success, ttftMs, inFlight, maxConcurrency, lastFailure } = channel;
  return (
    <Stats>
      <Stat
        label={t('state')}
        value={<ChannelState state={state} />}
        detail={since !== null && <Time iso={since} />}
      />
      <Stat label={t('success')} value={<Percent value={success} />} />
      <Stat label={t('ttft')} value={<Duration ms={ttftMs} />} />
      <Stat
        label={t('inFlight')}
        value={<Count value={inFlight} />}
        detail={maxConcurrency !== null && t('headroom', { max: maxConcurrency })}
      />
      <Stat
        label={t('lastError')}
        value={lastFailure === null ? '–' : <Time iso={lastFailure.at} />}
        detail={lastFailure !== null && <bdi className="line-clamp-2 break-words">{lastFailure.words}</bdi>}
      />
    </Stats>
  );
}

interface ActionsProps {
  readonly channel: ChannelView;
  readonly path: string;
  readonly etag: string | null;
}

function Actions({ channel, path, etag }: ActionsProps) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [open, setOpen] = useState<'test' | 'edit' | 'remove' | null>(null);
  const { attempt, dialog } = useProof();
  const close = () => setOpen(null);
  const change = useChange<object, ChannelView>('POST', `${path}/switch`, { invalidates: ['/channels'] });
  const remove = useChange<never>('DELETE', path, { invalidates: ['/channels?'] });
  const turn = (to: 'on' | 'draining' | 'off') =>
    void change.mutateAsync({ body: { to } }).catch(toast.error);
  const { id, source, state } = channel;
  const isOurs = source === 'console';
  return (
    <>
      <Button onClick={() => setOpen('test')}>{t('test')}</Button>
      {isOurs && <Button onClick={() => setOpen('edit')}>{t('edit')}</Button>}
      {isOurs && (
        <Menu
          trigger={<IconButton icon={Ellipsis} label={t('switch')} />}
          groups={[
            {
              items: [
                { label: t('on'), onSelect: () => turn('on'), disabled: state !== 'off' && !channel.drain },
                {
                  label: t('drain'),
                  onSelect: () => turn('draining'),
                  disabled: state === 'off' || channel.drain,
                },
                { label: t('off'), onSelect: () => turn('off'), disabled: state === 'off' },
              ],
            },
            { items: [{ label: t('remove'), onSelect: () => setOpen('remove'), danger: true }] },
          ]}
        />
      )}
      {dialog}
      <Suspense>
        {open === 'test' && <TryChannel channel={channel} path={path} onClose={close} />}
        {open === 'edit' && <EditChannel channel={channel} path={path} etag={etag} onClose={close} />}
      </Suspense>
      <Confirm
        open={open === 'remove'}
        onClose={close}
        title={t('remove.title', { id })}
        description={t('remove.text')}
        confirmLabel={t('remove')}
        name={id}
        onConfirm={() =>
          attempt(async () => {
            await remove.mutateAsync({ etag });
            toast.success(t('removed', { id }));
            await navigate({ to: '/channels' });
          })
        }
      />
    </>
  );
}

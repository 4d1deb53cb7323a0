import type { ChannelView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Time } from '../../ui/figures.tsx';
import { useForm } from '../../ui/form.ts';
import { Section } from '../../ui/page.tsx';
import { ProofFor, useProof } from '../profile/proof.tsx';
import { useLift } from './targets.tsx';
import * as texts from './texts.ts';

type CredentialRow = ChannelView['credentials'][number];

interface CredentialsProps {
  readonly channel: ChannelView;
  readonly path: string;
}

/** The credentials of a channel: where each is kept, and what its upstream says against it. No secret is ever shown. */
export function Credentials({ channel, path }: CredentialsProps) {
  const t = useTexts(texts);
  const lift = useLift(path);
  const [writing, setWriting] = useState<CredentialRow | 'new' | null>(null);
  const [revoked, setRevoked] = useState<CredentialRow | null>(null);
  const { attempt, dialog } = useProof();
  const revoke = useChange<never>('DELETE', '/credentials', { invalidates: ['/channels'] });
  if (!channel.takesCredential) return null;
  return (
    <Section
      title={t('credentials')}
      actions={<Button onClick={() => setWriting('new')}>{t('addSecret')}</Button>}
    >
      {channel.credentials.length === 0 && <p className="text-sm text-soft">{t('credentials.none')}</p>}
      <ul className="flex flex-col">
        {channel.credentials.map((each) => (
          <li key={each.id} className="flex flex-col gap-2 border-line py-2.5 not-last:border-b">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-sm">
              <bdi className="font-medium break-all">{each.name}</bdi>
              <Badge>{t(`kind.${each.kind}`)}</Badge>
              <Badge tone={each.isThere ? 'good' : 'bad'}>{each.isThere ? t('there') : t('missing')}</Badge>
              {each.createdAt !== null && (
                <span className="text-soft">
                  {t('since')} <Time iso={each.rotatedAt ?? each.createdAt} />
                </span>
              )}
              {each.kind === 'sealed' && (
                <span className="ml-auto flex gap-2">
                  <Button size="sm" onClick={() => setWriting(each)}>
                    {t('rotate')}
                  </Button>
                  <Button size="sm" variant="danger" onClick={() => setRevoked(each)}>
                    {t('revoke')}
                  </Button>
                </span>
              )}
            </div>
            {each.blocks.map((block) => (
              <p key={`${block.model} ${block.reason}`} className="flex flex-wrap items-center gap-3 text-sm">
                <span className="text-bad">
                  {t(block.reason === 'refused' ? 'blocked' : 'limited', { model: block.model })},{' '}
                  {t('until')} <Time iso={block.until} absolute />
                </span>
                {block.words !== null && (
                  <bdi className="font-mono text-xs text-soft break-words">{block.words}</bdi>
                )}
                <Button size="sm" onClick={() => lift({ model: block.model, credential: each.id })}>
                  {t('lift')}
                </Button>
              </p>
            ))}
          </li>
        ))}
      </ul>
      {dialog}
      {writing !== null && <WriteSecret path={path} credential={writing} onClose={() => setWriting(null)} />}
      <Confirm
        open={revoked !== null}
        onClose={() => setRevoked(null)}
        title={t('revoke.title', { id: revoked?.name ?? '' })}
        description={t('revoke.text')}
        confirmLabel={t('revoke')}
        onConfirm={() =>
          attempt(async () => revoke.mutateAsync({ path: `/credentials/${revoked?.id ?? ''}` }))
        }
      />
    </Section>
  );
}

interface WriteSecretProps {
  readonly path: string;
  readonly credential: CredentialRow | 'new';
  readonly onClose: () => void;
}

function WriteSecret({ path, credential, onClose }: WriteSecretProps) {
  const t = useTexts(texts);
  const isNew = credential === 'new';
  const change = useChange<object>(
    isNew ? 'POST' : 'PUT',
    isNew ? `${path}/credentials` : `/credentials/${credential.id}`,
    {
      invalidates: ['/channels'],
    },
  );
  const form = useForm({
    initial: { secret: '', name: '' },
    submit: ({ secret, name }) =>
      change.mutateAsync({ body: { secret, ...(isNew && name !== '' ? { name } : {}) } }),
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={isNew ? t('addSecret') : `${t('rotate')}: ${credential.name}`}
      footer={
        <Button type="submit" form="secret-form" variant="primary" busy={form.isBusy}>
          {t('save')}
        </Button>
      }
    >
      <form id="secret-form" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        {isNew && (
          <Field label={t('name')} {...form.about('name')}>
            <Input {...form.text('name')} />
          </Field>
        )}
        <Field label={t('secret')} hint={t('secret.hint')} required {...form.about('secret')}>
          <Input {...form.text('secret')} type="password" autoComplete="new-password" />
        </Field>
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </Dialog>
  );
}

import type { ToldWebhookView, WebhookView } from '@headgate/gateway/console';
import { useNavigate } from '@tanstack/react-router';
import { KeyRound, Pencil, Power, PowerOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';
import { ProofFor, useProof } from '../profile/proof.tsx';
import { WebhookSecret } from './make-webhook.tsx';
import { formOfWebhook, WebhookFields, type WebhookFormValues, webhookPatchOf } from './webhook-fields.tsx';
import * as texts from './webhook-texts.ts';

interface WebhookActionsProps {
  readonly webhook: WebhookView;
  readonly path: string;
  readonly etag: string | null;
}

const invalidates = ['/webhooks'];

/** Everything that may be done with a webhook: what is declared elsewhere is changed there. */
export function WebhookActions({ webhook, path, etag }: WebhookActionsProps) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const { name, declared, enabled, keeps } = webhook;
  const [asked, ask] = useState<'edit' | 'rotate' | 'remove' | null>(null);
  const [told, setTold] = useState<ToldWebhookView | null>(null);
  const { attempt, dialog } = useProof();
  const change = useChange<object, WebhookView>('PATCH', path, { invalidates });
  const remove = useChange<never>('DELETE', path, { invalidates: ['/webhooks', '/events'] });
  const turn = () =>
    attempt(async () => {
      await change.mutateAsync({ body: { enabled: !enabled } });
      toast.success(t(enabled ? 'turnedOff' : 'turnedOn', { name }));
    });
  const close = () => ask(null);
  const rotation = {
    ...{ label: t('rotate'), icon: KeyRound },
    onSelect: () => ask('rotate'),
  };
  const own = [
    {
      ...{ label: enabled ? t('disable') : t('enable'), icon: enabled ? PowerOff : Power },
      onSelect: () => void turn().catch(toast.error),
    },
    { label: t('remove'), icon: Trash2, danger: true, onSelect: () => ask('remove') },
  ];
  const items = [...(keeps === 'store' ? [rotation] : []), ...(declared ? [] : own)];
  return (
    <>
      {!declared && (
        <Button icon={Pencil} onClick={() => ask('edit')}>
          {t('edit')}
        </Button>
      )}
      {items.length > 0 && <Menu groups={[{ items }]} />}
      {asked === 'edit' && <EditWebhook webhook={webhook} path={path} etag={etag} onClose={close} />}
      {asked === 'rotate' && <RotateSecret name={name} path={path} onClose={close} onTold={setTold} />}
      <Confirm
        open={asked === 'remove'}
        onClose={close}
        title={t('removeTitle', { name })}
        description={t('removeDetail')}
        confirmLabel={t('remove')}
        name={name}
        danger
        onConfirm={() =>
          attempt(async () => {
            await remove.mutateAsync({ etag });
            await navigate({ to: '/webhooks' });
          })
        }
      />
      {told !== null && <WebhookSecret told={told} onClose={() => setTold(null)} />}
      {dialog}
    </>
  );
}

function EditWebhook({
  webhook,
  path,
  etag,
  onClose,
}: WebhookActionsProps & { readonly onClose: () => void }) {
  const t = useTexts(texts);
  // News that comes while somebody writes does not change what they began with.
  const [first] = useState({ webhook, etag });
  const change = useChange<object, WebhookView>('PATCH', path, { invalidates });
  const form = useForm<WebhookFormValues, WebhookView>({
    initial: formOfWebhook(first.webhook),
    submit: (values) => change.mutateAsync({ body: webhookPatchOf(values), etag: first.etag }),
    onDone: () => {
      toast.success(t('saved'));
      onClose();
    },
  });
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button type="submit" form="edit-webhook" variant="primary" busy={form.isBusy}>
        {t('save')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={`${t('edit')}: ${webhook.name}`} size="md" footer={footer}>
      <form id="edit-webhook" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <WebhookFields form={form} webhook={first.webhook} />
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </Dialog>
  );
}

const graces = ['0s', '1h', '24h', '168h', '720h'] as const;

interface RotateSecretProps {
  readonly name: string;
  readonly path: string;
  readonly onClose: () => void;
  readonly onTold: (told: ToldWebhookView) => void;
}

/** Another secret; the one in force signs beside it for a while. */
function RotateSecret({ name, path, onClose, onTold }: RotateSecretProps) {
  const t = useTexts(texts);
  const rotate = useChange<object, ToldWebhookView>('POST', `${path}/rotate`, { invalidates });
  const form = useForm<{ readonly grace: string }, ToldWebhookView>({
    initial: { grace: '24h' },
    submit: (values) => rotate.mutateAsync({ body: values }),
    onDone: (told) => {
      onTold(told);
      onClose();
    },
  });
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button type="submit" form="rotate-secret" variant="primary" busy={form.isBusy}>
        {t('rotate')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('rotateTitle', { name })}
      description={t('rotateDetail')}
      footer={footer}
    >
      <form id="rotate-secret" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('grace')} {...form.about('grace')}>
          <Select
            value={form.values.grace}
            onChange={(grace) => form.set('grace', grace)}
            options={graces.map((value) => ({ value, label: t(`grace.${value}`) }))}
          />
        </Field>
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </Dialog>
  );
}

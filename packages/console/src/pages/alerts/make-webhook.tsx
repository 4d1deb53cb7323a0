import type { ToldWebhookView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { ProofFor } from '../profile/proof.tsx';
import { formOfWebhook, WebhookFields, type WebhookFormValues, webhookDraftOf } from './webhook-fields.tsx';
import * as texts from './webhook-texts.ts';

/** Makes a webhook: the form first, and behind it the secret, which stays until it is closed by hand. */
export function MakeWebhook({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const [made, setMade] = useState<ToldWebhookView | null>(null);
  const make = useChange<object, ToldWebhookView>('POST', '/webhooks', { invalidates: ['/webhooks'] });
  const form = useForm<WebhookFormValues, ToldWebhookView>({
    initial: formOfWebhook(null),
    submit: (values) => make.mutateAsync({ body: webhookDraftOf(values) }),
    onDone: setMade,
  });
  if (made !== null) return <WebhookSecret told={made} onClose={onClose} />;
  const footer = (
    <>
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button type="submit" form="make-webhook" variant="primary" busy={form.isBusy}>
        {t('make')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t('make')} description={t('makeHint')} size="md" footer={footer}>
      <form id="make-webhook" onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <WebhookFields form={form} webhook={null} />
        {form.problem !== null && <ErrorState error={form.problem} />}
      </form>
      <ProofFor problem={form.problem} again={form.submit} />
    </Dialog>
  );
}

interface WebhookSecretProps {
  readonly told: ToldWebhookView;
  readonly onClose: () => void;
}

/** The secret of a webhook, which is never shown again. */
export function WebhookSecret({ told: { secret, webhook }, onClose }: WebhookSecretProps) {
  const t = useTexts(texts);
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('secretTitle', { name: webhook.name })}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('haveIt')}
        </Button>
      }
    >
      {secret === null ? (
        <Notice tone="warn">{t('onceGone')}</Notice>
      ) : (
        <div className="flex min-w-0 flex-col gap-4">
          <Notice tone="warn" title={t('onceTitle')}>
            {t('onceDetail')}
          </Notice>
          <div className="flex min-w-0 items-center gap-2 rounded-md border border-strong/70 bg-sunken px-3 py-2">
            <code className="min-w-0 flex-1 font-mono text-sm break-all" data-secret>
              {secret}
            </code>
            <Copy text={secret} label={t('copySecret')} />
          </div>
        </div>
      )}
    </Dialog>
  );
}

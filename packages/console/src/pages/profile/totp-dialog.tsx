import type { RecoveryCodesView, TotpProposalView } from '@headgate/gateway/console';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Qr } from './qr.tsx';
import * as texts from './texts.ts';

interface TotpDialogProps {
  readonly proposal: TotpProposalView;
  readonly onClose: () => void;
  readonly onConfirmed: (recoveryCodes: readonly string[]) => void;
}

/** Brings the secret into the app, and asks for a code as proof that it is there. */
export function TotpDialog({ proposal, onClose, onConfirmed }: TotpDialogProps) {
  const t = useTexts(texts);
  const form = useForm({
    initial: { code: '' },
    submit: (body) => api.post<RecoveryCodesView>('/me/totp/confirm', { body }),
    onDone: ({ recoveryCodes }) => onConfirmed(recoveryCodes),
  });
  return (
    <Dialog open onClose={onClose} title={t('scanTitle')} description={t('scanDetail')}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <div className="flex justify-center">
          <Qr text={proposal.uri} label={t('qr')} />
        </div>
        <p className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-1.5">
          <span className="sr-only">{t('secret')}</span>
          <span className="min-w-0 flex-1 font-mono text-xs break-all">{proposal.secret}</span>
          <Copy text={proposal.secret} />
        </p>
        <Field label={t('code')} {...form.about('code')}>
          <Input inputMode="numeric" autoComplete="one-time-code" required autoFocus {...form.text('code')} />
        </Field>
        {form.problem !== null && (
          <Notice tone="bad">
            {form.problem instanceof Error ? form.problem.message : String(form.problem)}
          </Notice>
        )}
        <Button type="submit" variant="primary" busy={form.isBusy}>
          {t('confirm')}
        </Button>
      </form>
    </Dialog>
  );
}

import type { SignInWays } from '@headgate/gateway/console';
import { Fingerprint } from 'lucide-react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { hasPasskeys, proveByPasskey, wasCancelled } from '../sign-in/passkey.ts';
import * as texts from './texts.ts';

interface ProofDialogProps {
  readonly onClose: () => void;
  readonly onProven: () => void;
}

/** Asks for the password once more, or for a passkey. */
export function ProofDialog({ onClose, onProven }: ProofDialogProps) {
  const t = useTexts(texts);
  const ways = useGet<SignInWays>('/sign-in/ways');
  const form = useForm({
    initial: { password: '' },
    submit: (body) => api.post('/session/proof', { body }),
    onDone: onProven,
  });
  const byPasskey = () =>
    proveByPasskey().then(onProven, (error: unknown) => wasCancelled(error) || toast.error(error));
  return (
    <Dialog open onClose={onClose} title={t('proveTitle')} description={t('proveDetail')}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('yourPassword')} {...form.about('password')}>
          <Input
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            {...form.text('password')}
          />
        </Field>
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
        <Button type="submit" variant="primary" busy={form.isBusy}>
          {t('prove')}
        </Button>
        {ways.data !== undefined && hasPasskeys(ways.data) && (
          <Button icon={Fingerprint} onClick={() => void byPasskey()}>
            {t('proveByPasskey')}
          </Button>
        )}
      </form>
    </Dialog>
  );
}

import type { SignInWays } from '@headgate/gateway/console';
import { Fingerprint } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { Problem } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { hasPasskeys, proveByPasskey, wasCancelled } from '../sign-in/passkey.ts';
import * as texts from './texts.ts';

/**
 * Does what may want the password once more: where the API asks for it, the person is asked, and it is done again. `dialog` belongs
 * into the page.
 */
export function useProof() {
  const [waiting, setWaiting] = useState<(() => Promise<void>) | null>(null);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (error instanceof Problem && error.code === 'reauthentication_required') setWaiting(() => act);
      else throw error;
    }
  };
  const dialog = waiting !== null && (
    <ProofDialog
      onClose={() => setWaiting(null)}
      onProven={() => {
        setWaiting(null);
        waiting().catch(toast.error);
      }}
    />
  );
  return { attempt, dialog };
}

interface ProofForProps {
  readonly problem: unknown;
  /** Sends it again. */
  readonly again: () => Promise<void>;
}

/** The same for a form: stands beside it, never within, and sends it again once the person has proven themself. */
export function ProofFor({ problem, again }: ProofForProps) {
  const [dismissed, setDismissed] = useState<unknown>(null);
  const isWanted = problem instanceof Problem && problem.code === 'reauthentication_required';
  if (!isWanted || problem === dismissed) return null;
  return <ProofDialog onClose={() => setDismissed(problem)} onProven={() => void again()} />;
}

function ProofDialog({ onClose, onProven }: { readonly onClose: () => void; readonly onProven: () => void }) {
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
        {form.problem !== null && (
          <Notice tone="bad">
            {form.problem instanceof Error ? form.problem.message : String(form.problem)}
          </Notice>
        )}
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

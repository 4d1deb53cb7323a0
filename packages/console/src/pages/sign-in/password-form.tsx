import type { SignInView } from '@headgate/gateway/console';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { signInWords } from './sign-in-words.ts';
import * as texts from './texts.ts';

interface PasswordFormProps {
  readonly onDone: () => void;
  readonly onSecondFactor: (ticket: string) => void;
}

export function PasswordForm({ onDone, onSecondFactor }: PasswordFormProps) {
  const t = useTexts(texts);
  const form = useForm({
    initial: { login: '', password: '' },
    submit: (body) => api.post<SignInView>('/session', { body }),
    onDone: (step) => (step.next === 'done' ? onDone() : onSecondFactor(step.ticket)),
  });
  return (
    <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
      <Field label={t('login')} {...form.about('login')}>
        <Input autoComplete="username" required autoFocus {...form.text('login')} />
      </Field>
      <Field label={t('password')} {...form.about('password')}>
        <Input type="password" autoComplete="current-password" required {...form.text('password')} />
      </Field>
      {form.problem !== null && (
        <Notice tone="bad">{signInWords(form.problem, t, 'wrong_credentials')}</Notice>
      )}
      <Button type="submit" variant="primary" busy={form.isBusy}>
        {t('signIn')}
      </Button>
    </form>
  );
}

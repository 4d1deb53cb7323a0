import type { InvitedView } from '@headgate/gateway/console';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { NewPasswordFields } from '../password/new-password-fields.tsx';
import * as texts from './texts.ts';

interface AcceptFormProps {
  readonly token: string;
  readonly invited: InvitedView;
  readonly onDone: () => void;
}

/** Makes a person of who was invited, and signs them in. */
export function AcceptForm({ token, invited, onDone }: AcceptFormProps) {
  const t = useTexts(texts);
  const form = useForm({
    initial: { name: '', email: invited.email ?? '', password: '', repeated: '' },
    submit: ({ name, email, password }) =>
      api.post('/invitations/accept', { body: { token, name, email, password } }),
    onDone,
  });
  const { password, repeated } = form.values;
  return (
    <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
      <Field label={t('name')} {...form.about('name')}>
        <Input autoComplete="name" required autoFocus {...form.text('name')} />
      </Field>
      <Field label={t('email')} hint={t('emailHint')} {...form.about('email')}>
        <Input type="email" autoComplete="username" required {...form.text('email')} />
      </Field>
      <NewPasswordFields
        password={password}
        repeated={repeated}
        {...form.about('password')}
        onChange={(name, value) => form.set(name, value)}
      />
      {form.problem !== null && (
        <Notice tone="bad">
          {form.problem instanceof Error ? form.problem.message : String(form.problem)}
        </Notice>
      )}
      <Button
        type="submit"
        variant="primary"
        busy={form.isBusy}
        disabled={password === '' || password !== repeated}
      >
        {t('accept')}
      </Button>
    </form>
  );
}

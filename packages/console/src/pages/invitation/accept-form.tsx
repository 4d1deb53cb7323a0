import type { InvitedView } from '@headgate/gateway/console';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { NewPasswordForm } from '../password/new-password-form.tsx';
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
  return (
    <NewPasswordForm form={form} label={t('accept')}>
      <Field label={t('name')} {...form.about('name')}>
        <Input autoComplete="name" required autoFocus {...form.text('name')} />
      </Field>
      <Field label={t('email')} hint={t('emailHint')} {...form.about('email')}>
        <Input type="email" autoComplete="username" required {...form.text('email')} />
      </Field>
    </NewPasswordForm>
  );
}

import { api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { NewPasswordFields } from '../password/new-password-fields.tsx';
import * as texts from './texts.ts';

/** Makes the first operator, who is signed in then. */
export function OperatorForm({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const t = useTexts(texts);
  const form = useForm({
    initial: { name: '', login: '', password: '', repeated: '' },
    submit: ({ name, login, password }) => api.post('/set-up', { body: { token, name, login, password } }),
    onDone,
  });
  const { password, repeated } = form.values;
  const isGone = form.problem instanceof Problem && form.problem.code === 'wrong_credentials';
  return (
    <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
      <Field label={t('name')} {...form.about('name')}>
        <Input autoComplete="name" required autoFocus {...form.text('name')} />
      </Field>
      <Field label={t('login')} {...form.about('login')}>
        <Input autoComplete="username" required {...form.text('login')} />
      </Field>
      <NewPasswordFields
        password={password}
        repeated={repeated}
        {...form.about('password')}
        onChange={(name, value) => form.set(name, value)}
      />
      {form.problem !== null && (
        <Notice tone="bad" title={isGone ? t('linkTitle') : undefined}>
          {isGone
            ? t('linkDetail')
            : form.problem instanceof Error
              ? form.problem.message
              : String(form.problem)}
        </Notice>
      )}
      <Button
        type="submit"
        variant="primary"
        busy={form.isBusy}
        disabled={password === '' || password !== repeated}
      >
        {t('continue')}
      </Button>
    </form>
  );
}

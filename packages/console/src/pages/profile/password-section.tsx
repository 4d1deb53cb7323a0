import type { SecurityView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { NewPasswordFields } from '../password/new-password-fields.tsx';
import * as texts from './texts.ts';

const initial = { current: '', password: '', repeated: '' };

export function PasswordSection() {
  const t = useTexts(texts);
  const security = useGet<SecurityView>('/me/security');
  const queries = useQueryClient();
  const form = useForm({
    initial,
    submit: ({ current, password }) => api.put('/session/password', { body: { current, password } }),
    onDone: () => {
      form.setValues(initial);
      toast.success(t('passwordChanged'));
      void queries.invalidateQueries({ queryKey: ['/sessions'] });
    },
  });
  const { password, repeated, current } = form.values;
  if (security.data?.hasPassword === false) return <Section title={t('password')}>{t('noPassword')}</Section>;
  return (
    <Section title={t('password')} description={t('passwordDetail')}>
      <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
        <Field label={t('currentPassword')} {...form.about('current')}>
          <Input type="password" autoComplete="current-password" required {...form.text('current')} />
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
        <div>
          <Button
            type="submit"
            busy={form.isBusy}
            disabled={current === '' || password === '' || password !== repeated}
          >
            {t('changePassword')}
          </Button>
        </div>
      </form>
    </Section>
  );
}

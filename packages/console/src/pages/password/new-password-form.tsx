import type { ReactNode } from 'react';
import { wordsOf } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import type { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { NewPasswordFields } from './new-password-fields.tsx';

interface NewPasswordValues extends Readonly<Record<string, unknown>> {
  readonly password: string;
  readonly repeated: string;
}

interface NewPasswordFormProps<Values extends NewPasswordValues> {
  readonly form: ReturnType<typeof useForm<Values>>;
  readonly label: string;
  /** Fields that come before the password. */
  readonly children?: ReactNode;
}

/** Sends a new password, with whatever else is asked for beside it. */
export function NewPasswordForm<Values extends NewPasswordValues>({
  form,
  label,
  children,
}: NewPasswordFormProps<Values>) {
  const { password, repeated } = form.values;
  return (
    <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
      {children}
      <NewPasswordFields
        password={password}
        repeated={repeated}
        {...form.about('password')}
        onChange={(name, value) => form.setValues((before) => ({ ...before, [name]: value }))}
      />
      {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
      <Button
        type="submit"
        variant="primary"
        busy={form.isBusy}
        disabled={password === '' || password !== repeated}
      >
        {label}
      </Button>
    </form>
  );
}

import { useTexts } from '../../app/texts.ts';
import { Field, Input } from '../../ui/field.tsx';
import * as texts from './texts.ts';

interface NewPasswordFieldsProps {
  readonly password: string;
  readonly repeated: string;
  readonly onChange: (name: 'password' | 'repeated', value: string) => void;
  /** The API's words about it. */
  readonly error: string | null;
}

/** A new password, twice. */
export function NewPasswordFields({ password, repeated, onChange, error }: NewPasswordFieldsProps) {
  const t = useTexts(texts);
  return (
    <>
      <Field label={t('password')} hint={t('hint')} error={error}>
        <Input
          type="password"
          autoComplete="new-password"
          required
          minLength={10}
          value={password}
          onChange={(event) => onChange('password', event.target.value)}
        />
      </Field>
      <Field
        label={t('repeat')}
        error={repeated !== '' && !password.startsWith(repeated) ? t('different') : null}
      >
        <Input
          type="password"
          autoComplete="new-password"
          required
          value={repeated}
          onChange={(event) => onChange('repeated', event.target.value)}
        />
      </Field>
    </>
  );
}

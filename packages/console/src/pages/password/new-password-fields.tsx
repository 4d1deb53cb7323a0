import type { PasswordLengthMin } from '@headgate/gateway/console';
import { useState } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Field, Input } from '../../ui/field.tsx';
import * as texts from './texts.ts';

/** The API's own number, by its type. */
export const passwordLengthMin: PasswordLengthMin = 10;

interface NewPasswordFieldsProps {
  readonly password: string;
  readonly repeated: string;
  readonly onChange: (name: 'password' | 'repeated', value: string) => void;
  /** The API's words about it. */
  readonly error: string | null;
  /** True once it was tried to be sent: what is missing is said then, wherever one is. */
  readonly wasTried?: boolean;
}

/** A new password, twice. */
export function NewPasswordFields({
  password,
  repeated,
  onChange,
  error,
  wasTried = false,
}: NewPasswordFieldsProps) {
  const t = useTexts(texts);
  const [wasLeft, setWasLeft] = useState(false);
  const isShort = (wasLeft || wasTried) && password !== '' && password.length < passwordLengthMin;
  const isDifferent = wasTried ? repeated !== password : repeated !== '' && !password.startsWith(repeated);
  return (
    <>
      <Field
        label={t('password')}
        hint={t('hint', { least: passwordLengthMin })}
        error={isShort ? t('short', { missing: passwordLengthMin - password.length }) : error}
      >
        <Input
          type="password"
          autoComplete="new-password"
          required
          value={password}
          onChange={(event) => onChange('password', event.target.value)}
          onBlur={() => setWasLeft(true)}
        />
      </Field>
      <Field label={t('repeat')} error={isDifferent ? t('different') : null}>
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

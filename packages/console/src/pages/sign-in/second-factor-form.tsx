import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { signInWords } from './sign-in-words.ts';
import * as texts from './texts.ts';

interface SecondFactorFormProps {
  readonly ticket: string;
  readonly onDone: () => void;
  readonly onBack: () => void;
}

/** The step behind the password, for who has set one up. */
export function SecondFactorForm({ ticket, onDone, onBack }: SecondFactorFormProps) {
  const t = useTexts(texts);
  const [isRecovery, setRecovery] = useState(false);
  const form = useForm({
    initial: { code: '' },
    submit: ({ code }) => api.post('/session/totp', { body: { ticket, code } }),
    onDone,
  });
  const change = () => {
    form.set('code', '');
    setRecovery(!isRecovery);
  };
  return (
    <form onSubmit={(event) => void form.submit(event)} className="flex flex-col gap-4">
      <p className="text-soft">{isRecovery ? t('secondRecovery') : t('secondDetail')}</p>
      <Field label={isRecovery ? t('recoveryCode') : t('code')} {...form.about('code')}>
        <Input
          key={String(isRecovery)}
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          required
          autoFocus
          {...form.text('code')}
        />
      </Field>
      {form.problem !== null && <Notice tone="bad">{signInWords(form.problem, t, 'wrong_code')}</Notice>}
      <Button type="submit" variant="primary" busy={form.isBusy}>
        {t('continue')}
      </Button>
      <div className="flex flex-wrap justify-between gap-2">
        <Button variant="ghost" size="sm" onClick={change}>
          {isRecovery ? t('useApp') : t('useRecovery')}
        </Button>
        <Button variant="ghost" size="sm" onClick={onBack}>
          {t('back')}
        </Button>
      </div>
    </form>
  );
}

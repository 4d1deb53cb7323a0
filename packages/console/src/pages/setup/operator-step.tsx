import type { SetUpLinkView } from '@headgate/gateway/console';
import { useQuery } from '@tanstack/react-query';
import { Link2, Link2Off } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Problem, wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { NewPasswordFields, passwordLengthMin } from '../password/new-password-fields.tsx';
import * as texts from './texts.ts';

interface OperatorStepProps {
  readonly token: string;
  readonly onDone: () => Promise<void>;
}

/** The first operator, for whoever has a good link; who has none is told how to come by one. */
export function OperatorStep({ token, onDone }: OperatorStepProps) {
  const t = useTexts(texts);
  const link = useQuery({
    queryKey: ['set-up-link', token],
    queryFn: () => api.post<SetUpLinkView>('/set-up/look', { body: { token } }),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (token === '')
    return (
      <Empty icon={Link2} title={t('noLinkTitle')}>
        {t('noLinkDetail')}
      </Empty>
    );
  if (link.isError) return <ErrorState error={link.error} onRetry={() => void link.refetch()} />;
  if (link.data === undefined) return <Skeleton className="h-40 w-full" />;
  const { state } = link.data;
  if (state !== 'good')
    return (
      <Empty icon={Link2Off} title={t(`link.${state}`)}>
        {t(`link.${state}.fix`)}
      </Empty>
    );
  return <OperatorForm token={token} onDone={onDone} onGone={() => void link.refetch()} />;
}

interface OperatorFormProps extends OperatorStepProps {
  readonly onGone: () => void;
}

function OperatorForm({ token, onDone, onGone }: OperatorFormProps) {
  const t = useTexts(texts);
  const [wasTried, setTried] = useState(false);
  const form = useForm({
    initial: { name: '', login: '', password: '', repeated: '' },
    submit: async ({ name, login, password }) => {
      try {
        await api.post('/set-up', { body: { token, name, login, password } });
      } catch (error) {
        // Somebody was quicker, or the day is over: the link says which.
        if (error instanceof Problem && error.code === 'wrong_credentials') onGone();
        throw error;
      }
      await onDone();
    },
  });
  const { password, repeated } = form.values;
  const send = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (password.length >= passwordLengthMin && password === repeated) void form.submit();
  };
  return (
    <form onSubmit={send} className="flex max-w-md flex-col gap-4">
      <Field label={t('name')} {...form.about('name')}>
        <Input autoComplete="name" required autoFocus {...form.text('name')} />
      </Field>
      <Field label={t('login')} hint={t('login.hint')} {...form.about('login')}>
        <Input autoComplete="username" required {...form.text('login')} />
      </Field>
      <NewPasswordFields
        password={password}
        repeated={repeated}
        wasTried={wasTried}
        {...form.about('password')}
        onChange={(name, value) => form.set(name, value)}
      />
      {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
      <div>
        <Button type="submit" variant="primary" busy={form.isBusy}>
          {t('continue')}
        </Button>
      </div>
    </form>
  );
}

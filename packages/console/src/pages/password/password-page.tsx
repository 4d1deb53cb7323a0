import type { PasswordLinkView } from '@headgate/gateway/console';
import { useQuery } from '@tanstack/react-query';
import { Link2Off } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { BarePage } from '../../app/bare-page.tsx';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { useForm } from '../../ui/form.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useLinkToken } from './link-token.ts';
import { NewPasswordForm } from './new-password-form.tsx';
import * as texts from './texts.ts';

/** Sets a password by a link that an operator gave. */
export function PasswordPage() {
  const t = useTexts(texts);
  const token = useLinkToken();
  const [isDone, setDone] = useState(false);
  const link = useQuery({
    queryKey: ['password-link', token],
    queryFn: () => api.post<PasswordLinkView>('/password-links/look', { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const toSignIn = (
    <ButtonLink to="/sign-in" variant="primary">
      {t('toSignIn')}
    </ButtonLink>
  );
  if (isDone)
    return (
      <BarePage title={t('doneTitle')} description={t('doneDetail')}>
        {toSignIn}
      </BarePage>
    );
  if (link.isError)
    return (
      <BarePage title={t('title')}>
        <Empty icon={Link2Off} title={t('goneTitle')} action={toSignIn}>
          {t('goneDetail')}
        </Empty>
      </BarePage>
    );
  return (
    <BarePage
      title={t('title')}
      description={link.data === undefined ? <Skeleton /> : t('detail', { ...link.data })}
    >
      <NewPassword token={token} onDone={() => setDone(true)} />
    </BarePage>
  );
}

function NewPassword({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const t = useTexts(texts);
  const form = useForm({
    initial: { password: '', repeated: '' },
    submit: ({ password }) => api.post('/password-links/use', { body: { token, password } }),
    onDone,
  });
  return <NewPasswordForm form={form} label={t('set')} />;
}

import type { InvitedView, ProviderStartView, SessionView } from '@headgate/gateway/console';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Link2Off, LogIn } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { BarePage } from '../../app/bare-page.tsx';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { useLinkToken } from '../password/link-token.ts';
import { AcceptForm } from './accept-form.tsx';
import * as texts from './texts.ts';

/** Accepts an invitation: as somebody new, or as who is signed in. */
export function InvitationPage() {
  const t = useTexts(texts);
  const token = useLinkToken();
  const invited = useQuery({
    queryKey: ['invited', token],
    queryFn: () => api.post<InvitedView>('/invitations/look', { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const me = useGet<SessionView>('/session');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onDone = () => {
    queries.clear();
    toast.success(t('joined'));
    void navigate({ to: '/', replace: true });
  };
  if (invited.isError)
    return (
      <BarePage title={t('title')}>
        <Empty
          icon={Link2Off}
          title={t('goneTitle')}
          action={<ButtonLink to="/sign-in">{t('toSignIn')}</ButtonLink>}
        >
          {t('goneDetail')}
        </Empty>
      </BarePage>
    );
  if (invited.data === undefined || me.isPending)
    return (
      <BarePage title={t('title')}>
        <Skeleton />
      </BarePage>
    );
  const person = me.data?.person ?? null;
  return (
    <BarePage
      title={t('title')}
      deployment={invited.data.deployment}
      description={inviteWords(invited.data, t)}
    >
      {person === null ? (
        <div className="flex flex-col gap-4">
          <AcceptForm token={token} invited={invited.data} onDone={onDone} />
          {invited.data.provider !== null && <ByProvider token={token} name={invited.data.provider.name} />}
        </div>
      ) : (
        <AsPerson token={token} person={person} onDone={onDone} />
      )}
    </BarePage>
  );
}

function inviteWords(invited: InvitedView, t: Translate<typeof texts.en>): string {
  const { madeBy, deployment, accountName } = invited;
  const values = { madeBy, deployment, account: accountName ?? '' };
  if (invited.isOperator) return t('asOperator', values);
  return t(
    invited.role === 'admin' ? 'asAdmin' : invited.role === 'member' ? 'asMember' : 'asViewer',
    values,
  );
}

function AsPerson({
  token,
  person,
  onDone,
}: {
  readonly token: string;
  readonly person: NonNullable<SessionView['person']>;
  readonly onDone: () => void;
}) {
  const t = useTexts(texts);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const join = () => {
    setBusy(true);
    api
      .post('/invitations/join', { body: { token } })
      .then(onDone, setProblem)
      .finally(() => setBusy(false));
  };
  return (
    <div className="flex flex-col gap-4">
      <p>{t('asPerson', { name: person.name, login: person.login })}</p>
      {problem !== null && (
        <Notice tone="bad">{problem instanceof Error ? problem.message : String(problem)}</Notice>
      )}
      <Button variant="primary" busy={isBusy} onClick={join}>
        {t('join', { name: person.name })}
      </Button>
    </div>
  );
}

function ByProvider({ token, name }: { readonly token: string; readonly name: string }) {
  const t = useTexts(texts);
  const [problem, setProblem] = useState<unknown>(null);
  const go = () =>
    api
      .post<ProviderStartView>('/session/provider', { body: { invitation: token } })
      .then(({ url }) => location.assign(url), setProblem);
  return (
    <>
      <div className="flex items-center gap-3 text-xs text-soft">
        <span className="h-px flex-1 bg-line" />
        {t('or')}
        <span className="h-px flex-1 bg-line" />
      </div>
      <Button icon={LogIn} onClick={() => void go()}>
        {t('withProvider', { name })}
      </Button>
      {problem !== null && (
        <Notice tone="bad">{problem instanceof Error ? problem.message : String(problem)}</Notice>
      )}
    </>
  );
}

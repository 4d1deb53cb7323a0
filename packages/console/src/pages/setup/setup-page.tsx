import type { SessionView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Link2 } from 'lucide-react';
import { useGet } from '../../api/hooks.ts';
import { BarePage } from '../../app/bare-page.tsx';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useLinkToken } from '../password/link-token.ts';
import { OperatorForm } from './operator-form.tsx';
import * as texts from './texts.ts';

/** The first page of a new gateway: makes its first operator, by the link that a start prints. */
export function SetupPage() {
  const t = useTexts(texts);
  const token = useLinkToken();
  const session = useGet<SessionView>('/session');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onDone = () => {
    queries.clear();
    void navigate({ to: '/welcome', replace: true });
  };
  if (session.error !== null)
    return (
      <BarePage title={t('title')}>
        <ErrorState error={session.error} onRetry={() => void session.refetch()} />
      </BarePage>
    );
  if (session.data === undefined)
    return (
      <BarePage title={t('title')}>
        <Skeleton className="h-40 w-full" />
      </BarePage>
    );
  const { isSetUp, deployment } = session.data;
  if (isSetUp)
    return (
      <BarePage title={t('setUpTitle')} description={t('setUpDetail')} deployment={deployment.name}>
        <ButtonLink to="/sign-in" variant="primary">
          {t('toSignIn')}
        </ButtonLink>
      </BarePage>
    );
  if (token === '')
    return (
      <BarePage title={t('title')} deployment={deployment.name}>
        <Empty icon={Link2} title={t('noLinkTitle')}>
          {t('noLinkDetail')}
        </Empty>
      </BarePage>
    );
  return (
    <BarePage title={t('title')} description={t('operatorDetail')} deployment={deployment.name}>
      <OperatorForm token={token} onDone={onDone} />
    </BarePage>
  );
}

import type { SessionView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useGet } from '../../api/hooks.ts';
import { BarePage } from '../../app/bare-page.tsx';
import { adoptLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { adoptTheme } from '../../app/theme.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useLinkToken } from '../password/link-token.ts';
import { Guide } from './guide.tsx';
import * as texts from './texts.ts';

/** The first run: one page leads from the link that a start prints to a streamed answer. */
export function SetupPage() {
  const t = useTexts(texts);
  const token = useLinkToken();
  const session = useGet<SessionView>('/session');
  const queries = useQueryClient();
  const { data } = session;
  useEffect(() => {
    if (data === undefined) return;
    adoptTheme(data.person?.theme);
    adoptLanguage(data.person?.language, data.deployment.language);
  }, [data]);
  if (data === undefined)
    return (
      <BarePage title={t('title')} width="middle">
        {session.error === null ? (
          <Skeleton className="h-40 w-full" />
        ) : (
          <ErrorState error={session.error} onRetry={() => void session.refetch()} />
        )}
      </BarePage>
    );
  const { isSetUp, person, deployment } = data;
  if (isSetUp && person?.isOperator !== true)
    return (
      <BarePage
        title={t('setUpTitle')}
        description={t(person === null ? 'setUpDetail' : 'setUpForOthers')}
        deployment={deployment.name}
      >
        {person === null ? (
          <ButtonLink to="/sign-in" search={{ next: '/setup' }} variant="primary">
            {t('toSignIn')}
          </ButtonLink>
        ) : (
          <ButtonLink to="/" variant="primary">
            {t('toConsole')}
          </ButtonLink>
        )}
      </BarePage>
    );
  return (
    <BarePage title={t('title')} description={t('description')} deployment={deployment.name} width="middle">
      {/* All that was fetched as nobody is asked again as whoever is signed in now. */}
      <Guide session={data} token={token} onSignedIn={() => queries.invalidateQueries()} />
    </BarePage>
  );
}

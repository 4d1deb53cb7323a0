import type { ProviderStartView, SignInWays } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Fingerprint, LogIn } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { BarePage } from '../../app/bare-page.tsx';
import { adoptLanguage } from '../../app/language.ts';
import { placeAfterSignIn } from '../../app/sign-in-place.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { hasPasskeys, signInByPasskey, wasCancelled } from './passkey.ts';
import { PasswordForm } from './password-form.tsx';
import { SecondFactorForm } from './second-factor-form.tsx';
import { signInWords } from './sign-in-words.ts';
import * as texts from './texts.ts';

/** Signs in: by password and what comes behind it, by passkey, or at a provider. */
export function SignInPage() {
  const t = useTexts(texts);
  const ways = useGet<SignInWays>('/sign-in/ways');
  const [ticket, setTicket] = useState<string | null>(null);
  const search = useSearch({ strict: false });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const language = ways.data?.language;
  useEffect(() => {
    if (language) adoptLanguage(null, language);
  }, [language]);
  const onDone = () => {
    // Nothing of whoever was here before is shown to who is here now.
    queries.clear();
    void navigate({ href: placeAfterSignIn(search['next']), replace: true });
  };
  if (ways.error !== null)
    return (
      <BarePage title={t('title')}>
        <ErrorState error={ways.error} onRetry={() => void ways.refetch()} />
      </BarePage>
    );
  if (ticket !== null)
    return (
      <BarePage title={t('secondTitle')} deployment={ways.data?.deployment}>
        <SecondFactorForm ticket={ticket} onDone={onDone} onBack={() => setTicket(null)} />
      </BarePage>
    );
  const provider = ways.data?.provider ?? null;
  const problem = providerProblem(search['problem']);
  return (
    <BarePage title={t('title')} deployment={ways.data?.deployment}>
      <div className="flex flex-col gap-5">
        {problem !== null && <Notice tone="bad">{t(problem, { name: provider?.name ?? '' })}</Notice>}
        <PasswordForm onDone={onDone} onSecondFactor={setTicket} />
        {ways.data !== undefined && <OtherWays ways={ways.data} onDone={onDone} />}
        <p className="text-xs text-soft">{t('forgotten')}</p>
      </div>
    </BarePage>
  );
}

const providerProblems = ['failed', 'unknown', 'disabled', 'late', 'taken'] as const;

function providerProblem(given: string | undefined) {
  const found = providerProblems.find((name) => given === `provider-${name}`);
  return found === undefined ? null : (`provider.${found}` as const);
}

function OtherWays({ ways, onDone }: { readonly ways: SignInWays; readonly onDone: () => void }) {
  const t = useTexts(texts);
  const [busy, setBusy] = useState<'passkey' | 'provider' | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const withPasskeys = hasPasskeys(ways);
  if (!withPasskeys && ways.provider === null) return null;
  const run = async (what: 'passkey' | 'provider', act: () => Promise<void>) => {
    setBusy(what);
    setProblem(null);
    try {
      await act();
    } catch (error) {
      if (!wasCancelled(error)) setProblem(error);
    } finally {
      setBusy(null);
    }
  };
  return (
    <div className="flex flex-col gap-2.5">
      <div className="flex items-center gap-3 text-xs text-soft">
        <span className="h-px flex-1 bg-line" />
        {t('or')}
        <span className="h-px flex-1 bg-line" />
      </div>
      {withPasskeys && (
        <Button
          icon={Fingerprint}
          busy={busy === 'passkey'}
          onClick={() => void run('passkey', () => signInByPasskey().then(onDone))}
        >
          {t('withPasskey')}
        </Button>
      )}
      {ways.provider !== null && (
        <Button icon={LogIn} busy={busy === 'provider'} onClick={() => void run('provider', goToProvider)}>
          {t('withProvider', { name: ways.provider.name })}
        </Button>
      )}
      {problem !== null && <Notice tone="bad">{signInWords(problem, t, 'unknown_passkey')}</Notice>}
    </div>
  );
}

async function goToProvider(): Promise<void> {
  const { url } = await api.post<ProviderStartView>('/session/provider', { body: {} });
  location.assign(url);
}

import type { SecurityView } from '@headgate/gateway/console';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { Page } from '../../ui/page.tsx';
import { PasskeySection } from './passkey-section.tsx';
import { PasswordSection } from './password-section.tsx';
import { PersonSection } from './person-section.tsx';
import { ProviderSection } from './provider-section.tsx';
import { SessionSection } from './session-section.tsx';
import * as texts from './texts.ts';
import { TotpSection } from './totp-section.tsx';

/** The person themself: name, appearance, all that they sign in with, and where they are signed in. */
export function ProfilePage() {
  const t = useTexts(texts);
  const security = useGet<SecurityView>('/me/security');
  return (
    <Page title={t('title')} description={t('description')}>
      <div className="grid gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <PersonSection />
          {security.data !== undefined && <PasswordSection />}
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          {security.data === undefined && security.error !== null ? (
            <ErrorState error={security.error} onRetry={() => void security.refetch()} />
          ) : (
            <>
              <TotpSection />
              <PasskeySection />
              <ProviderSection />
            </>
          )}
        </div>
      </div>
      <SessionSection />
    </Page>
  );
}

import type { ProviderStartView, SecurityView, SignInWays } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { useProof } from './proof.tsx';
import * as texts from './texts.ts';

/** The accounts at a provider that the person signs in by; left out where there is no provider and none was ever connected. */
export function ProviderSection() {
  const t = useTexts(texts);
  const ways = useGet<SignInWays>('/sign-in/ways');
  const security = useGet<SecurityView>('/me/security');
  const queries = useQueryClient();
  const proof = useProof();
  const [removed, setRemoved] = useState<SecurityView['identities'][number] | null>(null);
  const identities = security.data?.identities ?? [];
  const provider = ways.data?.provider ?? null;
  if (provider === null && identities.length === 0) return null;
  const connect = () =>
    proof
      .attempt(async () => location.assign((await api.post<ProviderStartView>('/me/identities')).url))
      .catch(toast.error);
  const remove = () =>
    proof.attempt(async () => {
      await api.delete(`/me/identities/${removed?.id ?? ''}`);
      await queries.invalidateQueries({ queryKey: ['/me/security'] });
    });
  return (
    <Section title={t('provider', { name: provider?.name ?? '' })} description={t('providerDetail')}>
      {identities.length === 0 && <p className="text-soft">{t('noIdentities')}</p>}
      <ul className="flex flex-col gap-2">
        {identities.map((identity) => (
          <li key={identity.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <span className="min-w-0 break-words">
              {identity.label} <span className="text-xs text-soft">{identity.issuer}</span>
            </span>
            <Button size="sm" variant="ghost" onClick={() => setRemoved(identity)}>
              {t('disconnect')}
            </Button>
          </li>
        ))}
      </ul>
      {provider !== null && (
        <div className="mt-3">
          <Button size="sm" onClick={() => void connect()}>
            {t('connect')}
          </Button>
        </div>
      )}
      <Confirm
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('removeIdentityTitle', { name: removed?.label ?? '' })}
        description={t('removeIdentityDetail')}
        confirmLabel={t('disconnect')}
        onConfirm={remove}
      />
      {proof.dialog}
    </Section>
  );
}

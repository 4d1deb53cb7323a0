import type { RecoveryCodesView, SecurityView, TotpProposalView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { useProof } from './proof.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import * as texts from './texts.ts';

const TotpDialog = lazy(async () => ({ default: (await import('./totp-dialog.tsx')).TotpDialog }));

/** The authenticator app, and the codes that stand in for it. */
export function TotpSection() {
  const t = useTexts(texts);
  const security = useGet<SecurityView>('/me/security');
  const queries = useQueryClient();
  const proof = useProof();
  const [proposal, setProposal] = useState<TotpProposalView | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asks, setAsks] = useState<'remove' | 'renew' | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ['/me/security'] });
  const begin = () =>
    void proof
      .attempt(async () => setProposal(await api.post<TotpProposalView>('/me/totp')))
      .catch(toast.error);
  const remove = () =>
    proof.attempt(async () => {
      await api.delete('/me/totp');
      await refresh();
    });
  const renew = () =>
    proof.attempt(async () => {
      setCodes((await api.post<RecoveryCodesView>('/me/recovery-codes')).recoveryCodes);
      await refresh();
    });
  if (security.data === undefined)
    return (
      <Section title={t('totp')}>
        <Skeleton />
      </Section>
    );
  return (
    <Section title={t('totp')} description={t('totpDetail')}>
      <TotpState security={security.data} onSetUp={begin} onAsk={setAsks} />
      {proof.dialog}
      {proposal !== null && (
        <Suspense>
          <TotpDialog
            proposal={proposal}
            onClose={() => setProposal(null)}
            onConfirmed={(recoveryCodes) => {
              setProposal(null);
              setCodes(recoveryCodes);
              void refresh();
            }}
          />
        </Suspense>
      )}
      {codes !== null && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
      <Confirm
        open={asks === 'remove'}
        onClose={() => setAsks(null)}
        title={t('removeTotpTitle')}
        description={t('removeTotpDetail')}
        confirmLabel={t('removeTotp')}
        onConfirm={remove}
      />
      <Confirm
        open={asks === 'renew'}
        onClose={() => setAsks(null)}
        title={t('newCodesTitle')}
        description={t('newCodesDetail')}
        confirmLabel={t('newCodes')}
        danger={false}
        onConfirm={renew}
      />
    </Section>
  );
}

interface TotpStateProps {
  readonly security: SecurityView;
  readonly onSetUp: () => void;
  readonly onAsk: (what: 'remove' | 'renew') => void;
}

function TotpState({ security: { hasTotp, recoveryCodesLeft }, onSetUp, onAsk }: TotpStateProps) {
  const t = useTexts(texts);
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <span className="flex flex-wrap gap-x-4">
        <StateDot state={hasTotp ? 'good' : 'neutral'} label={t(hasTotp ? 'totpOn' : 'totpOff')} />
        {hasTotp && <span className="text-soft">{t('totpCodes', { count: recoveryCodesLeft })}</span>}
      </span>
      {hasTotp ? (
        <span className="flex flex-wrap gap-2">
          <Button size="sm" onClick={() => onAsk('renew')}>
            {t('newCodes')}
          </Button>
          <Button size="sm" onClick={() => onAsk('remove')}>
            {t('removeTotp')}
          </Button>
        </span>
      ) : (
        <Button size="sm" onClick={onSetUp}>
          {t('setUpTotp')}
        </Button>
      )}
    </div>
  );
}

import type { PasskeyView, SecurityView, SignInWays } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { hasPasskeys, makePasskey, wasCancelled } from '../sign-in/passkey.ts';
import { NameDialog } from './name-dialog.tsx';
import { useProof } from './proof.tsx';
import * as texts from './texts.ts';

/** Passkeys by name. They are made on the console's own origin alone. */
export function PasskeySection() {
  const t = useTexts(texts);
  const ways = useGet<SignInWays>('/sign-in/ways');
  const security = useGet<SecurityView>('/me/security');
  const proof = useProof();
  const [isNaming, setNaming] = useState(false);
  const [renamed, setRenamed] = useState<PasskeyView | null>(null);
  const [removed, setRemoved] = useState<PasskeyView | null>(null);
  const { add, rename, remove } = usePasskeyChanges(proof.attempt);
  const passkeys = security.data?.passkeys ?? [];
  const canMake = ways.data !== undefined && hasPasskeys(ways.data);
  return (
    <Section
      title={t('passkeys')}
      description={t('passkeysDetail')}
      actions={
        canMake && (
          <Button size="sm" onClick={() => setNaming(true)}>
            {t('addPasskey')}
          </Button>
        )
      }
    >
      <PasskeyList passkeys={passkeys} onRename={setRenamed} onRemove={setRemoved} />
      {ways.data !== undefined && !canMake && (
        <p className="mt-2 text-xs text-soft">
          {ways.data.passkeys === null ? t('passkeysNowhere') : t('passkeysElsewhere', ways.data.passkeys)}
        </p>
      )}
      {isNaming && (
        <NameDialog
          title={t('addPasskey')}
          action={t('addPasskey')}
          onClose={() => setNaming(false)}
          onName={(name) => {
            setNaming(false);
            return add(name);
          }}
        />
      )}
      {renamed !== null && (
        <NameDialog
          title={t('rename')}
          action={t('save')}
          initial={renamed.name}
          onClose={() => setRenamed(null)}
          onName={(name) => rename(renamed.id, name).then(() => setRenamed(null))}
        />
      )}
      <Confirm
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('removePasskeyTitle', { name: removed?.name ?? '' })}
        description={t('removePasskeyDetail')}
        confirmLabel={t('remove')}
        onConfirm={() => remove(removed?.id ?? '')}
      />
      {proof.dialog}
    </Section>
  );
}

interface PasskeyListProps {
  readonly passkeys: readonly PasskeyView[];
  readonly onRename: (passkey: PasskeyView) => void;
  readonly onRemove: (passkey: PasskeyView) => void;
}

function PasskeyList({ passkeys, onRename, onRemove }: PasskeyListProps) {
  const t = useTexts(texts);
  return (
    <>
      {passkeys.length === 0 && <p className="text-soft">{t('noPasskeys')}</p>}
      <ul className="flex flex-col gap-3">
        {passkeys.map((passkey) => (
          <li key={passkey.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <span className="min-w-0">
              <span className="block font-medium break-words">{passkey.name}</span>
              <span className="text-xs text-soft">
                {t('made')} <Time iso={passkey.createdAt} /> ·{' '}
                {passkey.usedAt === null ? t('never') : t('used')}{' '}
                {passkey.usedAt !== null && <Time iso={passkey.usedAt} />}
              </span>
            </span>
            <span className="flex gap-1">
              <Button size="sm" variant="ghost" onClick={() => onRename(passkey)}>
                {t('rename')}
              </Button>
              <Button size="sm" variant="ghost" onClick={() => onRemove(passkey)}>
                {t('remove')}
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Adds, renames and removes passkeys; each may want the password once more. */
function usePasskeyChanges(attempt: ReturnType<typeof useProof>['attempt']) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['/me/security'] });
  const add = async (name: string) => {
    const act = async () => {
      await makePasskey(name);
      toast.success(t('passkeyAdded'));
      await refresh();
    };
    await attempt(act).catch((error: unknown) => wasCancelled(error) || toast.error(error));
  };
  const rename = async (id: string, name: string) => {
    await api.patch(`/me/passkeys/${id}`, { body: { name } });
    await refresh();
  };
  const remove = (id: string) =>
    attempt(async () => {
      await api.delete(`/me/passkeys/${id}`);
      await refresh();
    });
  return { add, rename, remove };
}

import type { SettingsView } from '@headgate/gateway/console';
import { useChange } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { useProof } from '../profile/proof.tsx';
import * as texts from './texts.ts';

interface SettingNoticesProps {
  readonly view: SettingsView;
  readonly etag: string | null;
  readonly onRestart: () => void;
}

/** Changes that wait for a restart, and values of the store that are not followed. */
export function SettingNotices({ view, etag, onRestart }: SettingNoticesProps) {
  const t = useTexts(texts);
  const change = useChange<object, SettingsView>('PATCH', '/settings', {
    invalidates: ['/settings'],
    onDone: () => toast.success(t('takenAway')),
  });
  const count = view.items.filter(({ pending }) => pending !== null).length;
  const proof = useProof();
  const takeAway = (name: string) =>
    proof
      .attempt(async () => {
        await change.mutateAsync({ body: { [name]: null }, etag });
      })
      .catch(toast.error);
  return (
    <>
      {count > 0 && (
        <Notice
          tone="warn"
          title={t('waiting', { count })}
          action={
            <Button size="sm" onClick={onRestart}>
              {t('restart')}
            </Button>
          }
        />
      )}
      {view.leftOut.map(({ name, reason }) => (
        <Notice
          key={name}
          tone="bad"
          title={t('leftOut', { name })}
          action={
            <Button size="sm" busy={change.isPending} onClick={() => void takeAway(name)}>
              {t('takeAway')}
            </Button>
          }
        >
          {reason}
        </Notice>
      ))}
      {proof.dialog}
    </>
  );
}

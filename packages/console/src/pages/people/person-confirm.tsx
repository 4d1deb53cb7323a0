import type { PersonView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useTexts } from '../../app/texts.ts';
import { Confirm } from '../../ui/confirm.tsx';
import * as texts from './texts.ts';

/** Something that is done to a person once it is confirmed. */
export interface PersonQuestion {
  readonly kind: 'disable' | 'enable' | 'remove' | 'totp';
  readonly person: PersonView;
}

interface PersonConfirmProps {
  readonly asked: PersonQuestion | null;
  readonly attempt: (act: () => Promise<void>) => Promise<void>;
  readonly onClose: () => void;
}

const words = {
  disable: ['disableTitle', 'disableDetail', 'disable'],
  enable: ['enableTitle', 'enableDetail', 'enable'],
  remove: ['removeTitle', 'removeDetail', 'remove'],
  totp: ['removeTotpTitle', 'removeTotpDetail', 'removeTotp'],
} as const;

/** Asks before somebody is disabled, enabled again or removed, or loses their authenticator app. */
export function PersonConfirm({ asked, attempt, onClose }: PersonConfirmProps) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [title, detail, action] = words[asked?.kind ?? 'disable'];
  const act = async () => {
    if (asked === null) return;
    const path = `/people/${asked.person.id}`;
    if (asked.kind === 'remove') await api.delete(path);
    else if (asked.kind === 'totp') await api.delete(`${path}/totp`);
    else await api.patch(path, { body: { isDisabled: asked.kind === 'disable' } });
    await queries.invalidateQueries({ queryKey: ['/people'] });
  };
  return (
    <Confirm
      open={asked !== null}
      onClose={onClose}
      title={t(title, { name: asked?.person.name ?? '' })}
      description={t(detail)}
      confirmLabel={t(action)}
      danger={asked?.kind !== 'enable'}
      onConfirm={() => attempt(act)}
    />
  );
}

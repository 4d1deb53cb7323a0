import { ChevronsUpDown } from 'lucide-react';
import { Menu } from '../ui/menu.tsx';
import { chooseAccount, useSession } from './session.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

/** Narrows the pages to one account, for who belongs to several. */
export function AccountSwitch() {
  const t = useTexts(texts);
  const { accounts, account } = useSession();
  if (accounts.length < 2) return null;
  const chosen = accounts.find(({ id }) => id === account);
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2 text-left hover:bg-hover"
        >
          <span className="min-w-0 flex-1 truncate">{chosen?.name ?? t('allAccounts')}</span>
          <ChevronsUpDown size={13} className="text-faint" aria-hidden />
          <span className="sr-only">{t('account')}</span>
        </button>
      }
      groups={[
        {
          items: [
            { label: t('allAccounts'), checked: account === null, onSelect: () => chooseAccount(null) },
            ...accounts.map(({ id, name }) => ({
              label: name,
              checked: id === account,
              onSelect: () => chooseAccount(id),
            })),
          ],
        },
      ]}
    />
  );
}

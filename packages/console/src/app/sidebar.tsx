import type { UnseenView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookText, ChevronsUpDown, ExternalLink, LogOut, Search, Signal, UserCog } from 'lucide-react';
import { api } from '../api/client.ts';
import { useGet } from '../api/hooks.ts';
import { Badge } from '../ui/badge.tsx';
import { PlainLink } from '../ui/link.tsx';
import { Menu } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';
import { AccountSwitch } from './account-switch.tsx';
import { useAppearance } from './appearance-menu.tsx';
import { Brand } from './brand.tsx';
import { navigationOf } from './navigation.ts';
import { useSession } from './session.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

const entryClass =
  'flex h-7.5 items-center gap-2.5 rounded-md px-2 text-soft transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:font-medium aria-[current=page]:text-accent';

/** The navigation, with the person at its foot. */
export function Sidebar({ onSearch }: { readonly onSearch: () => void }) {
  const t = useTexts(texts);
  const session = useSession();
  return (
    <div className="flex h-full flex-col gap-3 px-3 py-3.5">
      <div className="px-2">
        <Brand name={session.deployment.name} isSimulated={session.deployment.isSimulated} />
      </div>
      <AccountSwitch />
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2 text-soft hover:text-ink"
      >
        <Search size={14} aria-hidden />
        <span className="flex-1 text-left">{t('search')}</span>
        <kbd className="font-sans text-xs text-faint">
          {/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}
        </kbd>
      </button>
      <nav aria-label={t('navigation')} className="-mx-1 flex flex-1 flex-col gap-4 overflow-y-auto px-1">
        {navigationOf(session).map(({ name, entries }) => (
          <div key={name} className="flex flex-col gap-px">
            {name !== 'usage' && <p className="px-2 pb-1 text-xs text-faint">{t(`section.${name}`)}</p>}
            {entries.map(({ to, name: entry, icon: Icon }) => (
              <PlainLink
                key={to}
                to={to}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                className={entryClass}
              >
                <Icon size={15} strokeWidth={1.75} aria-hidden />
                <span className="flex-1">{t(`nav.${entry}`)}</span>
                {entry === 'alerts' && <UnseenAlerts />}
              </PlainLink>
            ))}
          </div>
        ))}
      </nav>
      <div className="flex flex-col gap-px">
        <a href="/status" className={entryClass}>
          <Signal size={15} strokeWidth={1.75} aria-hidden />
          {t('status')}
        </a>
        <PersonMenu />
      </div>
    </div>
  );
}

/** Counts the alerts that last and that nobody has acknowledged. */
function UnseenAlerts() {
  const t = useTexts(texts);
  const { data } = useGet<UnseenView>('/events/unseen', {}, { refetchMs: 60_000 });
  const count = (data?.errors ?? 0) + (data?.warnings ?? 0);
  if (data === undefined || count === 0) return null;
  return (
    <Badge tone={data.errors > 0 ? 'bad' : 'warn'}>
      {count}
      <span className="sr-only"> {t('unseenAlerts')}</span>
    </Badge>
  );
}

function PersonMenu() {
  const t = useTexts(texts);
  const { person, accounts, isOperator, deployment } = useSession();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const appearance = useAppearance(
    t,
    (choice) => void api.patch('/session/person', { body: choice }).catch(toast.error),
  );
  const signOut = async () => {
    await api.delete('/session').catch(toast.error);
    queries.clear();
    await navigate({ href: '/sign-in' });
  };
  const role = isOperator ? t('operator') : accounts[0] && t(`role.${accounts[0].role}`);
  return (
    <Menu
      side="top"
      align="start"
      trigger={
        <button
          type="button"
          className="flex items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-hover"
        >
          <span
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-tint text-xs font-semibold text-accent"
            aria-hidden
          >
            {Array.from(person.name)[0]?.toUpperCase()}
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate leading-4">{person.name}</span>
            <span className="block truncate text-xs leading-4 text-soft">{role}</span>
          </span>
          <ChevronsUpDown size={13} className="text-faint" aria-hidden />
        </button>
      }
      groups={[
        ...appearance,
        {
          items: [
            { label: t('apiDocs'), icon: BookText, onSelect: () => open('/api/docs', '_blank', 'noopener') },
            ...deployment.siblings.map(({ name, url }) => ({
              label: name,
              icon: ExternalLink,
              onSelect: () => location.assign(url),
            })),
          ],
        },
        {
          items: [
            { label: t('nav.profile'), icon: UserCog, onSelect: () => void navigate({ to: '/profile' }) },
          ],
        },
        { items: [{ label: t('signOut'), icon: LogOut, onSelect: () => void signOut() }] },
      ]}
    />
  );
}

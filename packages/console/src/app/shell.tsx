import type { SessionView } from '@headgate/gateway/console';
import { Outlet, useLocation, useMatches, useRouter } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useGet } from '../api/hooks.ts';

import { IconButton } from '../ui/button.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Brand } from './brand.tsx';
import { Forbidden } from './forbidden.tsx';
import { adoptLanguage } from './language.ts';
import { SessionProvider, useCurrencyOf, useSession } from './session.tsx';
import * as texts from './shell-texts.ts';
import { Sidebar } from './sidebar.tsx';
import { goToSignIn } from './sign-in-place.ts';
import { useTexts } from './texts.ts';
import { adoptTheme } from './theme.ts';

const NavigationDrawer = lazy(async () => ({
  default: (await import('./navigation-drawer.tsx')).NavigationDrawer,
}));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** The frame of all pages of who is signed in: navigation, palette, and who they are. */
export function Shell() {
  const session = useGet<SessionView>('/session', {}, { staleMs: 60_000 });
  useCurrencyOf(session.data?.deployment);
  const pages = useRouter();
  const person = session.data?.person;
  useEffect(() => {
    if (session.data === undefined) return;
    // Nobody can sign in to a gateway without people: it is set up first.
    if (!session.data.isSetUp) void pages.navigate({ to: '/setup', replace: true });
    else if (person === null) goToSignIn(pages);
    adoptTheme(person?.theme);
    adoptLanguage(person?.language, session.data.deployment.language);
  }, [session.data, person, pages]);
  if (session.data?.person)
    return (
      <SessionProvider answer={session.data}>
        <Framed deployment={session.data.deployment} />
      </SessionProvider>
    );
  const isRefused = session.error !== null && session.error.status !== 401;
  return isRefused ? (
    <ErrorState error={session.error} onRetry={() => void session.refetch()} />
  ) : (
    <ShellSkeleton />
  );
}

function Framed({ deployment }: { readonly deployment: SessionView['deployment'] }) {
  const t = useTexts(texts);
  const [isPaletteOpen, setPaletteOpen] = usePaletteKey();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: Going to a page closes the navigation of narrow screens.
  useEffect(() => setMenuOpen(false), [pathname]);
  const sidebar = <Sidebar onSearch={() => setPaletteOpen(true)} />;
  return (
    <div className="lg:grid lg:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-60 focus:rounded-md focus:bg-raised focus:px-3 focus:py-1.5 focus:shadow-pop"
      >
        {t('skip')}
      </a>
      <header className="flex h-12 items-center gap-2 border-b border-line bg-surface px-3 lg:hidden">
        <IconButton icon={MenuIcon} label={t('openNavigation')} onClick={() => setMenuOpen(true)} />
        <Brand name={deployment.name} isSimulated={deployment.isSimulated} />
      </header>
      <aside className="sticky top-0 hidden h-dvh border-r border-line bg-sunken lg:block">{sidebar}</aside>
      {isMenuOpen && (
        <Suspense>
          <NavigationDrawer onClose={() => setMenuOpen(false)}>{sidebar}</NavigationDrawer>
        </Suspense>
      )}
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        <PermittedPage />
      </main>
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** The page of the address, for who may see it. */
function PermittedPage() {
  const access = useMatches({ select: (matches) => matches.at(-1)?.staticData.access }) ?? 'signed-in';
  const { may } = useSession();
  return access === 'signed-in' || may(access) ? <Outlet /> : <Forbidden access={access} />;
}

/** ⌘K, or Ctrl K, opens the palette from everywhere. */
function usePaletteKey() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  return [isOpen, setOpen] as const;
}

function ShellSkeleton() {
  return (
    <div className="lg:grid lg:grid-cols-[13.5rem_minmax(0,1fr)]" aria-busy="true">
      <div className="hidden h-dvh flex-col gap-3 border-r border-line bg-sunken p-4 lg:flex">
        <Skeleton className="mb-4 h-5 w-28" />
        <Skeleton className="h-4 w-24" />
        <Skeleton className="h-4 w-20" />
        <Skeleton className="h-4 w-24" />
      </div>
      <div className="flex flex-col gap-5 p-6">
        <Skeleton className="h-6 w-40" />
        <Skeleton className="h-24 w-full" />
        <Skeleton className="h-56 w-full" />
      </div>
    </div>
  );
}

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { AppFrame } from './app-frame.tsx';
import { NotFound } from './not-found.tsx';
import { PageError } from './page-error.tsx';
import type { Access } from './session.tsx';
import { Shell } from './shell.tsx';

/** Parameters of a query are flat text on every page: `?status=error&model=x`. */
export type SearchTexts = Readonly<Record<string, string | undefined>>;

type PageAccess = Access | 'signed-in';

const root = createRootRoute({
  component: AppFrame,
  notFoundComponent: NotFound,
  errorComponent: PageError,
  validateSearch: (search: Record<string, unknown>): SearchTexts =>
    Object.fromEntries(
      // A filter that was cleared is undefined, and no text.
      Object.entries(search).flatMap(([name, value]) =>
        value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
      ),
    ),
});
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });

// Each page is a line here and comes with its texts when it is first gone to.
const inShell = [
  page('/', () => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
  page('/channels', () => import('../pages/channels/channels-page.tsx'), 'ChannelsPage', 'operator'),
  page('/channels/new', () => import('../pages/channels/new-channel-page.tsx'), 'NewChannelPage', 'operator'),
  page('/channels/$id', () => import('../pages/channels/channel-page.tsx'), 'ChannelPage', 'operator'),
  page('/models', () => import('../pages/models/models-page.tsx'), 'ModelsPage', 'operator'),
  page('/models/$id', () => import('../pages/models/model-page.tsx'), 'ModelPage', 'operator'),
  page('/routing', () => import('../pages/routing/routing-page.tsx'), 'RoutingPage', 'operator'),
  page('/ledger', () => import('../pages/ledger/ledger-page.tsx'), 'LedgerPage'),
  page('/spend', () => import('../pages/spend/spend-page.tsx'), 'SpendPage'),
  page('/calls/$id', () => import('../pages/call/call-page.tsx'), 'CallPage'),
  page('/keys', () => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
  page('/keys/$id', () => import('../pages/keys/key-page.tsx'), 'KeyPage'),
  page('/groups', () => import('../pages/groups/groups-page.tsx'), 'GroupsPage', 'operator'),
  page('/groups/$id', () => import('../pages/groups/group-page.tsx'), 'GroupPage', 'operator'),
  page('/accounts', () => import('../pages/accounts/accounts-page.tsx'), 'AccountsPage'),
  page('/accounts/$id', () => import('../pages/accounts/account-page.tsx'), 'AccountPage'),
  page('/playground', () => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  page('/people', () => import('../pages/people/people-page.tsx'), 'PeoplePage', 'operator'),
  page('/audit', () => import('../pages/audit/audit-page.tsx'), 'AuditPage', 'admin'),
  page('/settings', () => import('../pages/settings/settings-page.tsx'), 'SettingsPage', 'operator'),
  page('/profile', () => import('../pages/profile/profile-page.tsx'), 'ProfilePage', 'signed-in'),
  page('/alerts', () => import('../pages/alerts/alerts-page.tsx'), 'AlertsPage', 'operator'),
  page('/webhooks', () => import('../pages/alerts/webhooks-page.tsx'), 'WebhooksPage', 'operator'),
  page('/webhooks/$id', () => import('../pages/alerts/webhook-page.tsx'), 'WebhookPage', 'operator'),
  page('/incidents', () => import('../pages/incidents/incidents-page.tsx'), 'IncidentsPage', 'operator'),
] as const;
const withoutShell = [
  barePage('/usage', () => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
  barePage('/sign-in', () => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
  barePage('/setup', () => import('../pages/setup/setup-page.tsx'), 'SetupPage'),
  barePage('/invitation', () => import('../pages/invitation/invitation-page.tsx'), 'InvitationPage'),
  barePage('/password', () => import('../pages/password/password-page.tsx'), 'PasswordPage'),
] as const;

/** A page that has the navigation around it, for who is signed in and may see it. */
function page<Path extends string, Module extends Record<string, unknown>>(
  path: Path,
  load: () => Promise<Module>,
  name: keyof Module & string,
  access: PageAccess = 'viewer',
) {
  return createRoute({
    ...{ getParentRoute: () => shell, path, component: lazyRouteComponent(whenOnline(load), name) },
    staticData: { access },
  });
}

/** A page that stands alone: it brings its own frame, `BarePage`. */
function barePage<Path extends string, Module extends Record<string, unknown>>(
  path: Path,
  load: () => Promise<Module>,
  name: keyof Module & string,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(whenOnline(load), name),
  });
}

/** The files of a page that is gone to without a network are fetched once there is one. */
function whenOnline<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch(async (error: unknown) => {
      if (navigator.onLine) throw error;
      await new Promise((done) => addEventListener('online', done, { once: true }));
      return load();
    });
}

export function createPages() {
  return createRouter({
    routeTree: root.addChildren([shell.addChildren([...inShell]), ...withoutShell]),
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: searchText,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageError,
  });
}

function searchText(search: Record<string, unknown>): string {
  const words = Object.entries(search).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(words).toString();
  return text === '' ? '' : `?${text}`;
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Who finds a page there; the API decides for itself. */
    readonly access?: PageAccess;
  }
  interface Register {
    router: ReturnType<typeof createPages>;
  }
}

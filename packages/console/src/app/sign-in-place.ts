import type { AnyRouter } from '@tanstack/react-router';

const withoutSession = ['/sign-in', '/setup', '/invitation', '/password', '/usage'];

/** Leads who is not signed in to the page that signs in, and from there back to where they were. */
export function goToSignIn(pages: AnyRouter): void {
  const { pathname, href } = pages.state.location;
  if (withoutSession.some((path) => pathname === path || pathname.startsWith(`${path}/`))) return;
  const next = pathname === '/' ? '' : `?${new URLSearchParams({ next: href })}`;
  void pages.navigate({ href: `/sign-in${next}`, replace: true });
}

/** The place to go to after signing in: only a path of this origin, whatever the address says. */
export function placeAfterSignIn(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/')) return '/';
  const url = URL.parse(next, location.origin);
  if (url === null || url.origin !== location.origin) return '/';
  // Two slashes at the beginning would name another host.
  return `${url.pathname.replace(/^\/+/, '/')}${url.search}${url.hash}`;
}

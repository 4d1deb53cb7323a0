import { Hono } from 'hono';

/** The reasons that keep traffic from the node; empty when it should have some. */
export type UnreadyReasons = () => readonly string[];

/**
 * Tells anybody if the process is well. It is given nothing but why it may not be, so that no mistake in it can tell of calls, of keys or
 * of what anything costs.
 */
export function statusRoutes(unreadyReasons: UnreadyReasons): Hono {
  const routes = new Hono();
  routes.get('/healthz', (context) => context.json({ status: 'ok' }));
  routes.get('/readyz', (context) => {
    const reasons = unreadyReasons();
    return reasons.length === 0
      ? context.json({ status: 'ready' })
      : context.json({ status: 'not-ready', reasons }, 503);
  });
  return routes;
}

import type { MiddlewareHandler } from 'hono';

/** Nothing but what a page says itself that it needs: answers of the interface need nothing at all. */
const nothingAllowed = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The headers of every answer, as far as it does not have its own. */
export function secureHeaders(consoleOrigin: string | null): MiddlewareHandler {
  const usual: Readonly<Record<string, string>> = {
    'cache-control': 'no-store',
    'content-security-policy': nothingAllowed,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(consoleOrigin?.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
  return async (context, next) => {
    await next();
    const { headers } = context.res;
    for (const [name, value] of Object.entries(usual)) if (!headers.has(name)) context.header(name, value);
  };
}

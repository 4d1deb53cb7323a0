import { sessionCookie } from './frame/session-cookie.ts';
import type { ApiSources } from './operations-api.ts';

/** The sources that a test gives, and of all others some that nobody may ask. */
export function testSources(given: Partial<ApiSources>): ApiSources {
  const cookie = sessionCookie(null, 'token-of-tests');
  const notHere = () => {
    throw new Error('this source is not here');
  };
  // Routes take what they need when they are asked, so what a test does not ask need not be there.
  return new Proxy(
    { cookie, ...given },
    {
      get: (sources, name): unknown => Reflect.get(sources, name) ?? notHere,
    },
  ) as ApiSources;
}

/** The place of a status page that nobody asks for. */
export const noStatusPage = {
  putBefore: () => undefined,
  answer: () => false,
  retire: () => undefined,
  close: () => undefined,
};

import { createServer, type Server } from 'node:http';
import Provider from 'oidc-provider';

/** A person at the provider. */
export interface ProvidedPerson {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface TestIdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By what they write as their login; changed by tests. */
  readonly people: Map<string, ProvidedPerson>;
  close(): Promise<void>;
}

/** A real OpenID Connect provider on a port of its own. It takes any login and password of people whom it knows. */
export async function openIdentityProvider(redirectUri: string): Promise<TestIdentityProvider> {
  const people = new Map<string, ProvidedPerson>();
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const [clientId, clientSecret] = ['headgate', 'a-secret-of-the-client'];
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    pkce: { required: () => true },
    cookies: { keys: ['only for tests'] },
    findAccount: (_context, id) => {
      const person = people.get(id);
      if (person === undefined) return undefined;
      return { accountId: id, claims: () => Promise.resolve({ sub: id, ...person }) };
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return {
    ...{ issuer, clientId, clientSecret, people },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Walks through the provider's own pages as a browser would, and gives the address that it sends the browser back to. */
export async function signInAtProvider(start: string, login: string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let form: Record<string, string> | null = null;
  for (let step = 0; step < 20; step++) {
    const response: Response = await fetch(url, {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    if (location !== null) {
      url = new URL(location, url);
      form = null;
      if (url.href.startsWith(redirectUri)) return url;
      continue;
    }
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    const [, prompt] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
    if (action === undefined || prompt === undefined)
      throw new Error(`no form: ${response.status} ${page.slice(0, 300)}`);
    url = new URL(action, url);
    form = prompt === 'login' ? { prompt, login, password: 'any' } : { prompt };
  }
  throw new Error('the provider never sent anybody back');
}

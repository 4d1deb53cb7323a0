import { expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { ignoredProxyVariable, usualProxy } from './usual-proxy.ts';

const fromEnvironment = { upstreamProxy: 'environment', upstreamProxyCredential: null } as const;

function urlFor(baseUrl: string, variables: Readonly<Record<string, string>>) {
  const proxyFor = usualProxy(fromEnvironment, environmentOf(variables));
  return proxyFor.ok ? (proxyFor.value(baseUrl)?.url ?? null) : proxyFor.error;
}

test('the environment is followed where that is said, and otherwise named', () => {
  const variables = { HTTPS_PROXY: 'http://house:p%40ss@proxy.example:3128', NO_PROXY: 'internal.example' };
  const proxyFor = usualProxy(fromEnvironment, environmentOf(variables));
  expect(proxyFor.ok && proxyFor.value('https://api.example.com/v1')).toEqual({
    url: 'http://proxy.example:3128',
    authorization: `Basic ${Buffer.from('house:p@ss').toString('base64')}`,
  });
  const none = { upstreamProxy: 'none', upstreamProxyCredential: null } as const;
  const direct = usualProxy(none, environmentOf(variables));
  expect(direct.ok && direct.value('https://api.example.com/v1')).toBeNull();
  expect(ignoredProxyVariable(none, environmentOf(variables))).toBe('HTTPS_PROXY');
  expect(ignoredProxyVariable(fromEnvironment, environmentOf(variables))).toBeNull();
});

test('a password that is not encoded is taken as it is written', () => {
  const variables = { HTTPS_PROXY: 'http://house:100%@proxy.example:3128' };
  const proxyFor = usualProxy(fromEnvironment, environmentOf(variables));
  const authorization = `Basic ${Buffer.from('house:100%').toString('base64')}`;
  expect(proxyFor.ok && proxyFor.value('https://x')).toMatchObject({ authorization });
});

test('a proxy of the settings has its credential from its own variable', () => {
  const upstreamProxy = { url: 'http://proxy.example:3128' };
  const proxyFor = usualProxy({ upstreamProxy, upstreamProxyCredential: 'u:p:q' }, environmentOf({}));
  const authorization = `Basic ${Buffer.from('u:p:q').toString('base64')}`;
  expect(proxyFor.ok && proxyFor.value('https://x')).toEqual({ ...upstreamProxy, authorization });
});

test('a credential without a user is a mistake, and not left out', () => {
  const upstreamProxy = { url: 'http://proxy.example:3128' };
  const problem = usualProxy({ upstreamProxy, upstreamProxyCredential: 'secret' }, environmentOf({}));
  expect(problem).toMatchObject({ error: [{ where: 'HEADGATE_UPSTREAM_PROXY_CREDENTIAL' }] });
  expect(JSON.stringify(problem)).not.toContain('secret');
});

test.each([
  ['https://api.example.com/v1', 'other.example', false],
  ['https://api.example.com/v1', 'example.com', true],
  ['https://api.example.com/v1', '.example.com', true],
  ['https://api.example.com/v1', 'a.example, *.example.com', true],
  ['https://notexample.com', 'example.com', false],
  ['https://api.example.com:8443', 'example.com:8443', true],
  ['https://api.example.com', 'example.com:8443', false],
  ['https://api.example.com', '*', true],
  ['https://10.1.2.3', '10.0.0.0/8', true],
  ['https://11.1.2.3', '10.0.0.0/8', false],
  ['https://11.1.2.3', '10.0.0.0/', false],
  ['https://[2001:db8::1]', '2001:db8::/32', true],
])('%s with NO_PROXY=%s goes directly: %s', (baseUrl, list, isDirect) => {
  const variables = { https_proxy: 'proxy.example:3128', NO_PROXY: list };
  expect(urlFor(baseUrl, variables)).toBe(isDirect ? null : 'http://proxy.example:3128');
});

test('a variable that is no proxy is a mistake with a place, which is not repeated', () => {
  const problems = urlFor('https://x', { HTTPS_PROXY: 'socks5://u:secret@proxy' });
  expect(problems).toMatchObject([{ where: 'HTTPS_PROXY' }]);
  expect(JSON.stringify(problems)).not.toContain('secret');
});

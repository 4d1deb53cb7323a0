import { BlockList, isIP } from 'node:net';
import { fail, type Result, succeed } from '@headgate/protocols';
import { proxyServer } from '../catalogue/build-way.ts';
import type { ProxyServer } from '../catalogue/catalogue.ts';
import { isProxyUrl } from '../catalogue/channel-way.ts';
import { settingsTable } from '../config/settings-table.ts';
import type { ConfigurationProblem } from '../config/yaml-source.ts';
import type { Environment, Settings } from '../config.ts';

/** Finds the proxy of the server for an address; null where it is reached directly. */
export type ProxyFor = (baseUrl: string) => ProxyServer | null;

type ProxySettings = Pick<Settings, 'upstreamProxy' | 'upstreamProxyCredential'>;

/** The proxy that the settings name, or those that the environment does, as they say. */
export function usualProxy(
  { upstreamProxy, upstreamProxyCredential }: ProxySettings,
  environment: Environment,
): Result<ProxyFor, readonly ConfigurationProblem[]> {
  if (upstreamProxy === 'none') return succeed(() => null);
  if (upstreamProxy === 'environment') return environmentProxy(environment);
  const { url } = upstreamProxy;
  const [, user = null, password = null] = /^([^:]+):(.*)$/.exec(upstreamProxyCredential ?? '') ?? [];
  if (upstreamProxyCredential !== null && user === null) {
    const where = settingsTable.upstreamProxyCredential.environment;
    return fail([{ where, path: '', message: 'the value is not USER:PASSWORD' }]);
  }
  const proxy = proxyServer(url, user, password);
  return succeed(() => proxy);
}

/** Names a variable that asks for a proxy and is not followed; null where there is none. */
export function ignoredProxyVariable(
  { upstreamProxy }: ProxySettings,
  environment: Environment,
): string | null {
  return upstreamProxy === 'none' ? (variables(environment, 'HTTPS_PROXY')?.name ?? null) : null;
}

function environmentProxy(environment: Environment): Result<ProxyFor, readonly ConfigurationProblem[]> {
  const given = variables(environment, 'HTTPS_PROXY');
  if (given === null) return succeed(() => null);
  const proxy = readProxy(given.value);
  if (proxy === null) {
    const message = 'the value is not the URL of a proxy such as http://proxy.example:3128';
    return fail([{ where: given.name, path: '', message }]);
  }
  const isDirect = directHosts(variables(environment, 'NO_PROXY')?.value ?? '');
  return succeed((baseUrl) => (isDirect(baseUrl) ? null : proxy));
}

/** Programs agree on neither spelling; the one in lower case goes first. */
function variables(environment: Environment, name: string): { name: string; value: string } | null {
  for (const spelling of [name.toLowerCase(), name]) {
    const value = environment(spelling);
    if (value !== undefined) return { name: spelling, value };
  }
  return null;
}

function readProxy(text: string): ProxyServer | null {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !isProxyUrl(url.origin)) return null;
  const user = url.username === '' ? null : decoded(url.username);
  return proxyServer(url.origin, user, decoded(url.password));
}

/** A password with a bare percent sign was written as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads a list such as `localhost, .example.com, 10.0.0.0/8, api.example.org:8443`; `*` is every host. */
function directHosts(text: string): (baseUrl: string) => boolean {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  const addresses = new BlockList();
  for (const word of words) {
    const [address = '', bits] = word.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) !== 0 && (bits === undefined || /^\d{1,3}$/.test(bits)))
      addresses.addSubnet(address, Math.min(Number(bits ?? 128), family === 'ipv4' ? 32 : 128), family);
  }
  return (baseUrl) => {
    const url = URL.parse(baseUrl);
    if (url === null) return false;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const family = isIP(host);
    if (family !== 0 && addresses.check(host, family === 6 ? 'ipv6' : 'ipv4')) return true;
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
    return words.some((word) => word === '*' || isWithin(host, port, word));
  };
}

function isWithin(host: string, port: string, word: string): boolean {
  const [, name = '', wantedPort] = /^\*?\.?([^:]+)(?::(\d+))?$/.exec(word) ?? [];
  if (name === '' || (wantedPort !== undefined && wantedPort !== port)) return false;
  return host === name || host.endsWith(`.${name}`);
}

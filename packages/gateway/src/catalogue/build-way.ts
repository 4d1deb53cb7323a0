import type { Result } from '@headgate/protocols';
import type { Channel, Provider, ProxyServer } from './catalogue.ts';
import type { DeclaredChannel } from './entities.ts';
import type { SecretSource } from './secret-source.ts';

interface WaySources {
  readonly secret: (source: SecretSource) => Result<string, string>;
  readonly proxyFor: (baseUrl: string) => ProxyServer | null;
}

/** All that calls of a channel have in common on their way, and what is missing of it. */
export interface ChannelWay extends Pick<Channel, 'headers' | 'proxy' | 'secrets'> {
  readonly missing: readonly string[];
}

/** Reads the secrets of a channel's headers and proxy. The server's proxy is not for addresses of the operator's own network. */
export function wayOf(
  { headers, proxy, allowPrivate }: DeclaredChannel,
  baseUrl: string,
  provider: Provider,
  { secret, proxyFor }: WaySources,
): ChannelWay {
  const secrets: string[] = [];
  const missing: string[] = [];
  const sent = headers.flatMap(({ name, value }): readonly string[] => {
    if (typeof value === 'string') return [name, value];
    const found = secret(value);
    if (!found.ok) missing.push(`its header ${name} is missing: ${found.error}`);
    else secrets.push(found.value);
    return found.ok ? [name, found.value] : [];
  });
  if (proxy === 'none' || provider.simulated) return { headers: sent, proxy: null, secrets, missing };
  if (proxy === null) {
    const server = allowPrivate ? null : proxyFor(baseUrl);
    return { headers: sent, proxy: server, secrets: [...secrets, ...secretsOf(server)], missing };
  }
  const password = proxy.password === null ? null : secret(proxy.password);
  if (password?.ok === false) missing.push(`the password of its proxy is missing: ${password.error}`);
  const own = proxyServer(proxy.url, proxy.user, password?.ok === true ? password.value : null);
  const spoken = password?.ok === true ? [password.value] : [];
  return { headers: sent, proxy: own, secrets: [...secrets, ...spoken, ...secretsOf(own)], missing };
}

/** A proxy with its `proxy-authorization`, Basic in base64 of UTF-8 (RFC 7617). */
export function proxyServer(url: string, user: string | null, password: string | null): ProxyServer {
  if (user === null) return { url, authorization: null };
  const bytes = new TextEncoder().encode(`${user}:${password ?? ''}`);
  return { url, authorization: `Basic ${bytes.toBase64()}` };
}

/** The header as it is sent: whoever reads it reads the password. */
function secretsOf(proxy: ProxyServer | null): readonly string[] {
  const words = proxy?.authorization?.split(' ') ?? [];
  return words.slice(1);
}

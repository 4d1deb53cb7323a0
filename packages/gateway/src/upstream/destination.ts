import { isIP } from 'node:net';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { UpstreamFailure } from '../ports/upstream-client.ts';

/** Where connections go, as sockets need it. */
export interface Destination {
  readonly secure: boolean;
  /** A name without a trailing dot, or an address, IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** What the `host` header says: the port only when it is not the scheme's own. */
  readonly authority: string;
  /** Name for TLS to ask for; null when the host is an address, for which SNI has no form. */
  readonly serverName: string | null;
  readonly allowPrivate: boolean;
}

/**
 * Reads an origin such as `https://api.example.com`. URL parsing turns decimal, octal and hexadecimal spellings of
 * addresses into dotted ones before the guard sees them. Anything beyond scheme, host and port is refused: user info
 * in particular makes one host look like another.
 */
export function readDestination(origin: string, allowPrivate: boolean): Result<Destination, UpstreamFailure> {
  const url = URL.parse(origin);
  if (url === null || !isBareOrigin(url)) {
    return fail({ kind: 'forbidden-address', detail: 'the origin is not a plain http or https origin' });
  }
  const secure = url.protocol === 'https:';
  const hostname = url.hostname.replace(/^\[|\]$|\.$/g, '');
  return succeed({
    secure,
    hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authority: url.host,
    serverName: isIP(hostname) === 0 ? hostname : null,
    allowPrivate,
  });
}

function isBareOrigin(url: URL): boolean {
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  return isHttp && url.href === `${url.origin}/`;
}

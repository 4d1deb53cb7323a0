import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { type Resolve, systemResolve } from './address-guard.ts';
import type { DialerOptions } from './dialer.ts';

/** What both clients can be told; everything has a default. */
export interface UpstreamClientOptions {
  /** From the look-up of the name to the end of the TLS handshake. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept; shorter than servers keep theirs, so that ours is never the stale one. Default 4,000. */
  readonly idleTimeoutMs?: number;
  /** Connections per channel and origin; a request beyond it fails as unreachable (undici: waits). Default 10,000. */
  readonly maxConnections?: number;
  /** Age beyond which a connection takes no new request, so that changes in DNS are followed. Default 600,000. */
  readonly maxConnectionAgeMs?: number;
  /** PEM certificates trusted beside those Node trusts. */
  readonly certificateAuthorities?: readonly string[];
  /** Default `dns.lookup`. */
  readonly resolve?: Resolve;
}

export type ClientSettings = Required<UpstreamClientOptions>;

export function withDefaults(options: UpstreamClientOptions): ClientSettings {
  return {
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 4_000,
    maxConnections: options.maxConnections ?? 10_000,
    maxConnectionAgeMs: options.maxConnectionAgeMs ?? 600_000,
    certificateAuthorities: options.certificateAuthorities ?? [],
    resolve: options.resolve ?? systemResolve,
  };
}

export function dialerOptions(settings: ClientSettings): DialerOptions {
  let context: SecureContext | undefined;
  const secureContext = () => {
    context ??= openSecureContext(settings.certificateAuthorities);
    return context;
  };
  return { connectTimeoutMs: settings.connectTimeoutMs, resolve: settings.resolve, secureContext };
}

function openSecureContext(extraAuthorities: readonly string[]): SecureContext {
  if (extraAuthorities.length === 0) return createSecureContext();
  return createSecureContext({ ca: [...getCACertificates('default'), ...extraAuthorities] });
}

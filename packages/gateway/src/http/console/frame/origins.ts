import { isIP } from 'node:net';
import { type ConsoleProblem, problem } from './problem.ts';

/** The name without its port, in lower case. */
function hostNameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

/** An address, a name of one word, or one below what is reserved for networks of one's own (RFC 6761, RFC 9476). */
function isNobodysName(name: string): boolean {
  return (
    isIP(name.replaceAll(/^\[|\]$/g, '')) !== 0 || /^[^.]*$|\.(?:localhost|local|internal|svc)$/.test(name)
  );
}

/**
 * Lets through only what was sent to this place under a name of its own: a page whose name leads to this address, as
 * that of an attacker who rebinds it, has another one. Addresses and names that nobody can register are nobody's page.
 */
export function misdirection(host: string | null, origins: readonly string[]): ConsoleProblem | null {
  const own = origins.map((origin) => hostNameOf(URL.parse(origin)?.host ?? ''));
  const name = hostNameOf(host ?? '');
  if (own.includes(name) || isNobodysName(name)) return null;
  return problem(
    'misdirected_request',
    `This port does not answer for '${name.slice(0, 100)}': set --console-origin to the origin that people reach it under.`,
    [{ field: 'host', message: 'must be a name of this deployment' }],
  );
}

/** How the page that makes a request stands to this origin, as browsers say it. Programs say nothing. */
export type Provenance = 'own' | 'foreign' | 'unsaid';

/**
 * Browsers say where a request comes from. It is held against the console's origin as it is configured; where none is, against the name
 * that the request was sent to, which has passed as nobody's page by then.
 */
export function provenanceOf(headers: Headers, consoleOrigin: string | null): Provenance {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  const host = headers.get('host') ?? '';
  const own = consoleOrigin === null ? [`http://${host}`, `https://${host}`] : [consoleOrigin];
  if (site !== null && site !== 'same-origin' && site !== 'none') return 'foreign';
  if (origin !== null) return own.includes(origin.toLowerCase()) ? 'own' : 'foreign';
  return site === 'same-origin' ? 'own' : 'unsaid';
}

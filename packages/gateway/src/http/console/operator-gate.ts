import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';

/**
 * Lets through only who bears one of the tokens (`Authorization: Bearer`), and no request that a page of another origin
 * makes, whatever it bears. It stands before routing, so a path that does not exist is closed as well. `files` are the
 * files of the tokens in the data directory, for who has none.
 */
export function tokenGate(tokens: readonly string[], files: string): MiddlewareHandler {
  const expected = tokens.map(digest);
  const unauthenticated: ConsoleProblem = {
    status: 401,
    code: 'unauthenticated',
    message: `Send a token as Authorization: Bearer; it is in the file ${files} of the data directory.`,
    param: 'authorization',
  };
  return async (context, next) => {
    const header = (name: string) => context.req.header(name);
    const problem = strangerOf(header) ?? (bears(expected, header('authorization')) ? null : unauthenticated);
    if (problem === null) return next();
    if (problem.status === 401) context.header('www-authenticate', 'Bearer realm="operator"');
    return sendProblem(context, problem);
  };
}

/**
 * Lets through only what was sent to this place under a name of its own: a page whose name leads to this address, as
 * that of an attacker who rebinds it, has another one. Addresses and names that nobody can register are nobody's page.
 */
export function hostGate(origins: readonly string[]): MiddlewareHandler {
  const own = origins.map((origin) => hostNameOf(URL.parse(origin)?.host ?? ''));
  return async (context, next) => {
    const name = hostNameOf(context.req.header('host') ?? '');
    if (own.includes(name) || isNobodysName(name)) return next();
    return sendProblem(context, {
      status: 421,
      code: 'misdirected_request',
      message: `This port does not answer for '${name.slice(0, 100)}': set --console-origin to the origin that people reach it under.`,
      param: 'host',
    });
  };
}

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

/** Browsers say where a request comes from. Programs say nothing, and are let on to the token. */
function strangerOf(header: (name: string) => string | undefined): ConsoleProblem | null {
  const site = header('sec-fetch-site');
  const origin = header('origin');
  const host = header('host') ?? '';
  const isStrange = site !== undefined && site !== 'same-origin' && site !== 'none';
  const isForeign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
  if (!isStrange && !isForeign) return null;
  return {
    status: 403,
    code: 'forbidden_origin',
    message: 'Pages of other origins may not ask here; ask from this origin, or from a program.',
    param: isStrange ? 'sec-fetch-site' : 'origin',
  };
}

function bears(expected: readonly Uint8Array[], authorization: string | undefined): boolean {
  const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? '') ?? [];
  const borne = digest(token);
  return expected.some((one) => timingSafeEqual(one, borne));
}

/** A digest has one length whatever the token's, which a comparison in constant time needs. */
function digest(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** An error of the console: every one has this shape. */
export interface ConsoleProblem {
  readonly status: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 421 | 500 | 503;
  readonly code:
    | 'invalid_request'
    | 'unauthenticated'
    | 'forbidden_origin'
    | 'not_found'
    | 'not_restarted'
    | 'conflict'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'misdirected_request'
    | 'store_unavailable'
    | 'too_many_followers'
    | 'internal';
  /** Says how to mend it. */
  readonly message: string;
  /** The member of the body, header or part of the path that it is about. */
  readonly param?: string;
}

export function sendProblem(context: Context, { status, ...error }: ConsoleProblem): Response {
  return context.json({ error }, status);
}

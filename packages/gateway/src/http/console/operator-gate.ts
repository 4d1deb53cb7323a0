import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';

/**
 * Lets through only who bears the operator's token (`Authorization: Bearer`), and no request that a page of another origin
 * makes, whatever it bears. It stands before routing, so a path that does not exist is closed as well.
 */
export function operatorGate(token: string): MiddlewareHandler {
  const expected = digest(token);
  return async (context, next) => {
    const header = (name: string) => context.req.header(name);
    const problem = strangerOf(header) ?? (bears(expected, header('authorization')) ? null : unauthenticated);
    if (problem === null) return next();
    if (problem.status === 401) context.header('www-authenticate', 'Bearer realm="operator"');
    return sendProblem(context, problem);
  };
}

const unauthenticated: ConsoleProblem = {
  status: 401,
  code: 'unauthenticated',
  message:
    'Send the token of the operator as Authorization: Bearer; it is in the file operator-token of the data directory.',
  param: 'authorization',
};

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

function bears(expected: Uint8Array, authorization: string | undefined): boolean {
  const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? '') ?? [];
  return timingSafeEqual(expected, digest(token));
}

/** A digest has one length whatever the token's, which a comparison in constant time needs. */
function digest(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** An error of the console: every one has this shape. */
export interface ConsoleProblem {
  readonly status: 400 | 401 | 403 | 404 | 413 | 415 | 500;
  readonly code:
    | 'invalid_request'
    | 'unauthenticated'
    | 'forbidden_origin'
    | 'not_found'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'internal';
  /** Says how to mend it. */
  readonly message: string;
  /** The member of the body, header or part of the path that it is about. */
  readonly param?: string;
}

export function sendProblem(context: Context, { status, ...error }: ConsoleProblem): Response {
  return context.json({ error }, status);
}

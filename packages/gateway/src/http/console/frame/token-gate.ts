import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { provenanceOf } from './origins.ts';
import { problem, problemResponse } from './problem.ts';

/**
 * Lets through only who bears one of the tokens (`Authorization: Bearer`), and no request that a page of another origin makes, whatever
 * it bears.
 */
export function tokenGate(tokens: readonly string[], consoleOrigin: string | null): MiddlewareHandler {
  const mayPass = bearerOf(tokens);
  return async (context, next) => {
    const { headers } = context.req.raw;
    if (provenanceOf(headers, consoleOrigin) === 'foreign') return problemResponse(foreignTo(headers));
    return mayPass(headers.get('authorization')) ? next() : problemResponse(unauthenticated('scrape-token'));
  };
}

/** Tells if a header bears one of the tokens: compared in constant time, by digests, which have one length whatever the token's. */
export function bearerOf(tokens: readonly string[]): (authorization: string | null) => boolean {
  const expected = tokens.map(digest);
  return (authorization) => {
    const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? '') ?? [];
    const borne = digest(token);
    return expected.some((one) => timingSafeEqual(one, borne));
  };
}

function digest(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** `file` is the one of the token in the data directory, for who has none. */
export function unauthenticated(file: string) {
  return problem(
    'unauthenticated',
    `Sign in, or send a token as Authorization: Bearer; it is in the file ${file} of the data directory.`,
    [],
    { 'www-authenticate': 'Bearer realm="operator"' },
  );
}

export function foreignTo(headers: Headers) {
  const site = headers.get('sec-fetch-site');
  const field = site !== null && site !== 'same-origin' && site !== 'none' ? 'sec-fetch-site' : 'origin';
  return problem(
    'forbidden_origin',
    'Pages of other origins may not ask here; ask from this origin, or from a program.',
    [{ field, message: 'names another origin' }],
  );
}

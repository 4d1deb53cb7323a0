import { createHash } from 'node:crypto';
import { ConsoleProblem, problem } from './problem.ts';

export { type ConsoleProblem, invalid, problem } from './problem.ts';

/** A route may answer these beside its body. */
export interface AnswerExtras {
  /** All that an edit would overwrite, and nothing that changes by itself: makes the `ETag`. */
  readonly version?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer of a route. */
export class ConsoleAnswer<out Body> {
  readonly status: 200 | 201 | 202 | 204;
  readonly body: Body;
  readonly extras: AnswerExtras;

  constructor(status: 200 | 201 | 202 | 204, body: Body, extras: AnswerExtras) {
    this.status = status;
    this.body = body;
    this.extras = extras;
  }
}

export function answer<Body>(body: Body, extras: AnswerExtras = {}): ConsoleAnswer<Body> {
  return new ConsoleAnswer(200, body, extras);
}

/** Something was made. */
export function created<Body>(body: Body, extras: AnswerExtras = {}): ConsoleAnswer<Body> {
  return new ConsoleAnswer(201, body, extras);
}

/** It was done, and there is nothing to say. */
export function nothing(extras: AnswerExtras = {}): ConsoleAnswer<null> {
  return new ConsoleAnswer(204, null, extras);
}

/** Names what something says, so that two who change it at once notice. */
function etagOf(version: unknown): string {
  const text = JSON.stringify(version, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Compares the `If-Match` of a write with what is there now; null where they agree, or nothing was asked for. */
export function staleness(ifMatch: string | null, version: unknown): ConsoleProblem | null {
  if (ifMatch === null || ifMatch.trim() === '*') return null;
  const current = etagOf(version);
  const given = ifMatch.split(',').map((each) => each.trim());
  return given.includes(current)
    ? null
    : problem(
        'stale',
        'Somebody has changed it meanwhile: read it again, and repeat your change on that.',
        [],
        {
          etag: current,
        },
      );
}

export function answerResponse({ status, body, extras }: ConsoleAnswer<unknown>): Response {
  const headers = new Headers(extras.headers);
  if (extras.version !== undefined) headers.set('etag', etagOf(extras.version));
  if (status === 204) return new Response(null, { status, headers });
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(body), { status, headers });
}

export function isProblem(value: unknown): value is ConsoleProblem {
  return value instanceof ConsoleProblem;
}

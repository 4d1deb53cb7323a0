import type { Context } from 'hono';

/** What went wrong with a request to the console, as every error of it looks. */
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

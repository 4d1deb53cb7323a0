import { fail, type Result, succeed } from '@headgate/protocols';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type ConsoleProblem, sendProblem } from './operator-gate.ts';

/** Bodies of programs have a handful of short members. */
const bodyBytesMax = 16_384;

/** Refuses bodies that are too large, before they are read. */
export function smallBody(): MiddlewareHandler {
  return bodyLimit({ maxSize: bodyBytesMax, onError: (context) => sendProblem(context, tooLarge) });
}

/** The body as JSON. */
export async function readJson({ req }: Context): Promise<Result<unknown, ConsoleProblem>> {
  if (!/^application\/json\s*(;|$)/i.test(req.header('content-type') ?? '')) return fail(notJson);
  const text = await req.text();
  try {
    return succeed(JSON.parse(text));
  } catch {
    return fail({ status: 400, code: 'invalid_request', message: 'The body is not JSON.' });
  }
}

const tooLarge: ConsoleProblem = {
  status: 413,
  code: 'payload_too_large',
  message: `The body is larger than the ${bodyBytesMax.toLocaleString('en')} bytes that it may have.`,
};

const notJson: ConsoleProblem = {
  status: 415,
  code: 'unsupported_media_type',
  message: 'Send the body as application/json.',
  param: 'content-type',
};

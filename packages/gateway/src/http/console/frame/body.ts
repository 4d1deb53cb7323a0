import { fail, type Result, succeed } from '@headgate/protocols';
import { type ConsoleProblem, problem } from './problem.ts';

/** Reads the text of a JSON body, and refuses it as soon as it is larger than it may be. */
export async function readBody(request: Request, bytesMax: number): Promise<Result<string, ConsoleProblem>> {
  if (!/^application\/(merge-patch\+)?json\s*(;|$)/i.test(request.headers.get('content-type') ?? ''))
    return fail(notJson);
  const tooLarge = problem(
    'too_large',
    `The body is larger than the ${bytesMax.toLocaleString('en')} bytes that it may have.`,
  );
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return fail(tooLarge);
  const parts: Uint8Array[] = [];
  let length = 0;
  // The type of a body's parts is that of no runtime: those of a request are bytes.
  const body: AsyncIterable<Uint8Array> | null = request.body as AsyncIterable<Uint8Array> | null;
  for await (const part of body ?? []) {
    length += part.byteLength;
    if (length > bytesMax) return fail(tooLarge);
    parts.push(part);
  }
  return succeed(Buffer.concat(parts).toString('utf8'));
}

/** The text as JSON. */
export function parseBody(text: string): Result<unknown, ConsoleProblem> {
  try {
    return succeed(JSON.parse(text));
  } catch {
    return fail(problem('invalid_request', 'The body is not JSON.'));
  }
}

const notJson = problem('unsupported_media_type', 'Send the body as application/json.', [
  { field: 'content-type', message: 'must be application/json' },
]);

import type { Seen } from './caller.ts';
import type { FuzzCase } from './fuzz-case.ts';

/** What is wrong with the way a case was answered; null when nothing is. */
export function complaintOf(fuzz: FuzzCase, { answer, isBroken, isHung }: Seen): string | null {
  if (isHung) return 'hung';
  const mustAnswer = fuzz.isSound && fuzz.conduct === 'waits';
  if (!answer.hasHead) return mustAnswer ? 'no answer' : null;
  if (answer.status === -1) return 'not HTTP';
  if (answer.status === 500) return 'status 500';
  if (fuzz.port === 'console') return null;
  if (answer.header('x-trace-id') === null) return 'no trace id';
  if (isBroken)
    return isInternal(answer.body) ? 'internal, in a stream' : brokenComplaint(fuzz, answer.status);
  return errorComplaint(fuzz, answer);
}

/** Only an answer that has begun may break off: a refusal comes whole. */
function brokenComplaint({ conduct }: FuzzCase, status: number): string | null {
  return conduct === 'waits' && status >= 400 ? 'a refusal that broke off' : null;
}

function errorComplaint({ isHead }: FuzzCase, { status, body }: Seen['answer']): string | null {
  if (isInternal(body)) return 'internal';
  if (isHead || status < 400) return null;
  try {
    JSON.parse(body.toString());
    return null;
  } catch {
    return 'a refusal that is no JSON';
  }
}

/** Words of the gateway's own error, in the words of every surface. Upstreams of the fuzz never say them. */
function isInternal(body: Buffer): boolean {
  return body.includes('"code":"internal"') || body.includes('"reason":"internal"');
}

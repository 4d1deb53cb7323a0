import { fail, type Result, succeed } from '@headgate/protocols';
import { openOwnerTokens } from '../admin/owner-files.ts';
import { readServingFile, type ServingFacts } from '../admin/serving.ts';

/** Why a gateway did not answer. `absent`: none serves from the data directory, as far as can be told. */
export interface NoAnswer {
  readonly kind: 'absent' | 'refused';
  readonly message: string;
}

/** A restart waits for as long as a start may take, and a little longer. */
const answerMsMax = 150_000;

/** Asks the gateway that serves from the data directory, over the API of its console port. */
export async function askGateway(
  dataDir: string,
  method: 'GET' | 'POST',
  path: string,
): Promise<Result<unknown, NoAnswer>> {
  const serving = readServingFile(dataDir);
  if (serving === null) return fail(absent(dataDir));
  const tokens = openOwnerTokens(dataDir);
  if (!tokens.ok) return fail({ kind: 'refused', message: tokens.error });
  try {
    const response = await fetch(new URL(path, reachable(serving.consoleOrigin)), {
      method,
      headers: { authorization: `Bearer ${tokens.value.operator}` },
      signal: AbortSignal.timeout(answerMsMax),
    });
    const answer: unknown = await response.json();
    return response.ok ? succeed(answer) : fail({ kind: 'refused', message: problemOf(answer) });
  } catch {
    // It was killed, and its file is left; or who answers there now is somebody else.
    return fail(absent(dataDir));
  }
}

/** Why the gateway takes no calls; empty when it does. */
export async function unreadyReasons({ consoleOrigin }: ServingFacts): Promise<readonly string[]> {
  const response = await fetch(new URL('/readyz', reachable(consoleOrigin)), {
    signal: AbortSignal.timeout(answerMsMax),
  });
  const { reasons } = (await response.json()) as { readonly reasons?: readonly string[] }; // The shape of the readiness probe.
  return reasons ?? [];
}

function absent(dataDir: string): NoAnswer {
  return { kind: 'absent', message: `no gateway runs on ${dataDir}; start one with headgate serve` };
}

/** An address that stands for all of a machine is asked for at the machine itself. */
export function reachable(origin: string): string {
  return origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function problemOf(answer: unknown): string {
  const { detail } = answer as { readonly detail?: string }; // The shape of the console's problems.
  return detail ?? 'the gateway gave no reason';
}

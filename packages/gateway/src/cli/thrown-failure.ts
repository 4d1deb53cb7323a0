import type { ExitReason } from './exit-code.ts';

/** What a command that threw says, in one line, and how it ends. */
export interface ThrownFailure {
  readonly reason: ExitReason;
  readonly message: string;
}

/** Tells what the machine refused, which its owner can mend, from a mistake of ours. */
export function thrownFailure(error: unknown): ThrownFailure {
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return isRefusalOfMachine(error)
    ? { reason: 'unavailable', message }
    : { reason: 'failed', message: `internal: ${message}` };
}

/** Errors of the operating system carry its number in `errno`; those of the store have a code of their own. */
function isRefusalOfMachine(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return 'errno' in error || error.code === 'ERR_SQLITE_ERROR';
}

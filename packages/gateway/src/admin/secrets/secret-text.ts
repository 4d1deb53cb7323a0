import { fail, type Result, succeed } from '@headgate/protocols';

/** Far more than any credential has; what is longer is something else. */
export const secretBytesMax = 65_536;

/** The secret in what a file holds or a command prints, or what is wrong with it, without it. */
export function readSecretText(text: string): Result<string, string> {
  const secret = text.replace(/[\r\n]+$/, '');
  if (secret === '') return fail('is empty');
  if (/[\r\n]/.test(secret)) return fail('has more than one line');
  // The same characters as a header may carry: whatever else is there, it is no credential.
  return /^[\x20-\x7e]+$/.test(secret) ? succeed(secret) : fail('has characters that no header may carry');
}

import { fail, type Result, succeed, unreachable } from '@headgate/protocols';
import type { CredentialScheme } from '../../catalogue/catalogue.ts';

/** A secret with a line break or another control character would write headers of its own. */
const sendable = /^[\x20-\x7e]+$/;

/**
 * Caller's headers that never go upstream, whatever a protocol's list of forwarded ones says: those of one hop
 * (RFC 9110, 7.6.1), those that HTTP sets itself, those that tell who the caller is, and those that carry its key.
 */
const withheld: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
  'cookie',
  'forwarded',
  'via',
  'x-real-ip',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'x-neutral-api-key',
]);

/**
 * A channel's credential as headers: name, value, … Empty when the scheme needs none or the secret is not there. The
 * failure says what is wrong with the secret, without the secret.
 */
export function credentialHeaders(
  scheme: CredentialScheme,
  secret: string | null,
): Result<readonly string[], string> {
  if (secret === null || scheme.scheme === 'none') return succeed([]);
  if (!sendable.test(secret))
    return fail('the credential is empty or has characters that no header may carry');
  switch (scheme.scheme) {
    case 'bearer':
      return succeed(['authorization', `Bearer ${secret}`]);
    case 'header':
      return succeed([scheme.header.toLowerCase(), secret]);
    default:
      return unreachable(scheme);
  }
}

/**
 * The headers that go upstream: the given ones but for the withheld ones and for the one the credential sets, then the credential.
 * `credentialName`: that of a credential that is sent elsewhere.
 */
export function withCredential(
  headers: readonly string[],
  credential: readonly string[],
  credentialName: string | null = credential[0] ?? null,
): readonly string[] {
  const sent: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (isWithheld(name) || name === credentialName) continue;
    sent.push(name, headers[index + 1] ?? '');
  }
  sent.push(...credential);
  return sent;
}

function isWithheld(name: string): boolean {
  return withheld.has(name) || name.startsWith('x-forwarded-');
}

import { fail, type Result, succeed, unreachable } from '@headgate/protocols';
import type { CredentialScheme } from '../../catalogue/catalogue.ts';
import { isWithheld } from '../../catalogue/header-names.ts';

/** A secret with a line break or another control character would write headers of its own. */
const sendable = /^[\x20-\x7e]+$/;

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
 * The headers that go upstream: the given ones but for those that never do and for those that the channel sets itself, then
 * the channel's. `own`: names of headers of the channel that are sent elsewhere.
 */
export function withChannelHeaders(
  headers: readonly string[],
  channel: readonly string[],
  own: ReadonlySet<string> = namesOf(channel),
): readonly string[] {
  const sent: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (isWithheld(name) || own.has(name)) continue;
    sent.push(name, headers[index + 1] ?? '');
  }
  sent.push(...channel);
  return sent;
}

export function namesOf(headers: readonly string[]): ReadonlySet<string> {
  return new Set(headers.filter((_, index) => index % 2 === 0));
}

import { unreachable } from '@headgate/protocols';
import type { CredentialScheme } from '../core/catalogue.ts';

/** A channel's credential as headers: name, value, … Empty when the scheme needs none or the secret is not there. */
export function credentialHeaders(scheme: CredentialScheme, secret: string | null): readonly string[] {
  if (secret === null) return [];
  switch (scheme.scheme) {
    case 'bearer':
      return ['authorization', `Bearer ${secret}`];
    case 'header':
      return [scheme.header.toLowerCase(), secret];
    case 'none':
      return [];
    default:
      return unreachable(scheme);
  }
}

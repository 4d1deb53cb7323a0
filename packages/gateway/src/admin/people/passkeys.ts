import { fail, type Result, succeed } from '@headgate/protocols';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Tickets } from './tickets.ts';

/** Passkeys belong to one origin for good: the console's. */
export interface PasskeyPlace {
  /** `https://console.example.com` */
  readonly origin: string;
  /** The name on the authenticator's own dialogs. */
  readonly deployment: string;
  readonly tickets: Tickets;
}

/** A passkey, as far as proving it needs. */
export interface PasskeyProof {
  /** In base64url, as the browser names it. */
  readonly credentialId: string;
  /** COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** Counts its uses where the authenticator does; zero where it does not. */
  readonly counter: number;
  /** Ways to the authenticator, for the browser. */
  readonly transports: readonly string[];
}

/** A question to the browser's authenticator, and the ticket that the answer comes back with. */
export interface PasskeyQuestion {
  readonly options: object;
  readonly ticket: string;
}

/** ES256, EdDSA and RS256 (COSE): what authenticators have. */
const algorithms = [-7, -8, -257] as const;

/** People take their time with dialogs of their system. */
const timeoutMs = 180_000;

/** The host that passkeys of an origin are made for; null where browsers make none: on a bare address, or without TLS. */
export function passkeyHost(origin: string): string | null {
  const url = URL.parse(origin);
  if (url === null) return null;
  const isLocal = url.hostname === 'localhost';
  const isAddress = /^\[|^[\d.]+$/.test(url.hostname);
  return isLocal || (url.protocol === 'https:' && !isAddress) ? url.hostname : null;
}

/** Asks for a new passkey of a person, on no authenticator that has one of theirs. */
export async function askForPasskey(
  place: PasskeyPlace,
  person: { readonly id: string; readonly name: string; readonly email: string },
  known: readonly Pick<PasskeyProof, 'credentialId' | 'transports'>[],
): Promise<PasskeyQuestion> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  const options = await generateRegistrationOptions({
    rpName: place.deployment,
    rpID: passkeyHost(place.origin) ?? '',
    userID: new TextEncoder().encode(person.id),
    userName: person.email,
    userDisplayName: person.name,
    timeout: timeoutMs,
    attestationType: 'none',
    supportedAlgorithmIDs: [...algorithms],
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: [...transports],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const content = { challenge: options.challenge, personId: person.id };
  return { options, ticket: place.tickets.issue('passkey-registration', content) };
}

/** Reads what an authenticator has made. The error is for the person. */
export async function readNewPasskey(
  place: PasskeyPlace,
  personId: string,
  ticket: string,
  response: RegistrationResponseJSON,
): Promise<Result<PasskeyProof, string>> {
  const content = place.tickets.spend('passkey-registration', ticket);
  if (content === null || content['personId'] !== personId) return fail(tooLate);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      ...expectedOf(place, content),
    });
    if (registrationInfo === undefined) return fail(notProven);
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return succeed({ credentialId: id, publicKey, counter, transports });
  } catch {
    return fail(notProven);
  }
}

/** Asks whoever is there for any passkey of theirs for this origin: nobody says first who they are. */
export async function askWhoIsThere(place: PasskeyPlace): Promise<PasskeyQuestion> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  const options = await generateAuthenticationOptions({
    rpID: passkeyHost(place.origin) ?? '',
    timeout: timeoutMs,
    userVerification: 'required',
  });
  return { options, ticket: place.tickets.issue('passkey-sign-in', { challenge: options.challenge }) };
}

/** True when the response proves this passkey; gives its new count of uses. A clone of it is told by an old count. */
export async function provePasskey(
  place: PasskeyPlace,
  ticket: string,
  response: AuthenticationResponseJSON,
  { credentialId, publicKey, counter, transports }: PasskeyProof,
): Promise<Result<number, string>> {
  const content = place.tickets.spend('passkey-sign-in', ticket);
  if (content === null) return fail(tooLate);
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    const { expectedRPID, ...expected } = expectedOf(place, content);
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      ...expected,
      expectedRPID,
      credential: { id: credentialId, publicKey, counter, transports: [...transports] },
    });
    return verified ? succeed(authenticationInfo.newCounter) : fail(notProven);
  } catch {
    return fail(notProven);
  }
}

function expectedOf({ origin }: PasskeyPlace, content: Readonly<Record<string, unknown>>) {
  return {
    expectedChallenge: String(content['challenge']),
    expectedOrigin: origin,
    expectedRPID: passkeyHost(origin) ?? '',
    requireUserVerification: true,
  };
}

const tooLate = 'This took too long, or was answered already: try again.';
const notProven = 'This passkey could not be proven here: try again, or sign in another way.';

import type { PasskeyQuestionView, SignInWays } from '@headgate/gateway/console';
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { api } from '../../api/client.ts';

/** True where this page may ask for passkeys: on the origin that they are made for, in a browser that knows them. */
export function hasPasskeys(ways: Pick<SignInWays, 'passkeys'>): boolean {
  return ways.passkeys?.origin === location.origin && 'PublicKeyCredential' in window;
}

/** Signs in by whichever passkey the person chooses. */
export async function signInByPasskey(): Promise<void> {
  const { options, ticket } = await api.post<PasskeyQuestionView>('/session/passkey/question');
  // The server has made the options for exactly this.
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const response = await startAuthentication({ optionsJSON });
  await api.post('/session/passkey', { body: { ticket, response: JSON.stringify(response) } });
}

/** Proves by a passkey that it is still the person who is signed in. */
export async function proveByPasskey(): Promise<void> {
  const { options, ticket } = await api.post<PasskeyQuestionView>('/session/passkey/question');
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const response = await startAuthentication({ optionsJSON });
  await api.post('/session/proof/passkey', { body: { ticket, response: JSON.stringify(response) } });
}

/** Makes a passkey of the person who is signed in. */
export async function makePasskey(name: string): Promise<void> {
  const { options, ticket } = await api.post<PasskeyQuestionView>('/me/passkeys/question');
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const response = await startRegistration({ optionsJSON });
  await api.post('/me/passkeys', { body: { name, ticket, response: JSON.stringify(response) } });
}

/** True where the person has closed the dialog of their browser: nothing went wrong. */
export function wasCancelled(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError');
}

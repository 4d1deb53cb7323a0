import { fail, type Result, succeed } from '@headgate/protocols';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { KnownPerson } from '../../ports/people.ts';
import type { PersonActor } from './actor.ts';
import { attempt } from './attempt.ts';
import {
  askWhoIsThere,
  type PasskeyPlace,
  type PasskeyQuestion,
  passkeyHost,
  provePasskey,
} from './passkeys.ts';
import type { PeopleRefusal } from './people-refusal.ts';
import type { SecondStep } from './people-tools.ts';
import type { OpenedSession, SignInPlace } from './sessions.ts';
import { openSession } from './sign-in.ts';
import type { StrongerTools } from './stronger-tools.ts';

const tooLate: PeopleRefusal = { kind: 'wrong', message: 'This took too long: start again.' };
const wrongCode: PeopleRefusal = { kind: 'wrong', message: 'This code is not right, or was used already.' };
const unknownPasskey: PeopleRefusal = { kind: 'wrong', message: 'This passkey is not known here.' };

/** The step that a person owes behind their password: a ticket, which ends as a session with a code. */
export async function secondStepOf(
  { secondFactors, tickets }: Pick<StrongerTools, 'secondFactors' | 'tickets'>,
  person: KnownPerson,
): Promise<SecondStep | null> {
  const methods = await secondFactors.methodsOf(person.id);
  if (methods.length === 0) return null;
  // A password that has changed meanwhile has ended this sign-in, too.
  const content = { personId: person.id, password: person.passwordHash };
  return { next: 'totp', ticket: tickets.issue('totp', content) };
}

/** Ends a sign-in by a code of the app, or a recovery code. */
export async function signInByCode(
  tools: StrongerTools,
  { ticket, code }: { readonly ticket: string; readonly code: string },
  place: SignInPlace,
): Promise<Result<OpenedSession, PeopleRefusal>> {
  const { store, tickets, secondFactors } = tools;
  const content = tickets.read('totp', ticket);
  const person = content === null ? null : await store.people.find(String(content['personId']));
  const isSame = person !== null && person.passwordHash === content?.['password'];
  if (!isSame || person.disabledAtMs !== null) return fail(tooLate);
  const guess = { kind: 'totp', address: place.address, login: person.login } as const;
  const proved = await attempt(tools, guess, async () => {
    const proof = await secondFactors.prove(person.id, code);
    if (proof === null) return fail(wrongCode);
    return tickets.spend('totp', ticket) === null ? fail(tooLate) : succeed(proof);
  });
  if (!proved.ok) return proved;
  return succeed(await openSession(tools, person, { ...place, how: proved.value }));
}

/** The console's origin as the place of passkeys; null where browsers make none. */
export function passkeyPlace({ origin, deployment, tickets }: StrongerTools): PasskeyPlace | null {
  const place = { origin: origin(), deployment: deployment(), tickets };
  return passkeyHost(place.origin) === null ? null : place;
}

export async function askForSignIn(tools: StrongerTools): Promise<PasskeyQuestion | null> {
  const place = passkeyPlace(tools);
  return place === null ? null : askWhoIsThere(place);
}

/** Signs in whoever proves a passkey. */
export async function signInByPasskey(
  tools: StrongerTools,
  given: PasskeyAnswer,
  place: SignInPlace,
): Promise<Result<OpenedSession, PeopleRefusal>> {
  const proven = await personOfPasskey(tools, given, place.address);
  return proven.ok ? succeed(await openSession(tools, proven.value, place)) : proven;
}

/** The answer of a browser to a question of ours. */
export interface PasskeyAnswer {
  readonly ticket: string;
  readonly response: AuthenticationResponseJSON;
}

function personOfPasskey(
  tools: StrongerTools,
  { ticket, response }: PasskeyAnswer,
  address: string | null,
): Promise<Result<KnownPerson, PeopleRefusal>> {
  const { store, now } = tools;
  return attempt(tools, { kind: 'passkey', address, login: '' }, async () => {
    const stored = await store.factors.findPasskey(response.id);
    const place = passkeyPlace(tools);
    const person = stored === null ? null : await store.people.find(stored.personId);
    if (stored === null || place === null || person === null || person.disabledAtMs !== null)
      return fail(unknownPasskey);
    const publicKey = new Uint8Array(Buffer.from(stored.publicKey, 'base64url'));
    const counter = await provePasskey(place, ticket, response, { ...stored, publicKey });
    if (!counter.ok) return fail({ kind: 'wrong', message: counter.error });
    await store.factors.notePasskeyUse(stored.id, counter.value, now());
    return succeed(person);
  });
}

/** Proves by passkey that it is still the same person, and gives their session another secret. */
export async function proveByPasskey(
  tools: StrongerTools,
  actor: PersonActor,
  given: PasskeyAnswer,
): Promise<Result<string, PeopleRefusal>> {
  const proven = await personOfPasskey(tools, given, actor.address);
  if (!proven.ok) return proven;
  const isSame = proven.value.id === actor.personId;
  const secret = isSame ? await tools.sessions.rotate(actor.sessionId, 'passkey') : null;
  return secret === null ? fail(unknownPasskey) : succeed(secret);
}

import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FactorStore } from '../../ports/factors.ts';
import { noting } from '../audit.ts';
import type { PersonActor } from './actor.ts';
import { attempt } from './attempt.ts';
import { askForPasskey, type PasskeyQuestion, readNewPasskey } from './passkeys.ts';
import type { PeopleRefusal } from './people-refusal.ts';
import type { TotpProposal } from './second-factors.ts';
import { passkeyPlace } from './stronger-sign-in.ts';
import type { StrongerTools } from './stronger-tools.ts';

/** The store of what people sign in with, for one change that is noted. */
function noted({ store, now }: StrongerTools, actor: PersonActor, verb: string): FactorStore {
  const change = {
    ...{ action: `person.${verb}` as const, accountId: null },
    target: { kind: 'person', id: actor.personId, name: actor.name },
  } as const;
  return noting({ store, actor, nowMs: now() }, change).factors;
}

/** Another way of signing in ends all of somebody's sessions but the one that made it: whoever else is in is out. */
async function endOthers({ sessions }: StrongerTools, actor: PersonActor): Promise<void> {
  await sessions.end(actor.personId, actor.sessionId);
}

const noPerson: PeopleRefusal = { kind: 'conflict', message: 'You are not here any more.' };

export async function proposeTotp(
  { store, secondFactors }: StrongerTools,
  actor: PersonActor,
): Promise<Result<TotpProposal, PeopleRefusal>> {
  const person = await store.people.find(actor.personId);
  if (person === null) return fail(noPerson);
  const proposed = await secondFactors.propose(person.id, person.login);
  return proposed.ok ? proposed : fail({ kind: 'conflict', message: proposed.error });
}

/** Gives the recovery codes. */
export async function confirmTotp(
  tools: StrongerTools,
  actor: PersonActor,
  code: string,
): Promise<Result<readonly string[], PeopleRefusal>> {
  const { personId, address } = actor;
  const confirmed = await attempt(tools, { kind: 'totp', address, login: personId }, async () => {
    const done = await tools.secondFactors.confirm(personId, code, noted(tools, actor, 'totp-add'));
    return done.ok ? done : fail({ kind: 'invalid', field: 'code', message: done.error } as const);
  });
  if (!confirmed.ok) return confirmed;
  await endOthers(tools, actor);
  return confirmed;
}

export async function removeTotp(tools: StrongerTools, actor: PersonActor): Promise<void> {
  await noted(tools, actor, 'totp-remove').removeTotp(actor.personId);
  await endOthers(tools, actor);
}

export async function renewRecoveryCodes(
  tools: StrongerTools,
  actor: PersonActor,
): Promise<Result<readonly string[], PeopleRefusal>> {
  const renewed = await tools.secondFactors.renewRecoveryCodes(
    actor.personId,
    noted(tools, actor, 'recovery-codes'),
  );
  if (!renewed.ok) return fail({ kind: 'conflict', message: renewed.error });
  await endOthers(tools, actor);
  return renewed;
}

export async function askForOwnPasskey(
  tools: StrongerTools,
  actor: PersonActor,
): Promise<Result<PasskeyQuestion, PeopleRefusal>> {
  const { store } = tools;
  const place = passkeyPlace(tools);
  const person = await store.people.find(actor.personId);
  if (place === null) return fail({ kind: 'conflict', message: noPlace });
  if (person === null) return fail(noPerson);
  const { passkeys } = await store.factors.factorsOf(person.id);
  return succeed(
    await askForPasskey(place, { id: person.id, name: person.name, email: person.login }, passkeys),
  );
}

const noPlace = 'Browsers make passkeys for https origins and localhost: set deployment.consoleOrigin.';

/** The answer of an authenticator that has made a passkey, and the name that the person gives it. */
export interface NewPasskey {
  readonly name: string;
  readonly ticket: string;
  readonly response: RegistrationResponseJSON;
}

/** Adds what an authenticator has made; gives its id. */
export async function addPasskey(
  tools: StrongerTools,
  actor: PersonActor,
  { name, ticket, response }: NewPasskey,
): Promise<Result<string, PeopleRefusal>> {
  const place = passkeyPlace(tools);
  if (place === null) return fail({ kind: 'conflict', message: noPlace });
  const read = await readNewPasskey(place, actor.personId, ticket, response);
  if (!read.ok) return fail({ kind: 'conflict', message: read.error });
  const id = `passkey-${randomBytes(8).toString('hex')}`;
  const isAdded = await noted(tools, actor, 'passkey-add').addPasskey({
    ...{ ...read.value, id, name, personId: actor.personId, createdAtMs: tools.now(), usedAtMs: null },
    publicKey: Buffer.from(read.value.publicKey).toString('base64url'),
  });
  if (!isAdded)
    return fail({
      kind: 'conflict',
      message: 'This passkey is here already, or you have twenty of them: remove one.',
    });
  await endOthers(tools, actor);
  return succeed(id);
}

/** False where the person has no such passkey. */
export async function removePasskey(tools: StrongerTools, actor: PersonActor, id: string): Promise<boolean> {
  const wasThere = await noted(tools, actor, 'passkey-remove').removePasskey(actor.personId, id);
  if (wasThere) await endOthers(tools, actor);
  return wasThere;
}

/** False where the person has no such identity. */
export async function removeIdentity(tools: StrongerTools, actor: PersonActor, id: string): Promise<boolean> {
  const wasThere = await noted(tools, actor, 'identity-remove').removeIdentity(actor.personId, id);
  if (wasThere) await endOthers(tools, actor);
  return wasThere;
}

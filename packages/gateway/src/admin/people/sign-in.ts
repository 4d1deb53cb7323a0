import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { KnownPerson, PeopleStore } from '../../ports/people.ts';
import { noting } from '../audit.ts';
import type { Actor, PersonActor } from './actor.ts';
import { attempt } from './attempt.ts';
import { passwordMistake } from './passwords.ts';
import type { PeopleRefusal } from './people-refusal.ts';
import type { PeopleTools, SecondStep } from './people-tools.ts';
import type { OpenedSession, SignInPlace } from './sessions.ts';
import { type SetUpTokenState, setUpTokenState } from './set-up.ts';

/** A sign-in that is done, or goes on. */
export type SignInStep = { readonly next: 'done'; readonly opened: OpenedSession } | SecondStep;

const wrong: PeopleRefusal = { kind: 'wrong', message: 'The name or the password is not right.' };

/** Signs somebody in by password. Whoever is not there is told the same, after the same time, as who has another password. */
export async function signIn(
  tools: PeopleTools,
  { login, password }: { readonly login: string; readonly password: string },
  place: SignInPlace,
): Promise<Result<SignInStep, PeopleRefusal>> {
  const { store, passwords } = tools;
  const guess = { kind: 'password', address: place.address, login } as const;
  const proved = await attempt(tools, guess, async () => {
    const person = await store.people.findByLogin(login);
    const isRight = await passwords.verify(password, person?.passwordHash ?? null);
    return !isRight || person === null || person.disabledAtMs !== null ? fail(wrong) : succeed(person);
  });
  if (!proved.ok) return proved;
  const person = proved.value;
  if (person.passwordHash !== null && passwords.isOld(person.passwordHash))
    await store.people.amend(person.id, { passwordHash: await passwords.hash(password) });
  const step = await tools.secondStep(person);
  return succeed(step ?? { next: 'done', opened: await openSession(tools, person, place) });
}

/** Opens a session for a person who has proved who they are, in whatever way. */
export async function openSession(
  tools: PeopleTools,
  person: KnownPerson,
  place: SignInPlace,
): Promise<OpenedSession> {
  const named = {
    kind: 'person',
    personId: person.id,
    name: person.name,
    isOperator: person.isOperator,
  } as const;
  return tools.sessions.open(person, place, ({ id, provenAtMs }) => {
    const { memberships } = person;
    const actor = { ...named, memberships, sessionId: id, provenAtMs, address: place.address };
    return noted(tools, actor, 'session.create', id, { after: { id, personId: person.id, how: place.how } });
  });
}

/** The first operator, as they introduce themself. */
interface FirstOperator {
  readonly token: string;
  readonly login: string;
  readonly name: string;
  readonly password: string;
}

/** Makes the first operator of whoever has the link that a start of a console without people prints. */
export async function setUp(
  tools: PeopleTools,
  given: FirstOperator,
  place: SignInPlace,
): Promise<Result<OpenedSession, PeopleRefusal>> {
  const guess = { kind: 'set-up', address: place.address, login: '' } as const;
  const made = await attempt(tools, guess, () => addFirst(tools, given, place.address));
  return made.ok ? succeed(await openSession(tools, made.value, place)) : made;
}

async function addFirst(
  tools: PeopleTools,
  given: FirstOperator,
  address: string | null,
): Promise<Result<KnownPerson, PeopleRefusal>> {
  const { store, passwords, now, operatorToken } = tools;
  if (setUpTokenState(operatorToken, given.token, now()) !== 'good' || (await store.people.count()) > 0)
    return fail(usedUp);
  const mistake = passwordMistake(given.password, given.login);
  if (mistake !== null) return fail({ kind: 'invalid', field: 'password', message: mistake });
  const person: KnownPerson = {
    ...newPerson(given, now()),
    isOperator: true,
    passwordHash: await passwords.hash(given.password),
  };
  const people = noted(
    tools,
    { kind: 'nobody', address },
    'person.create',
    person.id,
    { after: { ...person } },
    person.name,
  );
  return (await people.insert(person, true)) === 'added' ? succeed(person) : fail(usedUp);
}

/** Looks at a link before anybody fills in a form for it. */
export async function lookAtSetUp(
  { store, operatorToken, now }: Pick<PeopleTools, 'store' | 'operatorToken' | 'now'>,
  token: string,
): Promise<SetUpTokenState | 'used'> {
  return (await store.people.count()) > 0 ? 'used' : setUpTokenState(operatorToken, token, now());
}

const usedUp: PeopleRefusal = {
  kind: 'wrong',
  message: 'This link was used, is over, or is not of this gateway: a new start prints another one.',
};

/** Somebody new, who may do nothing yet. */
export function newPerson(
  { login, name }: { readonly login: string; readonly name: string },
  nowMs: number,
): KnownPerson {
  const id = `person-${randomBytes(8).toString('hex')}`;
  const nothing = { isOperator: false, disabledAtMs: null, language: null, theme: null };
  return { ...nothing, id, login, name, memberships: [], passwordHash: null, createdAtMs: nowMs };
}

/** Proves by password that it is still the same person, and gives their session another secret. */
export async function proveByPassword(
  tools: PeopleTools,
  actor: PersonActor,
  password: string,
): Promise<Result<string, PeopleRefusal>> {
  const proved = await checkPassword(tools, actor, password);
  if (!proved.ok) return proved;
  const secret = await tools.sessions.rotate(actor.sessionId, 'password');
  return secret === null ? fail(wrongPassword) : succeed(secret);
}

const wrongPassword: PeopleRefusal = { kind: 'wrong', message: 'The password is not right.' };

async function checkPassword(
  tools: PeopleTools,
  { personId, address }: PersonActor,
  password: string,
): Promise<Result<KnownPerson, PeopleRefusal>> {
  const { store, passwords } = tools;
  const person = await store.people.find(personId);
  if (person === null) return fail(wrongPassword);
  return attempt(tools, { kind: 'password', address, login: person.login }, async () =>
    (await passwords.verify(password, person.passwordHash)) ? succeed(person) : fail(wrongPassword),
  );
}

/** Changes one's own password: all other sessions end, and this one has another secret. */
export async function changePassword(
  tools: PeopleTools,
  actor: PersonActor,
  { current, password }: { readonly current: string; readonly password: string },
): Promise<Result<string, PeopleRefusal>> {
  const proved = await checkPassword(tools, actor, current);
  if (!proved.ok) return proved;
  const set = await setPassword(tools, actor, proved.value, password, actor.sessionId);
  if (!set.ok) return set;
  const secret = await tools.sessions.rotate(actor.sessionId, 'password');
  return secret === null ? fail(wrongPassword) : succeed(secret);
}

/** Gives a person a password. All of their sessions end but one. */
export async function setPassword(
  tools: PeopleTools,
  actor: Actor,
  person: KnownPerson,
  password: string,
  exceptSessionId: string | null,
): Promise<Result<null, PeopleRefusal>> {
  const mistake = passwordMistake(password, person.login);
  if (mistake !== null) return fail({ kind: 'invalid', field: 'password', message: mistake });
  const passwordHash = await tools.passwords.hash(password);
  await noted(tools, actor, 'person.password', person.id, {}, person.name).amend(person.id, { passwordHash });
  await tools.sessions.end(person.id, exceptSessionId);
  return succeed(null);
}

/** Members of oneself that everybody may change. */
export interface OwnPatch {
  readonly name?: string;
  readonly language?: string | null;
  readonly theme?: string | null;
}

/** Changes how oneself is shown and spoken to. */
export async function changeOwn(tools: PeopleTools, actor: PersonActor, patch: OwnPatch): Promise<void> {
  const before = await tools.store.people.find(actor.personId);
  const sides = { before: { ...before }, after: { ...before, ...patch } };
  await noted(tools, actor, 'person.change', actor.personId, sides, before?.name).amend(
    actor.personId,
    patch,
  );
  tools.sessions.forget();
}

/** Signs out: here, at one other place, or at all others. */
export function endSession(tools: PeopleTools, actor: PersonActor, id: string): Promise<boolean> {
  const { personId } = actor;
  return tools.sessions.endOne(
    personId,
    id,
    noted(tools, actor, 'session.end', id, { before: { id, personId } }),
  );
}

export async function endOtherSessions(tools: PeopleTools, actor: PersonActor): Promise<void> {
  const { personId, sessionId } = actor;
  await tools.sessions.end(personId, sessionId, noted(tools, actor, 'session.end-others', sessionId, {}));
}

/** The people of the store, for one change that is noted. */
function noted(
  { store, now }: PeopleTools,
  actor: Actor,
  action: `${'session' | 'person'}.${string}`,
  id: string,
  sides: {
    readonly before?: Readonly<Record<string, unknown>>;
    readonly after?: Readonly<Record<string, unknown>>;
  },
  name: string | null = null,
): PeopleStore {
  const kind = action.startsWith('session.') ? 'session' : 'person';
  const change = { action, target: { kind, id, name }, accountId: null, ...sides } as const;
  return noting({ store, actor, nowMs: now() }, change).people;
}

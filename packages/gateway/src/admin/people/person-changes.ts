import { fail, type Result, succeed } from '@headgate/protocols';
import type { KnownPerson, Membership, PeopleStore, Role } from '../../ports/people.ts';
import { writeAudit } from '../audit.ts';
import type { Actor } from './actor.ts';
import type { PeopleRefusal } from './people-refusal.ts';
import type { StrongerTools } from './stronger-tools.ts';

/** Why a person stays as they are. */
export type PersonRefusal = PeopleRefusal | { readonly kind: 'unknown'; readonly message: string };

/** Members of a person that an operator changes; what is left out stays. */
export interface AccessPatch {
  readonly isOperator?: boolean;
  readonly isDisabled?: boolean;
  /** All that there are from then on. */
  readonly memberships?: readonly Membership[];
}

const unknownPerson: PersonRefusal = { kind: 'unknown', message: 'There is no such person.' };
const lastOperator: PersonRefusal = {
  kind: 'conflict',
  message: 'This is the last operator: make somebody else one first.',
};

const pageOfPeople = 200;

/** True where nobody else who may sign in is an operator. */
async function isLastOperator(people: PeopleStore, { id, isOperator }: KnownPerson): Promise<boolean> {
  if (!isOperator) return false;
  for (let after: string | null = null; ; ) {
    const page: readonly KnownPerson[] = await people.list('all', pageOfPeople, after);
    if (page.some((other) => other.id !== id && other.isOperator && other.disabledAtMs === null))
      return false;
    const last = page.at(-1);
    if (last === undefined || page.length < pageOfPeople) return true;
    after = last.login;
  }
}

/**
 * Changes of who may do what, one after the other: of two operators who demote each other at once, one is the last. Every change ends the
 * person's sessions, which had other rights.
 */
export class PersonChanges {
  readonly #tools: StrongerTools;
  #last: Promise<unknown> = Promise.resolve();

  constructor(tools: StrongerTools) {
    this.#tools = tools;
  }

  change(actor: Actor, id: string, patch: AccessPatch): Promise<Result<KnownPerson, PersonRefusal>> {
    return this.#inTurn(() => this.#change(actor, id, patch));
  }

  /** Takes a person away, with all that they sign in with. Their keys belong to accounts, and stay. */
  remove(actor: Actor, id: string): Promise<Result<null, PersonRefusal>> {
    return this.#inTurn(async () => {
      const { store, sessions } = this.#tools;
      const person = await store.people.find(id);
      if (person === null) return fail(unknownPerson);
      if (await isLastOperator(store.people, person)) return fail(lastOperator);
      await store.personLinks.forget(id);
      await store.people.remove(id);
      sessions.forget();
      await this.#note(actor, 'person.remove', person, null, auditedPerson(person), null);
      return succeed(null);
    });
  }

  /** For who has lost their phone and all codes: the password alone lets them in then. */
  removeTotp(actor: Actor, id: string): Promise<Result<null, PersonRefusal>> {
    return this.#inTurn(async () => {
      const { store, sessions, secondFactors } = this.#tools;
      const person = await store.people.find(id);
      if (person === null) return fail(unknownPerson);
      await secondFactors.remove(id);
      await sessions.end(id, null);
      await this.#note(actor, 'person.totp-remove', person, null, null, null);
      return succeed(null);
    });
  }

  /** The role of a member of an account; null takes the membership away. */
  setRole(
    actor: Actor,
    accountId: string,
    id: string,
    role: Role | null,
  ): Promise<Result<null, PersonRefusal>> {
    return this.#inTurn(async () => {
      const { store, sessions } = this.#tools;
      const person = await store.people.find(id);
      const before = person?.memberships.find((each) => each.accountId === accountId);
      if (person === null || before === undefined) return fail(unknownPerson);
      await store.people.setMembership(id, accountId, role);
      await sessions.end(id, null);
      const after = role === null ? [] : [{ accountId, role }];
      await this.#note(
        actor,
        'person.role',
        person,
        accountId,
        { memberships: [before] },
        { memberships: after },
      );
      return succeed(null);
    });
  }

  async #change(actor: Actor, id: string, patch: AccessPatch): Promise<Result<KnownPerson, PersonRefusal>> {
    const { store, sessions, now } = this.#tools;
    const person = await store.people.find(id);
    if (person === null) return fail(unknownPerson);
    const isLess = patch.isOperator === false || patch.isDisabled === true;
    if (isLess && (await isLastOperator(store.people, person))) return fail(lastOperator);
    for (const { accountId } of patch.memberships ?? [])
      if ((await store.personLinks.accountName(accountId)) === null)
        return fail({ kind: 'invalid', field: 'memberships', message: `there is no account "${accountId}"` });
    const { isOperator, isDisabled, memberships } = patch;
    await store.people.amend(id, {
      ...(isOperator === undefined ? {} : { isOperator }),
      ...(isDisabled === undefined
        ? {}
        : { disabledAtMs: isDisabled ? (person.disabledAtMs ?? now()) : null }),
    });
    if (memberships !== undefined) await this.#replaceMemberships(person, memberships);
    await sessions.end(id, null);
    const after = (await store.people.find(id)) ?? person;
    await this.#note(actor, 'person.access', person, null, auditedPerson(person), auditedPerson(after));
    return succeed(after);
  }

  async #replaceMemberships(person: KnownPerson, memberships: readonly Membership[]): Promise<void> {
    const { people } = this.#tools.store;
    for (const { accountId } of person.memberships)
      if (!memberships.some((kept) => kept.accountId === accountId))
        await people.setMembership(person.id, accountId, null);
    for (const { accountId, role } of memberships) await people.setMembership(person.id, accountId, role);
  }

  #inTurn<Done>(work: () => Promise<Done>): Promise<Done> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  #note(
    actor: Actor,
    action: `person.${string}`,
    { id, name }: KnownPerson,
    accountId: string | null,
    before: Readonly<Record<string, unknown>> | null,
    after: Readonly<Record<string, unknown>> | null,
  ): Promise<void> {
    const { store, now } = this.#tools;
    const target = { kind: 'person', id, name } as const;
    return writeAudit({ store, actor, nowMs: now() }, { action, target, accountId, before, after });
  }
}

function auditedPerson({ id, name, isOperator, disabledAtMs, memberships }: KnownPerson) {
  return { id, name, isOperator, isDisabled: disabledAtMs !== null, memberships };
}

import { fail, type Result, succeed } from '@headgate/protocols';
import type { NotedChanges } from '../../ports/audit.ts';
import type { AccessChange, KnownPerson, Membership, PeopleStore, Role } from '../../ports/people.ts';
import { noting } from '../audit.ts';
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
const lastAdmin: PersonRefusal = {
  kind: 'conflict',
  message: 'Nobody else manages this account: make somebody else an admin of it first.',
};
const lastOperator: PersonRefusal = {
  kind: 'conflict',
  message: 'This is the last operator: make somebody else one first.',
};

/** A change of rights that was made. Who has changed their own goes on by this secret; null where it was somebody else's. */
export interface ChangedAccess {
  readonly person: KnownPerson;
  readonly secret: string | null;
}

/**
 * Changes of who may do what, one after the other. Every change ends the person's sessions, which had other rights (ADR 61); the one by
 * which they made it themself gets another secret.
 */
export class PersonChanges {
  readonly #tools: StrongerTools;
  #last: Promise<unknown> = Promise.resolve();

  constructor(tools: StrongerTools) {
    this.#tools = tools;
  }

  change(actor: Actor, id: string, patch: AccessPatch): Promise<Result<ChangedAccess, PersonRefusal>> {
    return this.#inTurn(() => this.#change(actor, id, patch));
  }

  /** Takes a person away, with all that they sign in with. Their keys belong to accounts, and stay. */
  remove(actor: Actor, id: string): Promise<Result<null, PersonRefusal>> {
    return this.#inTurn(async () => {
      const { store, sessions } = this.#tools;
      const person = await store.people.find(id);
      if (person === null) return fail(unknownPerson);
      const { people } = this.#noted(actor, 'person.remove', person, null, auditedPerson(person), null);
      const removed = await people.remove(id);
      sessions.forget();
      if (removed === 'unknown') return fail(unknownPerson);
      return removed === 'removed' ? succeed(null) : fail(lastOperator);
    });
  }

  /** For who has lost their phone and all codes: the password alone lets them in then. */
  removeTotp(actor: Actor, id: string): Promise<Result<null, PersonRefusal>> {
    return this.#inTurn(async () => {
      const { store, sessions } = this.#tools;
      const person = await store.people.find(id);
      if (person === null) return fail(unknownPerson);
      await this.#noted(actor, 'person.totp-remove', person, null, null, null).factors.removeTotp(id);
      await sessions.end(id, null);
      return succeed(null);
    });
  }

  /** The role of a member of an account; null takes the membership away. */
  setRole(
    actor: Actor,
    accountId: string,
    id: string,
    role: Role | null,
  ): Promise<Result<ChangedAccess, PersonRefusal>> {
    return this.#inTurn(async () => {
      const person = await this.#tools.store.people.find(id);
      const held = person?.memberships.find((each) => each.accountId === accountId);
      if (person === null || held === undefined) return fail(unknownPerson);
      if (held.role === 'admin' && role !== 'admin' && (await this.#isLastAdmin(actor, accountId, id)))
        return fail(lastAdmin);
      const before = { memberships: [held] };
      const after = { memberships: role === null ? [] : [{ accountId, role }] };
      const { people } = this.#noted(actor, 'person.role', person, accountId, before, after);
      return this.#put(actor, person, people, { roles: [{ accountId, role }] });
    });
  }

  /** True for who would leave their own account without anybody to manage it. */
  async #isLastAdmin(actor: Actor, accountId: string, id: string): Promise<boolean> {
    if (actor.kind !== 'person' || actor.personId !== id || actor.isOperator) return false;
    const { people } = this.#tools.store;
    return !(await people.hasOtherAdmin(accountId, id));
  }

  async #change(actor: Actor, id: string, patch: AccessPatch): Promise<Result<ChangedAccess, PersonRefusal>> {
    const { store, now } = this.#tools;
    const person = await store.people.find(id);
    if (person === null) return fail(unknownPerson);
    for (const { accountId } of patch.memberships ?? [])
      if ((await store.personLinks.accountName(accountId)) === null)
        return fail({ kind: 'invalid', field: 'memberships', message: `there is no account "${accountId}"` });
    const { isOperator = person.isOperator, isDisabled = person.disabledAtMs !== null } = patch;
    const disabledAtMs = isDisabled ? (person.disabledAtMs ?? now()) : null;
    const memberships = patch.memberships ?? person.memberships;
    const gone = person.memberships.filter(
      (held) => !memberships.some((kept) => kept.accountId === held.accountId),
    );
    const roles = [...gone.map(({ accountId }) => ({ accountId, role: null })), ...memberships];
    const after = auditedPerson({ ...person, isOperator, disabledAtMs, memberships });
    const { people } = this.#noted(actor, 'person.access', person, null, auditedPerson(person), after);
    return this.#put(actor, person, people, { isOperator, disabledAtMs, roles });
  }

  async #put(
    actor: Actor,
    person: KnownPerson,
    people: PeopleStore,
    change: Omit<AccessChange, 'keptSession'>,
  ): Promise<Result<ChangedAccess, PersonRefusal>> {
    const { store, sessions } = this.#tools;
    const own = actor.kind === 'person' && actor.personId === person.id ? actor.sessionId : null;
    const changed = await people.changeAccess(person.id, { ...change, keptSession: own });
    sessions.forget();
    if (changed === 'unknown') return fail(unknownPerson);
    if (changed === 'last-operator') return fail(lastOperator);
    const secret = own === null ? null : await sessions.rotate(own, null);
    return succeed({ person: (await store.people.find(person.id)) ?? person, secret });
  }

  #inTurn<Done>(work: () => Promise<Done>): Promise<Done> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** The store, for one change that is noted. */
  #noted(
    actor: Actor,
    action: `person.${string}`,
    { id, name }: KnownPerson,
    accountId: string | null,
    before: Readonly<Record<string, unknown>> | null,
    after: Readonly<Record<string, unknown>> | null,
  ): NotedChanges {
    const { store, now } = this.#tools;
    const target = { kind: 'person', id, name } as const;
    return noting({ store, actor, nowMs: now() }, { action, target, accountId, before, after });
  }
}

function auditedPerson({ id, name, isOperator, disabledAtMs, memberships }: KnownPerson) {
  return { id, name, isOperator, isDisabled: disabledAtMs !== null, memberships };
}

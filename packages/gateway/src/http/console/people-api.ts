import { z } from 'zod';
import { includes } from '../../admin/people/actor.ts';
import { makePasswordLink } from '../../admin/people/password-links.ts';
import type { ChangedAccess, PersonChanges, PersonRefusal } from '../../admin/people/person-changes.ts';
import type { StrongerTools } from '../../admin/people/stronger-tools.ts';
import type { KnownPerson } from '../../ports/people.ts';
import { pageQuery } from './contract/common.ts';
import {
  memberPage,
  memberPatch,
  oneTimeLinkView,
  personPage,
  personPatch,
  personQuery,
  personView,
} from './contract/people.ts';
import { answer, type ConsoleProblem, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';
import type { SessionCookie } from './frame/session-cookie.ts';
import { problemOf } from './session-api.ts';

/** The source of the answers. */
export interface PeopleSources {
  readonly stronger: StrongerTools;
  readonly changes: PersonChanges;
  readonly cookie: SessionCookie;
}

const cursorPlace = z.tuple([z.string()]);
const noPerson = problem('not_found', 'There is no such person.');

/** The people of this console, for operators; and those of an account, for who belongs to it. */
export function peopleApi(api: ConsoleApi, sources: PeopleSources): void {
  readPeople(api, sources);
  changePeople(api, sources);
  members(api, sources);
}

function readPeople(api: ConsoleApi, { stronger }: PeopleSources): void {
  const common = { method: 'get', access: 'operator', tag: 'People' } as const;
  api.route(
    {
      ...common,
      path: '/people',
      query: personQuery,
      answer: personPage,
      summary: 'Everybody, by name of sign-in',
    },
    async ({ query }) => {
      const after = readCursor(query.cursor, cursorPlace);
      if (!after.ok) return after.error;
      const found = await search(stronger, query.search ?? '', query.limit + 1, after.value?.[0] ?? null);
      const { items, next } = page(found, query.limit, ({ login }) => [login]);
      return answer({ items: await Promise.all(items.map((person) => viewOf(stronger, person))), next });
    },
  );
  api.route(
    { ...common, path: '/people/{id}', answer: personView, summary: 'A person' },
    async ({ params }) => {
      const person = await stronger.store.people.find(params.id);
      return person === null
        ? noPerson
        : answer(await viewOf(stronger, person), { version: accessOf(person) });
    },
  );
}

const searchStep = 200;

/** People whose name or login has these words in it. There are as many as a company has: they are walked through. */
async function search(
  { store }: StrongerTools,
  words: string,
  limit: number,
  after: string | null,
): Promise<readonly KnownPerson[]> {
  if (words === '') return store.people.list('all', limit, after);
  const found: KnownPerson[] = [];
  const wanted = words.toLowerCase();
  for (let place = after; found.length < limit; ) {
    const some = await store.people.list('all', searchStep, place);
    found.push(...some.filter(({ name, login }) => `${name}\n${login}`.toLowerCase().includes(wanted)));
    const last = some.at(-1);
    if (last === undefined || some.length < searchStep) break;
    place = last.login;
  }
  return found.slice(0, limit);
}

/** All that an edit would overwrite. */
function accessOf({ isOperator, disabledAtMs, memberships }: KnownPerson) {
  return { isOperator, isDisabled: disabledAtMs !== null, memberships };
}

async function viewOf({ store, sessions }: StrongerTools, person: KnownPerson) {
  const { id, name, login, passwordHash, createdAtMs } = person;
  const { hasTotp, passkeys, identities } = await store.factors.factorsOf(id);
  const accounts = await store.people.accountsOf(id);
  const ways = [
    ...(passwordHash === null ? [] : (['password'] as const)),
    ...(hasTotp ? (['totp'] as const) : []),
    ...(passkeys.length === 0 ? [] : (['passkey'] as const)),
    ...(identities.length === 0 ? [] : (['provider'] as const)),
  ];
  return {
    ...{
      id,
      name,
      login,
      isOperator: person.isOperator,
      isDisabled: person.disabledAtMs !== null,
      factors: ways,
    },
    memberships: accounts.map(({ id: account, name: accountName, role }) => ({ account, accountName, role })),
    createdAt: new Date(createdAtMs).toISOString(),
    lastSeenAt: lastSeen(await sessions.list(id)),
  };
}

function lastSeen(sessions: readonly { readonly lastSeenAtMs: number }[]): string | null {
  const times = sessions.map(({ lastSeenAtMs }) => lastSeenAtMs);
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}

function changePeople(api: ConsoleApi, { stronger, changes, cookie }: PeopleSources): void {
  const common = { access: 'operator', tag: 'People', fresh: true } as const;
  api.route(
    {
      ...{ ...common, method: 'patch', path: '/people/{id}', body: personPatch, answer: personView },
      summary: 'Changes what a person may do, and ends their sessions',
    },
    async ({ actor, params, body, ifMatch }) => {
      const before = await stronger.store.people.find(params.id);
      if (before === null) return noPerson;
      const stale = ifMatch(accessOf(before));
      if (stale !== null) return stale;
      const { memberships, ...patch } = body;
      const changed = await changes.change(actor, params.id, {
        ...patch,
        ...(memberships === undefined
          ? {}
          : { memberships: memberships.map(({ account, role }) => ({ accountId: account, role })) }),
      });
      if (!changed.ok) return refusalOf(changed.error);
      const { person, secret } = changed.value;
      const headers = secret === null ? {} : { 'set-cookie': cookie.issue(secret) };
      return answer(await viewOf(stronger, person), { version: accessOf(person), headers });
    },
  );
  api.route(
    { ...common, method: 'delete', path: '/people/{id}', answer: null, summary: 'Removes a person' },
    async ({ actor, params }) => {
      const removed = await changes.remove(actor, params.id);
      return removed.ok ? nothing() : refusalOf(removed.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/people/{id}/password-link', answer: oneTimeLinkView },
      summary: 'A link by which the person sets a new password, once',
    },
    async ({ actor, params }) => {
      const person = await stronger.store.people.find(params.id);
      if (person === null) return noPerson;
      const { link, expiresAtMs } = await makePasswordLink(stronger, actor, person);
      return answer({ link, expiresAt: new Date(expiresAtMs).toISOString() });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'delete', path: '/people/{id}/totp', answer: null },
      summary: 'Takes the authenticator app of a person away who has lost it',
    },
    async ({ actor, params }) => {
      const removed = await changes.removeTotp(actor, params.id);
      return removed.ok ? nothing() : refusalOf(removed.error);
    },
  );
}

function refusalOf(refusal: PersonRefusal): ConsoleProblem {
  return refusal.kind === 'unknown' ? noPerson : problemOf(refusal);
}

function members(api: ConsoleApi, { stronger, changes, cookie }: PeopleSources): void {
  const tag = 'People';
  const noAccount = problem('not_found', 'There is no such account.');
  const doneBy = ({ secret }: ChangedAccess) =>
    nothing(secret === null ? {} : { headers: { 'set-cookie': cookie.issue(secret) } });
  api.route(
    {
      ...{
        method: 'get',
        path: '/accounts/{id}/members',
        access: 'viewer',
        tag,
        query: pageQuery,
        answer: memberPage,
      },
      summary: 'Who belongs to an account',
    },
    async ({ params, query, scope }) => {
      const isTheirs = includes(scope, params.id);
      if (!isTheirs || (await stronger.store.personLinks.accountName(params.id)) === null) return noAccount;
      const after = readCursor(query.cursor, cursorPlace);
      if (!after.ok) return after.error;
      const found = await stronger.store.people.list([params.id], query.limit + 1, after.value?.[0] ?? null);
      const { items, next } = page(found, query.limit, ({ login }) => [login]);
      return answer({
        items: await Promise.all(items.map((each) => memberOf(stronger, each, params.id))),
        next,
      });
    },
  );
  api.route(
    {
      ...{ method: 'patch', path: '/accounts/{id}/members/{person}', access: 'admin', tag, fresh: true },
      ...{ body: memberPatch, answer: null, summary: 'Gives a member of an account another role' },
    },
    async ({ actor, params, body, scope }) => {
      if (!includes(scope, params.id)) return noAccount;
      const changed = await changes.setRole(actor, params.id, params.person, body.role);
      return changed.ok ? doneBy(changed.value) : refusalOf(changed.error);
    },
  );
  api.route(
    {
      ...{ method: 'delete', path: '/accounts/{id}/members/{person}', access: 'admin', tag, fresh: true },
      ...{ answer: null, summary: 'Takes somebody out of an account' },
    },
    async ({ actor, params, scope }) => {
      if (!includes(scope, params.id)) return noAccount;
      const removed = await changes.setRole(actor, params.id, params.person, null);
      return removed.ok ? doneBy(removed.value) : refusalOf(removed.error);
    },
  );
}

async function memberOf(
  { sessions }: StrongerTools,
  { id, name, login, memberships }: KnownPerson,
  accountId: string,
) {
  const role = memberships.find((each) => each.accountId === accountId)?.role ?? 'viewer';
  return { id, name, login, role, lastSeenAt: lastSeen(await sessions.list(id)) };
}

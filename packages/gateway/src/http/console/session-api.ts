import type { PeopleRefusal } from '../../admin/people/people-refusal.ts';
import type { PeopleTools } from '../../admin/people/people-tools.ts';
import {
  changeOwn,
  changePassword,
  endOtherSessions,
  endSession,
  lookAtSetUp,
  proveByPassword,
  setUp,
  signIn,
} from '../../admin/people/sign-in.ts';
import type { Person, PersonSession } from '../../ports/people.ts';
import {
  type DeploymentView,
  ownPatch,
  passwordChange,
  placePage,
  proofBody,
  sessionView,
  setUpBody,
  setUpLinkView,
  setUpLookBody,
  signInBody,
  signInView,
} from './contract/session.ts';
import { answer, type ConsoleProblem, invalid, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { freshMs } from './frame/gate.ts';
import type { SessionCookie } from './frame/session-cookie.ts';

/** The source of the answers. */
export interface SessionSources {
  readonly people: PeopleTools;
  readonly cookie: SessionCookie;
  deployment(): DeploymentView;
}

/** Signing in and out, and what everybody may see and change of themselves. */
export function sessionApi(api: ConsoleApi, sources: SessionSources): void {
  readSession(api, sources);
  beginSession(api, sources);
  changeSession(api, sources);
  listPlaces(api, sources);
}

function readSession(api: ConsoleApi, { people, deployment }: SessionSources): void {
  api.route(
    {
      ...{ method: 'get', path: '/session', access: 'anyone', tag: 'Session', answer: sessionView },
      summary: 'Who asks, what they belong to, and what this deployment is',
    },
    async ({ actor }) => {
      const { store } = people;
      const found = actor.kind === 'person' ? await store.people.find(actor.personId) : null;
      const accounts = found === null ? [] : await store.people.accountsOf(found.id);
      return answer({
        person: found === null ? null : ownView(found),
        isProgram: actor.kind === 'operator-token',
        memberships: accounts.map(({ id, name, role }) => ({ account: { id, name }, role })),
        provenUntil: actor.kind === 'person' ? timeOf(actor.provenAtMs + freshMs) : null,
        deployment: deployment(),
        isSetUp: found !== null || (await store.people.count()) > 0,
      });
    },
  );
}

function ownView({ id, login, name, isOperator, language, theme }: Person) {
  return { id, login, name, isOperator, language, theme };
}

function beginSession(api: ConsoleApi, { people, cookie }: SessionSources): void {
  api.route(
    {
      ...{ method: 'post', path: '/session', access: 'anyone', tag: 'Session', answer: signInView },
      summary: 'Signs in by password',
      description: 'Sets the cookie of the session, or names the step that comes next.',
      body: signInBody,
    },
    async ({ body, actor, request }) => {
      const step = await signIn(people, body, placeOf('password', actor.address, request));
      if (!step.ok) return problemOf(step.error);
      if (step.value.next !== 'done') return answer(step.value);
      // Whoever was signed in with this browser is not any more.
      if (actor.kind === 'person') await endSession(people, actor, actor.sessionId);
      return answer({ next: 'done' }, { headers: { 'set-cookie': cookie.issue(step.value.opened.secret) } });
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/set-up/look', access: 'anyone', tag: 'Session', answer: setUpLinkView },
      summary: 'Whether a set-up link still does something',
      body: setUpLookBody,
    },
    async ({ body }) => answer({ state: await lookAtSetUp(people, body.token) }),
  );
  api.route(
    {
      ...{ method: 'post', path: '/set-up', access: 'anyone', tag: 'Session', answer: signInView },
      summary: 'Makes the first operator, by the link that a start of a console without people prints',
      body: setUpBody,
    },
    async ({ body, actor, request }) => {
      const made = await setUp(people, body, placeOf('set-up', actor.address, request));
      if (!made.ok) return problemOf(made.error);
      return answer({ next: 'done' }, { headers: { 'set-cookie': cookie.issue(made.value.secret) } });
    },
  );
}

function changeSession(api: ConsoleApi, { people, cookie }: SessionSources): void {
  const common = { access: 'signed-in', tag: 'Session', answer: null } as const;
  api.route({ ...common, method: 'delete', path: '/session', summary: 'Signs out' }, async ({ actor }) => {
    if (actor.kind !== 'person') return noPerson;
    await endSession(people, actor, actor.sessionId);
    return nothing({ headers: { 'set-cookie': cookie.clear() } });
  });
  api.route(
    {
      ...{ ...common, method: 'post', path: '/session/proof', body: proofBody },
      summary: 'Proves by password that it is still you, before secrets change',
    },
    async ({ actor, body }) => {
      if (actor.kind !== 'person') return noPerson;
      const proved = await proveByPassword(people, actor, body.password);
      return proved.ok
        ? nothing({ headers: { 'set-cookie': cookie.issue(proved.value) } })
        : problemOf(proved.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'put', path: '/session/password', body: passwordChange },
      summary: 'Changes your own password, and signs you out everywhere else',
    },
    async ({ actor, body }) => {
      if (actor.kind !== 'person') return noPerson;
      const changed = await changePassword(people, actor, body);
      return changed.ok
        ? nothing({ headers: { 'set-cookie': cookie.issue(changed.value) } })
        : problemOf(changed.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'patch', path: '/session/person', body: ownPatch },
      summary: 'Changes your name, language or theme',
    },
    async ({ actor, body }) => {
      if (actor.kind !== 'person') return noPerson;
      await changeOwn(people, actor, body);
      return nothing();
    },
  );
}

function listPlaces(api: ConsoleApi, { people, cookie }: SessionSources): void {
  const common = { access: 'signed-in', tag: 'Session' } as const;
  api.route(
    { ...common, method: 'get', path: '/sessions', answer: placePage, summary: 'Where you are signed in' },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      const found = await people.sessions.list(actor.personId);
      return answer({ items: found.map((each) => placeViewOf(each, actor.sessionId)), next: null });
    },
  );
  api.route(
    {
      ...common,
      method: 'delete',
      path: '/sessions',
      answer: null,
      summary: 'Signs you out everywhere else',
    },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      await endOtherSessions(people, actor);
      return nothing();
    },
  );
  api.route(
    { ...common, method: 'delete', path: '/sessions/{id}', answer: null, summary: 'Signs you out there' },
    async ({ actor, params }) => {
      if (actor.kind !== 'person') return noPerson;
      if (!(await endSession(people, actor, params.id)))
        return problem('not_found', 'You are not signed in there.');
      return nothing(params.id === actor.sessionId ? { headers: { 'set-cookie': cookie.clear() } } : {});
    },
  );
}

function placeViewOf({ id, how, userAgent, address, ...at }: PersonSession, ownId: string) {
  return {
    ...{ id, isThis: id === ownId, how, userAgent, address, createdAt: timeOf(at.createdAtMs) },
    ...{ lastSeenAt: timeOf(at.lastSeenAtMs), expiresAt: timeOf(at.expiresAtMs) },
  };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** How and where a request signs somebody in. */
export function placeOf(how: string, address: string | null, request: Request) {
  return { how, address, userAgent: request.headers.get('user-agent') };
}

/** The problem of a refusal about people. */
export function problemOf(refusal: PeopleRefusal): ConsoleProblem {
  switch (refusal.kind) {
    case 'invalid':
      return invalid([{ field: refusal.field, message: refusal.message }]);
    case 'wrong':
      return problem('wrong_credentials', refusal.message);
    case 'conflict':
      return problem('conflict', refusal.message);
    case 'throttled': {
      const seconds = Math.ceil(refusal.retryAfterMs / 1000);
      const text = `Too many attempts: try again in ${seconds} s.`;
      return problem('throttled', text, [], { 'retry-after': String(seconds) });
    }
  }
}

const noPerson = problem('forbidden', "This is about a person: the operator's token is none.");

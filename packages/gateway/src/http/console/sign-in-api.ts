import { lookAtPasswordLink, resetPassword } from '../../admin/people/password-links.ts';
import type { PersonChanges } from '../../admin/people/person-changes.ts';
import { beginAtProvider, endAtProvider, type ProviderErrand } from '../../admin/people/provider-sign-in.ts';
import {
  askForSignIn,
  type PasskeyAnswer,
  passkeyPlace,
  proveByPasskey,
  signInByCode,
  signInByPasskey,
} from '../../admin/people/stronger-sign-in.ts';
import type { StrongerTools } from '../../admin/people/stronger-tools.ts';
import {
  linkTokenBody,
  passkeyProofBody,
  passkeyQuestionView,
  passwordLinkBody,
  passwordLinkView,
  providerStartBody,
  providerStartView,
  secondFactorBody,
  signedInView,
  signInWays,
} from './contract/sign-in.ts';
import { answer, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import type { SessionCookie } from './frame/session-cookie.ts';
import { placeOf, problemOf } from './session-api.ts';

/** The source of the answers. */
export interface SignInSources {
  readonly stronger: StrongerTools;
  readonly changes: PersonChanges;
  readonly cookie: SessionCookie;
  readonly language: () => string;
  /** Hears why a provider let nobody in. */
  onProviderProblem(problem: string): void;
}

const common = { access: 'anyone', tag: 'Sign-in' } as const;

/** The ways of signing in beside the password: codes, passkeys, a provider, and links for who has forgotten theirs. */
export function signInApi(api: ConsoleApi, sources: SignInSources): void {
  const { stronger, language } = sources;
  api.route(
    {
      ...{ ...common, method: 'get', path: '/sign-in/ways', answer: signInWays },
      summary: 'How people may sign in here',
    },
    () => {
      const place = passkeyPlace(stronger);
      const provider = stronger.provider === null ? null : { name: stronger.provider.settings.name };
      const passkeys = place === null ? null : { origin: place.origin };
      return answer({ deployment: stronger.deployment(), language: language(), passkeys, provider });
    },
  );
  secondStep(api, sources);
  byPasskey(api, sources);
  byProvider(api, sources);
  byPasswordLink(api, sources);
}

function secondStep(api: ConsoleApi, { stronger, cookie }: SignInSources): void {
  api.route(
    {
      ...{ ...common, method: 'post', path: '/session/totp', body: secondFactorBody, answer: signedInView },
      summary: 'Ends a sign-in by a code of an authenticator app, or a recovery code',
    },
    async ({ body, actor, request }) => {
      const opened = await signInByCode(stronger, body, placeOf('totp', actor.address, request));
      if (!opened.ok) return problemOf(opened.error);
      return answer({ next: 'done' }, { headers: { 'set-cookie': cookie.issue(opened.value.secret) } });
    },
  );
}

/** Its shape is looked at by the library that reads it. */
function passkeyAnswer(body: { readonly ticket: string; readonly response: object }): PasskeyAnswer {
  return { ticket: body.ticket, response: body.response as unknown as PasskeyAnswer['response'] };
}

const noPasskeys = problem('conflict', 'Browsers make no passkeys for the origin of this console.');

function byPasskey(api: ConsoleApi, { stronger, cookie }: SignInSources): void {
  api.route(
    {
      ...{ ...common, method: 'post', path: '/session/passkey/question', answer: passkeyQuestionView },
      summary: 'Asks for any passkey of this console',
    },
    async () => {
      const question = await askForSignIn(stronger);
      return question === null ? noPasskeys : answer({ ...question, options: { ...question.options } });
    },
  );
  api.route(
    {
      ...{
        ...common,
        method: 'post',
        path: '/session/passkey',
        body: passkeyProofBody,
        answer: signedInView,
      },
      summary: 'Signs in by a passkey',
    },
    async ({ body, actor, request }) => {
      const place = placeOf('passkey', actor.address, request);
      const opened = await signInByPasskey(stronger, passkeyAnswer(body), place);
      if (!opened.ok) return problemOf(opened.error);
      return answer({ next: 'done' }, { headers: { 'set-cookie': cookie.issue(opened.value.secret) } });
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/session/proof/passkey', access: 'signed-in', tag: 'Sign-in' },
      ...{ body: passkeyProofBody, answer: null },
      summary: 'Proves by a passkey that it is still you, before secrets change',
    },
    async ({ body, actor }) => {
      if (actor.kind !== 'person') return noPerson;
      const proved = await proveByPasskey(stronger, actor, passkeyAnswer(body));
      if (!proved.ok) return problemOf(proved.error);
      return nothing({ headers: { 'set-cookie': cookie.issue(proved.value) } });
    },
  );
}

const noPerson = problem('forbidden', "This is about a person: the operator's token is none.");

/** The way back to what was begun: only for the browser that began it. */
const ticketSeconds = 300;
const ticketPath = '/api/v1/session/provider';

function ticketCookie({ name, issue }: SessionCookie, ticket: string): string {
  const isSecure = issue('').includes('; Secure') ? '; Secure' : '';
  // The provider's redirect comes from another site, so the cookie is lax.
  return `${ticketName(name)}=${ticket}; Path=${ticketPath}; HttpOnly; SameSite=Lax${isSecure}; Max-Age=${ticket === '' ? 0 : ticketSeconds}`;
}

/** A `__Host-` cookie has no path of its own. */
function ticketName(sessionName: string): string {
  return `${sessionName.replace('__Host-', '')}-provider`;
}

function byProvider(api: ConsoleApi, { stronger, changes, cookie, onProviderProblem }: SignInSources): void {
  const begin = async (errand: ProviderErrand) => {
    const begun = await beginAtProvider(stronger, errand);
    if (!begun.ok) {
      onProviderProblem(begun.error);
      return problem('conflict', 'The provider cannot be asked at the moment; the log says why.');
    }
    const headers = { 'set-cookie': ticketCookie(cookie, begun.value.ticket) };
    return answer({ url: begun.value.url }, { headers });
  };
  api.route(
    {
      ...{
        ...common,
        method: 'post',
        path: '/session/provider',
        body: providerStartBody,
        answer: providerStartView,
      },
      summary: 'Begins a sign-in at the provider: the browser goes to `url`',
    },
    ({ body: { invitation } }) =>
      begin(invitation === undefined ? { kind: 'sign-in' } : { kind: 'invitation', token: invitation }),
  );
  api.route(
    {
      ...{ method: 'post', path: '/me/identities', access: 'signed-in', tag: 'Security', fresh: true },
      ...{
        answer: providerStartView,
        summary: 'Begins to connect an identity of the provider: the browser goes to `url`',
      },
    },
    ({ actor }) =>
      actor.kind === 'person' ? begin({ kind: 'connect', personId: actor.personId }) : noPerson,
  );
  api.stream(
    {
      ...{ ...common, method: 'get', path: '/session/provider/callback', produces: 'text/html' },
      summary: 'The provider sends people back here',
    },
    async ({ actor, request }) => {
      const { searchParams: parameters } = new URL(request.url);
      const cookies = (request.headers.get('cookie') ?? '').split(';').map((each) => each.trim());
      const begins = `${ticketName(cookie.name)}=`;
      const ticket = cookies.find((each) => each.startsWith(begins))?.slice(begins.length) ?? '';
      const place = placeOf('provider', actor.address, request);
      const ended = await endAtProvider(stronger, changes, { parameters, ticket }, place, onProviderProblem);
      const headers = new Headers({ location: '/' });
      headers.append('set-cookie', ticketCookie(cookie, ''));
      if (!ended.ok) headers.set('location', `/sign-in?problem=provider-${ended.error}`);
      else if (ended.value.opened === null) headers.set('location', '/profile');
      else headers.append('set-cookie', cookie.issue(ended.value.opened.secret));
      return new Response(null, { status: 303, headers });
    },
  );
}

function byPasswordLink(api: ConsoleApi, { stronger }: SignInSources): void {
  api.route(
    {
      ...{
        ...common,
        method: 'post',
        path: '/password-links/look',
        body: linkTokenBody,
        answer: passwordLinkView,
      },
      summary: 'Whose password a link sets',
    },
    async ({ body, actor }) => {
      const looked = await lookAtPasswordLink(stronger, body.token, actor.address);
      if (!looked.ok) return problemOf(looked.error);
      return answer({ name: looked.value.name, login: looked.value.login });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/password-links/use', body: passwordLinkBody, answer: null },
      summary: 'Sets the password, and ends all sessions of its person',
    },
    async ({ body, actor }) => {
      const set = await resetPassword(stronger, body, actor.address);
      return set.ok ? nothing() : problemOf(set.error);
    },
  );
}

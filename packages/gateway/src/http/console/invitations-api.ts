import {
  acceptAsNew,
  acceptAsPerson,
  invite,
  lookAtInvitation,
  withdraw,
} from '../../admin/people/invitations.ts';
import type { StrongerTools } from '../../admin/people/stronger-tools.ts';
import type { Invitation } from '../../ports/person-links.ts';
import {
  invitationDraft,
  invitationMadeView,
  invitationPage,
  invitationQuery,
  invitedView,
} from './contract/people.ts';
import { acceptanceBody, linkTokenBody, signedInView } from './contract/sign-in.ts';
import { answer, created, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import type { SessionCookie } from './frame/session-cookie.ts';
import { placeOf, problemOf } from './session-api.ts';

/** The source of the answers. */
export interface InvitationSources {
  readonly stronger: StrongerTools;
  readonly cookie: SessionCookie;
}

/** Invitations by link: made and withdrawn by who manages accounts, accepted by whoever has the link. */
export function invitationsApi(api: ConsoleApi, sources: InvitationSources): void {
  manage(api, sources);
  accept(api, sources);
}

function manage(api: ConsoleApi, { stronger }: InvitationSources): void {
  const common = { access: 'admin', tag: 'Invitations' } as const;
  api.route(
    {
      ...{ ...common, method: 'get', path: '/invitations', query: invitationQuery, answer: invitationPage },
      summary: 'Invitations that nobody has accepted yet, the newest first',
    },
    async ({ scope, query: { account } }) => {
      const open = await stronger.store.personLinks.openInvitations(scope, stronger.now());
      const asked = open.filter(({ accountId }) => account === undefined || accountId === account);
      return answer({ items: await Promise.all(asked.map((each) => viewOf(stronger, each))), next: null });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/invitations', fresh: true, creates: true, onceShown: ['link'] },
      ...{ body: invitationDraft, answer: invitationMadeView },
      summary: 'Makes an invitation, and answers its link, this once',
    },
    async ({ actor, scope, body }) => {
      const made = await invite(stronger, actor, scope, body);
      if (!made.ok) return problemOf(made.error);
      return created({ invitation: await viewOf(stronger, made.value.invitation), link: made.value.link });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'delete', path: '/invitations/{id}', answer: null },
      summary: 'Withdraws an invitation: its link does nothing any more',
    },
    async ({ actor, scope, params }) =>
      (await withdraw(stronger, actor, scope, params.id))
        ? nothing()
        : problem('not_found', 'There is no such open invitation.'),
  );
}

function accept(api: ConsoleApi, { stronger, cookie }: InvitationSources): void {
  const common = { method: 'post', tag: 'Invitations' } as const;
  api.route(
    {
      ...{ ...common, path: '/invitations/look', access: 'anyone', body: linkTokenBody, answer: invitedView },
      summary: 'What whoever has the link is invited to',
    },
    async ({ body, actor }) => {
      const looked = await lookAtInvitation(stronger, body.token, actor.address);
      if (!looked.ok) return problemOf(looked.error);
      const { email, isOperator, accountName, role, madeBy, expiresAt } = await viewOf(
        stronger,
        looked.value,
      );
      const provider = stronger.provider === null ? null : { name: stronger.provider.settings.name };
      const deployment = stronger.deployment();
      return answer({ deployment, email, isOperator, accountName, role, madeBy, expiresAt, provider });
    },
  );
  api.route(
    {
      ...{
        ...common,
        path: '/invitations/accept',
        access: 'anyone',
        body: acceptanceBody,
        answer: signedInView,
      },
      summary: 'Accepts as somebody new, with a password, and signs in',
    },
    async ({ body, actor, request }) => {
      const opened = await acceptAsNew(stronger, body, placeOf('invitation', actor.address, request));
      if (!opened.ok) return problemOf(opened.error);
      return answer({ next: 'done' }, { headers: { 'set-cookie': cookie.issue(opened.value.secret) } });
    },
  );
  api.route(
    {
      ...{ ...common, path: '/invitations/join', access: 'signed-in', body: linkTokenBody, answer: null },
      summary: 'Accepts as who is signed in',
    },
    async ({ body, actor }) => {
      if (actor.kind !== 'person')
        return problem('forbidden', "This is about a person: the operator's token is none.");
      const joined = await acceptAsPerson(stronger, actor, body.token);
      return joined.ok
        ? nothing({ headers: { 'set-cookie': cookie.issue(joined.value) } })
        : problemOf(joined.error);
    },
  );
}

async function viewOf({ store }: StrongerTools, invitation: Invitation) {
  const { id, email, isOperator, accountId, role, madeBy, madeAtMs, expiresAtMs } = invitation;
  return {
    ...{ id, email, isOperator, account: accountId, role, madeBy },
    accountName: accountId === null ? null : ((await store.personLinks.accountName(accountId)) ?? accountId),
    madeAt: new Date(madeAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}

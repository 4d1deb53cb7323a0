import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { KnownPerson, Role } from '../../ports/people.ts';
import type { Invitation, PersonLinkStore } from '../../ports/person-links.ts';
import { noting } from '../audit.ts';
import { type Actor, includes, isOperator, nameOf, type PersonActor, type Scope } from './actor.ts';
import { attempt } from './attempt.ts';
import { makeLinkToken, oneTimeHashes } from './one-time-secrets.ts';
import { passwordMistake } from './passwords.ts';
import type { PeopleRefusal } from './people-refusal.ts';
import type { OpenedSession, SignInPlace } from './sessions.ts';
import { newPerson, openSession } from './sign-in.ts';
import type { StrongerTools } from './stronger-tools.ts';

const dayMs = 86_400_000;
const daysUsual = 7;

/** An invitation as somebody wants it: as an operator, or to a role in an account. */
export interface InvitationDraft {
  readonly email?: string | null;
  readonly isOperator?: boolean;
  readonly account?: string;
  readonly role?: Role;
  readonly days?: number;
}

/** An invitation and its link, which nobody can be told again. */
export interface MadeInvitation {
  readonly invitation: Invitation;
  readonly link: string;
}

const gone: PeopleRefusal = {
  kind: 'wrong',
  message: 'This invitation was accepted or withdrawn, or its time is over: ask for another one.',
};

function invalid(field: string, message: string): Result<never, PeopleRefusal> {
  return fail({ kind: 'invalid', field, message });
}

/** Makes an invitation. Whoever manages accounts invites to these alone, and only an operator invites operators. */
export async function invite(
  tools: StrongerTools,
  actor: Actor,
  scope: Scope,
  { email = null, isOperator: asOperator = false, account, role, days = daysUsual }: InvitationDraft,
): Promise<Result<MadeInvitation, PeopleRefusal>> {
  const { store, peppers, now } = tools;
  if (asOperator && !isOperator(actor)) return invalid('isOperator', 'only an operator may invite operators');
  if (asOperator && (account !== undefined || role !== undefined))
    return invalid('account', 'operators are of no account: leave account and role out');
  if (!asOperator && account === undefined)
    return invalid('account', 'name the account, or "isOperator": true');
  if (!asOperator && role === undefined) return invalid('role', 'must be admin, member or viewer');
  const isTheirs = account === undefined || includes(scope, account);
  if (account !== undefined && (!isTheirs || (await store.personLinks.accountName(account)) === null))
    return invalid('account', `there is no account "${account}" that you may invite to`);
  const token = makeLinkToken();
  const nowMs = now();
  const invitation: Invitation = {
    ...{ id: `invitation-${randomBytes(8).toString('hex')}`, email, isOperator: asOperator },
    ...{ accountId: account ?? null, role: role ?? null, madeBy: nameOf(actor), madeAtMs: nowMs },
    ...{ expiresAtMs: nowMs + days * dayMs, usedAtMs: null },
  };
  const [hash] = oneTimeHashes(peppers, 'invitation', token);
  await noted(tools, actor, 'invitation.create', invitation).addInvitation(invitation, hash);
  return succeed({ invitation, link: `${tools.origin()}/invitation#${token}` });
}

/** False where there is none that the actor may take back. */
export async function withdraw(
  tools: StrongerTools,
  actor: Actor,
  scope: Scope,
  id: string,
): Promise<boolean> {
  const { store, now } = tools;
  const open = await store.personLinks.openInvitations(scope, now());
  const found = open.find((each) => each.id === id);
  return found !== undefined && noted(tools, actor, 'invitation.remove', found).withdrawInvitation(id);
}

/** The invitation of a token, unspent. */
export function lookAtInvitation(
  tools: StrongerTools,
  token: string,
  address: string | null,
): Promise<Result<Invitation, PeopleRefusal>> {
  const { store, peppers, now } = tools;
  return attempt(tools, { kind: 'invitation', address, login: '' }, async () => {
    const found = await store.personLinks.findInvitation(oneTimeHashes(peppers, 'invitation', token), now());
    return found === null ? fail(gone) : succeed(found);
  });
}

/** Makes a person of whoever was invited, with a password, and signs them in. */
export async function acceptAsNew(
  tools: StrongerTools,
  given: { readonly token: string; readonly name: string; readonly email: string; readonly password: string },
  place: SignInPlace,
): Promise<Result<OpenedSession, PeopleRefusal>> {
  const looked = await lookAtInvitation(tools, given.token, place.address);
  if (!looked.ok) return looked;
  const mistake = passwordMistake(given.password, given.email);
  if (mistake !== null) return invalid('password', mistake);
  const passwordHash = await tools.passwords.hash(given.password);
  const person = { ...newPerson({ login: given.email, name: given.name }, tools.now()), passwordHash };
  const added = await addInvited(tools, given.token, person, place.address);
  return added.ok ? succeed(await openSession(tools, added.value, place)) : added;
}

/** Takes the invitation for somebody new. Where they cannot be added it stays good. */
export async function addInvited(
  { store, peppers, now }: StrongerTools,
  token: string,
  person: KnownPerson,
  address: string | null,
): Promise<Result<KnownPerson, PeopleRefusal>> {
  const hashes = oneTimeHashes(peppers, 'invitation', token);
  const found = await store.personLinks.findInvitation(hashes, now());
  if (found === null) return fail(gone);
  const { accountId, role } = found;
  const memberships = accountId === null || role === null ? [] : [{ accountId, role }];
  const invited = { ...person, isOperator: found.isOperator, memberships };
  const target = { kind: 'person', id: person.id, name: person.name } as const;
  const { personLinks } = noting(
    { store, actor: { kind: 'nobody', address }, nowMs: now() },
    { action: 'person.create', target, accountId, before: null, after: { ...invited } },
  );
  const added = await personLinks.acceptAsNew(hashes, invited, now());
  if (added === 'gone') return fail(gone);
  return added === 'added'
    ? succeed(invited)
    : invalid('email', 'somebody signs in by this already: sign in first, then open the link again');
}

/** Gives who is signed in what they are invited to, beside what they have. Their session gets another secret, and all others end. */
export async function acceptAsPerson(
  tools: StrongerTools,
  actor: PersonActor,
  token: string,
): Promise<Result<string, PeopleRefusal>> {
  const { store, peppers, sessions, now } = tools;
  const { personId, sessionId } = actor;
  const hashes = oneTimeHashes(peppers, 'invitation', token);
  const found = await store.personLinks.findInvitation(hashes, now());
  if (found === null) return fail(gone);
  const links = noted(tools, actor, 'invitation.accept', found);
  const isTaken = await links.acceptAsPerson(hashes, personId, sessionId, now());
  const secret = isTaken ? await sessions.rotate(sessionId, null) : null;
  return secret === null ? fail(gone) : succeed(secret);
}

/** The store of links, for one change that is noted. */
function noted(
  { store, now }: StrongerTools,
  actor: Actor,
  action: `invitation.${string}`,
  { id, email, isOperator, accountId, role }: Invitation,
): PersonLinkStore {
  const after = { id, email, isOperator, memberships: accountId === null ? [] : [{ accountId, role }] };
  const target = { kind: 'invitation', id, name: email } as const;
  return noting({ store, actor, nowMs: now() }, { action, target, accountId, before: null, after })
    .personLinks;
}

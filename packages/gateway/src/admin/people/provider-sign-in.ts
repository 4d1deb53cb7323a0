import { randomBytes } from 'node:crypto';
import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import type { RoleGrant } from '../../catalogue/role-rules.ts';
import type { NotedChanges } from '../../ports/audit.ts';
import type { StoredIdentity } from '../../ports/factors.ts';
import type { KnownPerson, Membership } from '../../ports/people.ts';
import { noting } from '../audit.ts';
import { addInvited } from './invitations.ts';
import type { OidcIdentity } from './oidc.ts';
import type { PersonChanges } from './person-changes.ts';
import type { OpenedSession, SignInPlace } from './sessions.ts';
import { newPerson, openSession } from './sign-in.ts';
import type { StrongerTools } from './stronger-tools.ts';

/** The reason that somebody goes to the provider for: to sign in, to accept an invitation, or to connect it to themself. */
const providerErrand = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sign-in') }),
  z.object({ kind: z.literal('invitation'), token: z.string() }),
  z.object({ kind: z.literal('connect'), personId: z.string() }),
]);
export type ProviderErrand = Readonly<z.infer<typeof providerErrand>>;

/** A person who comes back must bring this, as the ticket has it. */
const providerTicket = z.object({
  question: z.object({ state: z.string(), nonce: z.string(), verifier: z.string() }),
  errand: providerErrand,
  overAtMs: z.number(),
});

/** Why nobody is signed in who has come back: the page has the words. */
export type ProviderProblem = 'failed' | 'unknown' | 'disabled' | 'late' | 'taken';

/** The browser goes to `url`, and comes back with the ticket in its cookie. */
export interface ProviderStart {
  readonly url: string;
  readonly ticket: string;
}

/** Begins an errand. The error is for the log. */
export async function beginAtProvider(
  { provider, tickets }: StrongerTools,
  errand: ProviderErrand,
): Promise<Result<ProviderStart, string>> {
  if (provider === null) return fail('no provider is configured');
  const begun = await provider.begin();
  if (!begun.ok) return begun;
  const ticket = tickets.issue('oidc', { question: begun.value.question, errand });
  return succeed({ url: begun.value.url, ticket });
}

/** A person came back: signed in, or connected, and then nothing is opened. */
export type ProviderReturn = { readonly opened: OpenedSession | null };

/** Ends an errand. People are known by issuer and subject alone: an e-mail address connects nobody to anybody. */
export async function endAtProvider(
  tools: StrongerTools,
  changes: PersonChanges,
  { parameters, ticket }: { readonly parameters: URLSearchParams; readonly ticket: string },
  place: SignInPlace,
  log: (problem: string) => void,
): Promise<Result<ProviderReturn, ProviderProblem>> {
  const ended = await endErrand(tools, changes, { parameters, ticket }, place, log);
  if (!ended.ok) tools.refusals.note({ kind: 'provider', address: place.address, login: '' }, ended.error);
  return ended;
}

async function endErrand(
  tools: StrongerTools,
  changes: PersonChanges,
  { parameters, ticket }: { readonly parameters: URLSearchParams; readonly ticket: string },
  place: SignInPlace,
  log: (problem: string) => void,
): Promise<Result<ProviderReturn, ProviderProblem>> {
  const content = providerTicket.safeParse(tools.tickets.spend('oidc', ticket));
  if (!content.success || tools.provider === null) return fail('late');
  const { question, errand } = content.data;
  const found = await tools.provider.finish(parameters, question);
  if (!found.ok) {
    log(found.error);
    return fail('failed');
  }
  const known = await tools.store.factors.findIdentity(found.value.issuer, found.value.subject);
  if (errand.kind === 'connect') return connect(tools, errand.personId, known, found.value, place);
  if (known !== null) return returnOf(await signInKnown(tools, changes, known, found.value, place));
  const person = await personOf(tools, errand, found.value, place);
  return person.ok ? returnOf(succeed(await openSession(tools, person.value, place))) : person;
}

function returnOf(opened: Result<OpenedSession, ProviderProblem>): Result<ProviderReturn, ProviderProblem> {
  return opened.ok ? succeed({ opened: opened.value }) : opened;
}

async function signInKnown(
  tools: StrongerTools,
  changes: PersonChanges,
  known: StoredIdentity,
  identity: OidcIdentity,
  place: SignInPlace,
): Promise<Result<OpenedSession, ProviderProblem>> {
  const { store, now } = tools;
  const person = await store.people.find(known.personId);
  if (person === null || person.disabledAtMs !== null) return fail('disabled');
  await store.factors.noteIdentityUse(known.id, labelOf(identity), now());
  if (!known.isManaged || identity.grants === null) return succeed(await openSession(tools, person, place));
  const access = await accessOf(tools, identity.grants);
  if (!isSame(person, access)) {
    const actor = { kind: 'nobody', address: place.address } as const;
    const changed = await changes.change(actor, person.id, access);
    // The last operator stays one, whatever a provider says.
    if (!changed.ok && !person.isOperator) return fail('failed');
  }
  const after = (await store.people.find(person.id)) ?? person;
  const hasNothing = !after.isOperator && after.memberships.length === 0;
  return hasNothing ? fail('unknown') : succeed(await openSession(tools, after, place));
}

/** Somebody new: who was invited, or whom the provider's claims give a role. */
async function personOf(
  tools: StrongerTools,
  errand: ProviderErrand,
  identity: OidcIdentity,
  place: SignInPlace,
): Promise<Result<KnownPerson, ProviderProblem>> {
  const login = identity.email ?? `${identity.subject}@${new URL(identity.issuer).host}`;
  const made = newPerson({ login, name: identity.name ?? login }, tools.now());
  if (errand.kind === 'invitation') {
    const added = await addInvited(tools, errand.token, made, place.address);
    if (!added.ok) return fail(added.error.kind === 'invalid' ? 'taken' : 'late');
    await addIdentity(tools, tools.store, made.id, identity, false);
    return added;
  }
  const access = await accessOf(tools, identity.grants ?? []);
  if (!access.isOperator && access.memberships.length === 0) return fail('unknown');
  const person = { ...made, ...access };
  const target = { kind: 'person', id: person.id, name: person.name } as const;
  const { people } = noting(
    { store: tools.store, actor: { kind: 'nobody', address: place.address }, nowMs: tools.now() },
    { action: 'person.create', target, accountId: null, before: null, after: { ...person } },
  );
  if ((await people.insert(person, false)) !== 'added') return fail('taken');
  await addIdentity(tools, tools.store, person.id, identity, true);
  return succeed(person);
}

async function connect(
  tools: StrongerTools,
  personId: string,
  known: StoredIdentity | null,
  identity: OidcIdentity,
  place: SignInPlace,
): Promise<Result<ProviderReturn, ProviderProblem>> {
  if (known !== null && known.personId !== personId) return fail('taken');
  const person = await tools.store.people.find(personId);
  if (person === null || person.disabledAtMs !== null) return fail('disabled');
  const target = { kind: 'person', id: personId, name: person.name } as const;
  const noted = noting(
    { store: tools.store, actor: { kind: 'nobody', address: place.address }, nowMs: tools.now() },
    { action: 'person.identity-add', target, accountId: null },
  );
  if (known === null && !(await addIdentity(tools, noted, personId, identity, false))) return fail('taken');
  return succeed({ opened: null });
}

function addIdentity(
  { now }: StrongerTools,
  { factors }: Pick<NotedChanges, 'factors'>,
  personId: string,
  identity: OidcIdentity,
  isManaged: boolean,
): Promise<boolean> {
  return factors.addIdentity({
    ...{ id: `identity-${randomBytes(8).toString('hex')}`, personId, isManaged },
    ...{ issuer: identity.issuer, subject: identity.subject, label: labelOf(identity) },
    ...{ createdAtMs: now(), usedAtMs: null },
  });
}

function labelOf({ email, name, subject }: OidcIdentity): string {
  return email ?? name ?? subject;
}

/** The rights that a provider's claims give. */
interface ClaimedAccess {
  readonly isOperator: boolean;
  readonly memberships: readonly Membership[];
}

const ranks = { viewer: 0, member: 1, admin: 2 } as const;

/** In each account the highest of several roles; accounts that there are not are left out. */
async function accessOf({ store }: StrongerTools, grants: readonly RoleGrant[]): Promise<ClaimedAccess> {
  const memberships = new Map<string, Membership>();
  for (const grant of grants) {
    if (grant.role === 'operator' || (await store.personLinks.accountName(grant.accountId)) === null)
      continue;
    const held = memberships.get(grant.accountId);
    if (held === undefined || ranks[held.role] < ranks[grant.role]) memberships.set(grant.accountId, grant);
  }
  return {
    isOperator: grants.some(({ role }) => role === 'operator'),
    memberships: [...memberships.values()],
  };
}

function isSame(person: KnownPerson, access: ClaimedAccess): boolean {
  const words = ({ accountId, role }: Membership) => `${accountId} ${role}`;
  const [one, other] = [person.memberships, access.memberships].map((list) =>
    list.map(words).sort().join('\n'),
  );
  return person.isOperator === access.isOperator && one === other;
}

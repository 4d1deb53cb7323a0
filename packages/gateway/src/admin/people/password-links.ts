import { fail, type Result, succeed } from '@headgate/protocols';
import type { KnownPerson } from '../../ports/people.ts';
import type { Store } from '../../ports/store.ts';
import { noting } from '../audit.ts';
import type { Peppers } from '../owner-files.ts';
import type { Actor } from './actor.ts';
import { attempt } from './attempt.ts';
import { makeLinkToken, oneTimeHashes } from './one-time-secrets.ts';
import { passwordMistake } from './passwords.ts';
import type { PeopleRefusal } from './people-refusal.ts';
import { setPassword } from './sign-in.ts';
import type { StrongerTools } from './stronger-tools.ts';

const goodForMs = 24 * 3_600_000;

/** A link by which a person sets a new password, once. */
export interface PasswordLink {
  readonly link: string;
  readonly expiresAtMs: number;
}

/** All that making such a link takes: of the console, or of a command on the machine. */
export interface PasswordLinkTools {
  readonly store: Pick<Store, 'personLinks' | 'audit'>;
  readonly peppers: Peppers;
  readonly now: () => number;
  origin(): string;
}

const gone: PeopleRefusal = {
  kind: 'wrong',
  message: 'This link was used, or its time is over: ask for another one.',
};

/** Makes a link, which ends earlier ones. */
export async function makePasswordLink(
  tools: PasswordLinkTools,
  actor: Actor,
  { id, name }: Pick<KnownPerson, 'id' | 'name'>,
): Promise<PasswordLink> {
  const { store, peppers, now } = tools;
  const token = makeLinkToken();
  const expiresAtMs = now() + goodForMs;
  const target = { kind: 'person', id, name } as const;
  const { personLinks } = noting(
    { store, actor, nowMs: now() },
    { action: 'person.password-link', target, accountId: null },
  );
  await personLinks.addPasswordLink(id, oneTimeHashes(peppers, 'password-link', token)[0], expiresAtMs);
  return { link: `${tools.origin()}/password#${token}`, expiresAtMs };
}

/** The person of a link, which stays good. */
export function lookAtPasswordLink(
  tools: StrongerTools,
  token: string,
  address: string | null,
): Promise<Result<KnownPerson, PeopleRefusal>> {
  const { store, peppers, now } = tools;
  return attempt(tools, { kind: 'password-link', address, login: '' }, async () => {
    const hashes = oneTimeHashes(peppers, 'password-link', token);
    const id = await store.personLinks.findPasswordLink(hashes, now());
    const person = id === null ? null : await store.people.find(id);
    return person === null ? fail(gone) : succeed(person);
  });
}

/** Sets the password of the link's person. All of their sessions end. */
export async function resetPassword(
  tools: StrongerTools,
  { token, password }: { readonly token: string; readonly password: string },
  address: string | null,
): Promise<Result<null, PeopleRefusal>> {
  const looked = await lookAtPasswordLink(tools, token, address);
  if (!looked.ok) return looked;
  const person = looked.value;
  // A password that cannot be one leaves the link as it was.
  const mistake = passwordMistake(password, person.login);
  if (mistake !== null) return fail({ kind: 'invalid', field: 'password', message: mistake });
  const { store, peppers, now } = tools;
  const taken = await store.personLinks.takePasswordLink(
    oneTimeHashes(peppers, 'password-link', token),
    now(),
  );
  return taken === null
    ? fail(gone)
    : setPassword(tools, { kind: 'nobody', address }, person, password, null);
}

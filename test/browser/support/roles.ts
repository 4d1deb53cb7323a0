import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { Sessions } from '../../../packages/gateway/src/admin/people/sessions.ts';
import { sessionCookie } from '../../../packages/gateway/src/http/console/frame/session-cookie.ts';
import type { RunningGateway } from '../../../packages/gateway/src/main.ts';
import type { KnownPerson } from '../../../packages/gateway/src/ports/people.ts';

/** Who looks at a page: `stranger` is a member of another account than all others. */
export type Role = 'anonymous' | 'viewer' | 'member' | 'admin' | 'operator' | 'stranger';

const ownAccount = 'demo';
const otherAccount = 'elsewhere';

/** Gives the window the cookie of a session of somebody in that role, who is made when first asked for. */
export async function signInAs(
  role: Role,
  context: BrowserContext,
  gateway: RunningGateway,
  dataDir: string,
): Promise<void> {
  if (role === 'anonymous') return;
  const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();
  const { people } = gateway.store;
  const person = (await people.findByLogin(role)) ?? (await makePerson(role, gateway, token));
  const place = { how: 'password', userAgent: null, address: null };
  const { secret } = await new Sessions(people, Date.now).open(person, place);
  const { name } = sessionCookie(null, token);
  await context.addCookies([
    { name, value: secret, url: gateway.consoleOrigin, httpOnly: true, sameSite: 'Strict' },
  ]);
}

async function makePerson(role: Role, gateway: RunningGateway, token: string): Promise<KnownPerson> {
  const { people } = gateway.store;
  const person: KnownPerson = {
    ...{
      id: `person-${Buffer.from(role).toString('hex')}`,
      login: role,
      name: `${/^[aeiou]/.test(role) ? 'An' : 'A'} ${role}`,
    },
    ...{ isOperator: role === 'operator', disabledAtMs: null, language: null, theme: null },
    ...{ createdAtMs: Date.now(), memberships: [], passwordHash: null },
  };
  await people.insert(person, false);
  if (role === 'stranger') {
    await makeAccount(gateway, token);
    await people.setMembership(person.id, otherAccount, 'member');
  } else if (role === 'viewer' || role === 'member' || role === 'admin')
    await people.setMembership(person.id, ownAccount, role);
  return (await people.find(person.id)) ?? person;
}

async function makeAccount({ consoleOrigin }: RunningGateway, token: string): Promise<void> {
  const made = await fetch(`${consoleOrigin}/api/v1/accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: otherAccount, name: 'Elsewhere' }),
  });
  if (!made.ok) throw new Error(await made.text());
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator } from '@headgate/simulator';
import { Sessions } from '../../packages/gateway/src/admin/people/sessions.ts';
import { newPerson } from '../../packages/gateway/src/admin/people/sign-in.ts';
import type { Access } from '../../packages/gateway/src/http/console/frame/route.ts';
import { sessionCookie } from '../../packages/gateway/src/http/console/frame/session-cookie.ts';
import type { KnownPerson, Role } from '../../packages/gateway/src/ports/people.ts';
import { openTestGateway, type TestGateway } from './gateway.ts';

/** Everybody who asks in a test of the console. `stranger` has the highest role of another account. */
export const askers = ['anonymous', 'viewer', 'member', 'admin', 'stranger', 'operator', 'program'] as const;
export type Asker = (typeof askers)[number];

/** The names of all things of the account `one` have this in them. */
export const canary = 'canary-of-one';

/** A route as the description tells of it. */
export interface DescribedRoute {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** A gateway with two accounts and their people. */
export interface ConsoleWorld extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly traceId: string;
  readonly people: Readonly<Record<Exclude<Asker, 'anonymous' | 'program'>, KnownPerson>>;
  /** Headers by which somebody is known, with a session of its own. */
  credential(asker: Asker): Promise<Readonly<Record<string, string>>>;
  routes(): Promise<readonly DescribedRoute[]>;
}

export async function openConsoleWorld(): Promise<ConsoleWorld> {
  const simulator = await startSimulator();
  const gateway = await openTestGateway({
    channels: [{ id: 'upstream', origin: simulator.origin, models: { m: 'sim-fast+tokens=7' } }],
    moreKeys: { mine: { account: 'one', name: `${canary} key` }, theirs: { account: 'two' } },
    accounts: { one: { name: `${canary} account` }, two: { name: 'Two' } },
  });
  const call = await fetch(`${gateway.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.moreKeys['mine']}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'one' }] }),
  });
  await call.text();
  const people = await addPeople(gateway);
  const token = readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim();
  const sessions = new Sessions(gateway.store.people, Date.now);
  const cookie = sessionCookie(null, token);
  return {
    gateway,
    people,
    traceId: call.headers.get('x-trace-id') ?? '',
    async credential(asker) {
      if (asker === 'anonymous') return {};
      if (asker === 'program') return { authorization: `Bearer ${token}` };
      const { secret } = await sessions.open(people[asker], {
        how: 'password',
        userAgent: null,
        address: null,
      });
      return { cookie: `${cookie.name}=${secret}` };
    },
    async routes() {
      const answer = await fetch(`${gateway.consoleOrigin}/api/v1/openapi.json`);
      return routesOf((await answer.json()) as OpenApi); // Another test holds it against the published schema.
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await simulator.close();
    },
  };
}

async function addPeople({ store }: TestGateway): Promise<ConsoleWorld['people']> {
  const add = async (login: string, isOperator: boolean, accountId: string, role: Role) => {
    const name = accountId === 'one' ? `${canary} ${login}` : login;
    const memberships = isOperator ? [] : [{ accountId, role }];
    const person = { ...newPerson({ login, name }, Date.now()), isOperator, memberships };
    await store.people.insert(person, false);
    return person;
  };
  return {
    viewer: await add('viewer', false, 'one', 'viewer'),
    member: await add('member', false, 'one', 'member'),
    admin: await add('admin', false, 'one', 'admin'),
    stranger: await add('stranger', false, 'two', 'admin'),
    operator: await add('operator', true, '', 'admin'),
  };
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly 'x-access': Access;
            readonly requestBody?: {
              readonly content: Readonly<
                Record<string, { readonly schema: Readonly<Record<string, unknown>> }>
              >;
            };
          }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

function routesOf({ paths, components }: OpenApi): readonly DescribedRoute[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): DescribedRoute => {
      const schema = operation.requestBody?.content['application/json']?.schema ?? null;
      const name = /([^/]+)$/.exec(String(schema?.['$ref'] ?? ''))?.[1];
      const body = name === undefined ? schema : (components.schemas[name] ?? schema);
      return { method: method.toUpperCase(), path, access: operation['x-access'], body };
    }),
  );
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { roles } from '../packages/gateway/src/ports/people.ts';
import {
  type Asker,
  askers,
  type ConsoleWorld,
  canary,
  type DescribedRoute,
  openConsoleWorld,
} from './support/console-world.ts';

let world: ConsoleWorld;
let routes: readonly DescribedRoute[] = [];

beforeAll(async () => {
  world = await openConsoleWorld();
  routes = await world.routes();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

/** The page that a request says it comes from. */
const provenances = ['right', 'wrong', 'missing'] as const;
type Provenance = (typeof provenances)[number];

interface Answered {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

/** Things of the account `one`, for who must not have them; for all others nothing that is there, as they could change it. */
function pathFor({ path, method }: DescribedRoute, asker: Asker): string {
  const isTheirs = asker === 'stranger' || asker === 'anonymous' || method === 'GET';
  const known: Readonly<Record<string, string>> = {
    ...{ accounts: 'one', keys: 'mine', groups: 'completions', channels: 'upstream', models: 'm' },
    ...{ people: world.people.viewer.id, calls: world.traceId },
  };
  return path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (_, noun: string) => {
    return `${noun}/${isTheirs ? (known[noun] ?? 'nothing') : 'nothing'}`;
  });
}

async function ask(route: DescribedRoute, asker: Asker, provenance: Provenance): Promise<Answered> {
  const page: Readonly<Record<Provenance, Record<string, string>>> = {
    right: { origin: world.gateway.consoleOrigin, 'sec-fetch-site': 'same-origin' },
    wrong: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    missing: {},
  };
  const { method } = route;
  const isRead = method === 'GET';
  // A stream has no end: its head says all.
  const left = new AbortController();
  const answer = await fetch(`${world.gateway.consoleOrigin}${pathFor(route, asker)}`, {
    method,
    redirect: 'manual',
    signal: left.signal,
    headers: {
      ...page[provenance],
      ...(await world.credential(asker)),
      ...(isRead ? {} : { 'content-type': 'application/json' }),
    },
    ...(isRead || method === 'DELETE' ? {} : { body: '{}' }),
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const text = isStream ? '' : await answer.text();
  left.abort();
  const isProblem = answer.headers.get('content-type') === 'application/problem+json';
  const { code } = isProblem ? (JSON.parse(text) as { readonly code: string }) : { code: '' }; // Every problem has a code.
  return { status: answer.status, code, text };
}

/** The refusal that follows from a route's declared access; null where it may be asked. */
function refusal({ method, access }: DescribedRoute, asker: Asker, provenance: Provenance): string | null {
  const isRead = method === 'GET';
  const isPerson = asker !== 'anonymous' && asker !== 'program';
  if (provenance === 'wrong' && !(isRead && access === 'anyone')) return 'forbidden_origin';
  if (provenance === 'missing' && isPerson && !isRead) return 'forbidden_origin';
  if (access === 'anyone') return null;
  if (asker === 'anonymous') return 'unauthenticated';
  if (access === 'signed-in' || asker === 'operator' || asker === 'program') return null;
  if (access === 'operator') return 'forbidden';
  const role = asker === 'stranger' ? 'admin' : asker;
  return roles.indexOf(role) >= roles.indexOf(access) ? null : 'forbidden';
}

test('every route answers everybody as its declared access says, whatever page they come from', async () => {
  expect(routes.length).toBeGreaterThan(25);
  const wrong: string[] = [];
  for (const route of routes) {
    const cases = askers.flatMap((asker) => provenances.map((provenance) => ({ asker, provenance })));
    const answers = await Promise.all(
      cases.map(async ({ asker, provenance }) => ({
        ...{ asker, provenance, expected: refusal(route, asker, provenance) },
        answered: await ask(route, asker, provenance),
      })),
    );
    for (const { asker, provenance, expected, answered } of answers) {
      const { status, code, text } = answered;
      const isRefused = ['unauthenticated', 'forbidden', 'forbidden_origin'].includes(code);
      // A program is admitted where people are, and told that it is none.
      const isRight =
        expected === null ? !isRefused || (asker === 'program' && code === 'forbidden') : code === expected;
      const what = `${route.method} ${route.path} (${route.access}) as ${asker}, origin ${provenance}: ${status} ${code}`;
      if (!isRight || status >= 500) wrong.push(`${what}, expected ${expected ?? 'to be admitted'}`);
      const isOutside = asker === 'stranger' || asker === 'anonymous';
      if (isOutside && text.includes(canary)) wrong.push(`${what}: it tells of another account`);
    }
  }
  expect(wrong).toEqual([]);
}, 120_000);

test("a thing of another account is not there for an account's admin, on every route that names one", async () => {
  const named = routes.filter(
    ({ path, access }) =>
      /\/(accounts|keys|calls|people)\/\{/.test(path) && !['anyone', 'operator'].includes(access),
  );
  const wrong: string[] = [];
  for (const route of named) {
    const { status, code } = await ask(route, 'stranger', 'right');
    if (status < 400) wrong.push(`${route.method} ${route.path}: ${status} ${code}`);
  }
  expect(wrong).toEqual([]);
}, 60_000);

test('a path that is no route is as closed to strangers as one that is, however it is written', async () => {
  const { consoleOrigin } = world.gateway;
  const paths = [
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/nothing',
    '/api/v2/accounts',
    '/api/v1/accounts/',
    '/api/v1//accounts',
  ];
  const odd = [
    '/api/v1/%61ccounts',
    '/api/v1/openapi.json/../accounts',
    '/api/v1/session/..%2faccounts',
    '/api/v1/session;/accounts',
  ];
  for (const path of [...paths, ...odd]) {
    for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status } = await fetch(`${consoleOrigin}${path}`, { method });
      expect(status, `${method} ${path}`).toBe(401);
    }
  }
  const token = await world.credential('program');
  const { status } = await fetch(`${consoleOrigin}/api/v1/nothing`, { headers: token });
  expect(status).toBe(404);
});

/** Objects of a schema that take members which it does not name. */
function openObjects(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each, at) => openObjects(each, `${path}[${at}]`));
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, properties, additionalProperties } = schema as Readonly<Record<string, unknown>>; // JSON Schema.
  const isOpen = type === 'object' && properties !== undefined && additionalProperties !== false;
  return [
    ...(isOpen ? [path] : []),
    ...Object.entries(schema).flatMap(([name, each]) => openObjects(each, `${path}.${name}`)),
  ];
}

test('no body takes a member that it does not name, at any depth', async () => {
  const bodies = routes.filter(({ body }) => body !== null);
  expect(bodies.length).toBeGreaterThan(8);
  expect(bodies.flatMap(({ method, path, body }) => openObjects(body, `${method} ${path}`))).toEqual([]);
  const wrong: string[] = [];
  for (const { method, path } of bodies) {
    for (const member of ['isOperator', 'undeclaredMember', 'constructor']) {
      const more = `"${member}":true,"__proto__":{"isOperator":true}}`;
      // Some say what a thing is named by before all else.
      const answers = await Promise.all(
        ['{', '{"id":"abc",'].map((opening) => send(method, path, opening + more)),
      );
      // What is not there need not read a body, and what is about people is nothing for a program.
      const isRefused = answers.every(({ status }) => [400, 403, 404].includes(status));
      const isNamed = answers.some(({ status, text }) => status !== 400 || text.includes(member));
      if (!isRefused || !(isNamed || mayName(member, path)))
        wrong.push(
          `${method} ${path} with ${member}: ${answers.map(({ status, text }) => `${status} ${text}`).join(' ')}`,
        );
    }
  }
  expect(wrong).toEqual([]);
});

async function send(method: string, path: string, body: string) {
  const headers = { ...(await world.credential('program')), 'content-type': 'application/json' };
  const url = `${world.gateway.consoleOrigin}${path.replaceAll(/\{\w+\}/g, 'nothing')}`;
  const answer = await fetch(url, { method, headers, body });
  return { status: answer.status, text: await answer.text() };
}

/** Bodies in which operators name operators. */
function mayName(member: string, path: string): boolean {
  return member === 'isOperator' && /\/(people|invitations)/.test(path);
}

test('no form of another site can be sent: a body that is not said to be JSON is not read', async () => {
  const { consoleOrigin } = world.gateway;
  const wrong: string[] = [];
  for (const { method, path } of routes.filter(({ body }) => body !== null)) {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const answer = await fetch(`${consoleOrigin}${path.replaceAll(/\{\w+\}/g, 'nothing')}`, {
        method,
        headers: { ...(await world.credential('program')), 'content-type': type },
        body: '{}',
      });
      // What is about people is nothing for a program, and what is not there need not read a body.
      if (answer.status !== 415) wrong.push(`${method} ${path} as ${type}: ${answer.status}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('no route of the console is served beside the description that the walk reads', () => {
  const folder = join(import.meta.dirname, '../packages/gateway/src/http/console');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!test)\.ts$/.test(file),
  );
  const serving = files.filter((file) => readFileSync(join(folder, file), 'utf8').includes('new Hono'));
  // The composition, the API itself, its page, files of the build, and probes with the status page: nothing of them asks who is there.
  expect(serving.sort()).toEqual([
    'console-server.ts',
    'frame/console-api.ts',
    'frame/docs-page.ts',
    'page-files.ts',
    'status-routes.ts',
  ]);
});

test('a session is no use under a name that is not ours, nor in a header of its own', async () => {
  const { consoleOrigin } = world.gateway;
  const { cookie = '' } = await world.credential('operator');
  const secret = cookie.split('=')[1] ?? '';
  for (const headers of [
    { authorization: `Bearer ${secret}` },
    { cookie: `session=${secret}` },
    { 'x-session': secret },
  ])
    expect((await fetch(`${consoleOrigin}/api/v1/sessions`, { headers })).status).toBe(401);
  expect((await fetch(`${consoleOrigin}/api/v1/sessions`, { headers: { cookie } })).status).toBe(200);
});

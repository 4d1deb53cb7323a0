import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { setUpToken } from '../packages/gateway/src/admin/people/set-up.ts';
import { type ServingProcess, serveHeadgate, temporaryDirectory } from './support/process.ts';

const root = fileURLToPath(new URL('../deploy/', import.meta.url));

/** A deployment of `deploy/` that runs, and the directory that is its own. */
interface Deployed {
  readonly serving: ServingProcess;
  readonly dataDir: string;
}

const directories = { global: temporaryDirectory(), domestic: temporaryDirectory() };
let deployed: Readonly<Record<keyof typeof directories, Deployed>>;

beforeAll(async () => {
  const [global, domestic] = await Promise.all([start('global'), start('domestic')]);
  deployed = { global, domestic };
});
afterAll(async () => {
  await deployed.global.serving[Symbol.asyncDispose]();
  await deployed.domestic.serving[Symbol.asyncDispose]();
  for (const directory of Object.values(directories)) directory[Symbol.dispose]();
});

async function start(name: keyof typeof directories): Promise<Deployed> {
  const dataDir = directories[name].path;
  const environment = {
    HEADGATE_CONFIG: join(root, name, 'headgate.yaml'),
    HEADGATE_API_HOST: '127.0.0.1',
    HEADGATE_CONSOLE_HOST: '127.0.0.1',
    ...{ OPENAI_API_KEY: 'canary-a', ANTHROPIC_API_KEY: 'canary-b', DEEPSEEK_API_KEY: 'canary-c' },
  };
  return { serving: await serveHeadgate({ dataDir, environment }), dataDir };
}

const at = ({ serving }: Deployed, path: string, init: RequestInit = {}) =>
  fetch(`${serving.ready.consoleOrigin}${path}`, init);

const textOf = async (deployment: Deployed, path: string) => (await at(deployment, path)).text();

describe('two deployments of one build, side by side', () => {
  test('have the same paths, their own origin, language and currency, and link each other', async () => {
    const { global, domestic } = deployed;
    const [here, there] = [await textOf(global, '/status'), await textOf(domestic, '/status')];
    expect(here).toContain('<html lang="en">');
    expect(there).toContain('<html lang="zh-CN">');
    expect(here).toContain(
      '<a href="https://console.example.cn/status" lang="zh-CN" hreflang="zh-CN">示例网关</a>',
    );
    expect(there).toContain(
      '<a href="https://console.example.com/status" lang="en" hreflang="en">Example Gateway</a>',
    );
    for (const path of [
      '/status/en',
      '/status/zh',
      '/status.json',
      '/status/feed.xml',
      '/healthz',
      '/api/v1/session',
    ])
      expect([(await at(global, path)).status, (await at(domestic, path)).status], path).toEqual([200, 200]);
    const feeds = [await textOf(global, '/status/feed.xml'), await textOf(domestic, '/status/feed.xml')];
    expect(feeds.map((feed) => /<id>([^<]*)<\/id>/.exec(feed)?.[1])).toEqual([
      'https://console.example.com/status',
      'https://console.example.cn/status',
    ]);
    const sessions = [await textOf(global, '/api/v1/session'), await textOf(domestic, '/api/v1/session')];
    expect(sessions.map((text) => (JSON.parse(text) as { deployment: object }).deployment)).toMatchObject([
      {
        name: 'Example Gateway',
        currency: 'USD',
        currencyPerUsd: '1',
        consoleOrigin: 'https://console.example.com',
      },
      {
        name: '示例网关',
        currency: 'CNY',
        currencyPerUsd: '7.1',
        siblings: [{ url: 'https://console.example.com' }],
      },
    ]);
  });

  test('a session of one is nobody at the other, and no cookie is for more than its host', async () => {
    const { global, domestic } = deployed;
    const token = setUpToken(readFileSync(join(global.dataDir, 'operator-token'), 'utf8').trim(), Date.now());
    const person = { token, name: 'Ada', login: 'ada', password: 'correct horse battery' };
    const made = await at(global, '/api/v1/set-up', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(person),
    });
    expect(made.status).toBe(200);
    const set = made.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/^__Host-/);
    expect(set).not.toMatch(/domain=/i);
    const cookie = set.split(';', 1)[0] ?? '';
    const who = async (deployment: Deployed) => {
      const answer = await at(deployment, '/api/v1/session', { headers: { cookie } });
      return ((await answer.json()) as { person: { name: string } | null }).person?.name ?? null;
    };
    expect([await who(global), await who(domestic)]).toEqual(['Ada', null]);
  });

  test('nothing of one is in the other', async () => {
    const { global, domestic } = deployed;
    expect(await textOf(domestic, '/status/en')).not.toMatch(/Route A|gpt-5-mini|openai/);
    expect(await textOf(global, '/status/en')).not.toMatch(/线路一|deepseek/);
    const tokens = [global, domestic].map(({ dataDir }) =>
      readFileSync(join(dataDir, 'operator-token'), 'utf8'),
    );
    expect(new Set(tokens).size).toBe(2);
  });
});

test('the sketches of deploy/ name files and commands that there are', () => {
  const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
    readonly services: Readonly<
      Record<
        string,
        {
          readonly command: readonly string[];
          readonly environment: Record<string, string>;
          readonly ports: readonly string[];
        }
      >
    >;
  };
  const service = readFileSync(join(root, 'headgate@.service'), 'utf8');
  const run = 'node tools/run.mjs packages/gateway/src/cli.ts serve';
  expect(service).toContain(run);
  const ports = Object.values(compose.services).flatMap((each) => each.ports);
  expect(new Set(ports).size).toBe(4);
  for (const [name, { command, environment }] of Object.entries(compose.services)) {
    expect(command.join(' ')).toBe(run);
    expect(environment['HEADGATE_CONFIG']).toBe(`/headgate/deploy/${name}/headgate.yaml`);
  }
  for (const file of ['tools/run.mjs', 'packages/gateway/src/cli.ts'])
    expect(readFileSync(join(root, '..', file), 'utf8')).not.toBe('');
});

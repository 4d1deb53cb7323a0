import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCommand, type ServingProcess, serveHeadgate, temporaryDirectory } from './support/process.ts';

const opened = new AsyncDisposableStack();
const environment = { HOUSE_KEY: 'a-credential-of-the-environment' };

interface Gateway {
  readonly directory: string;
  readonly apiOrigin: string;
  ask(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string }>;
}

interface SettingShown {
  readonly name: string;
  readonly value: string | null;
  readonly layer: string | null;
  readonly pending: { readonly value: string | null; readonly layer: string | null } | null;
}

let first: Gateway;
let secret = '';

/** A process of its own, as an operator starts it. */
async function begin(directory: string): Promise<Gateway> {
  const serving: ServingProcess = opened.use(await serveHeadgate({ dataDir: directory, environment }));
  const token = readFileSync(join(directory, 'operator-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    ...{ directory, apiOrigin: serving.ready.apiOrigin },
    ask: async (method, path, body) => {
      const url = `${serving.ready.consoleOrigin}/api/v1${path}`;
      const answer = await fetch(url, { method, headers, body: body ? JSON.stringify(body) : null });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

const rates = { requestsPerMinute: 60, concurrency: 8, models: { 'house-large': { tokensPerMinute: 9000 } } };
const budgets = { day: '2.5', month: '40', total: '400', alertAt: '0.5' };

/** Everything that the console can make, with members that are not the usual ones. */
const wishes: readonly (readonly [string, string, object])[] = [
  [
    ...(['POST', '/channels'] as const),
    {
      ...{ id: 'house', provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', allowPrivate: true },
      ...{
        credential: { environment: 'HOUSE_KEY' },
        alias: 'House "one": a # name',
        listed: true,
        priority: 2,
      },
      ...{ headers: { 'x-team': 'a: b' }, timeouts: { connect: '2s' }, maxConcurrency: 50, drain: true },
      models: {
        'gpt-5-mini': { upstream: 'gpt-5-mini-2025-08-07', lacks: ['file-input'] },
        'house-large': { upstream: 'large', contextWindow: 128_000 },
      },
    },
  ],
  [
    ...(['POST', '/channels'] as const),
    { id: 'kept', provider: 'openai', models: ['gpt-5-mini'], secret: 'canary-of-the-store', enabled: false },
  ],
  [
    ...(['POST', '/prices'] as const),
    {
      prices: {
        'house-large': [
          {
            input: '0.40',
            output: '1.60',
            tiers: [{ aboveInputTokens: 65_536, input: '0.8', output: '3.2' }],
          },
          { from: '2027-01-01', input: '0.50', output: '2' },
        ],
        'gpt-5-mini': { output: '2.20' },
      },
      costs: { house: { 'gpt-5-mini': { input: '0.275', output: '2.20' } } },
    },
  ],
  [
    ...(['POST', '/groups'] as const),
    {
      ...{ id: 'team', name: 'Team', platform: 'completions', multiplier: '1.15', models: ['gpt-5-mini'] },
      ...{ timezone: 'Europe/Berlin', budgets, limits: rates },
      routing: { preset: 'cost', channels: ['house'], hedging: true },
    },
  ],
  [
    ...(['POST', '/accounts'] as const),
    {
      ...{ id: 'partner', name: '合作伙伴', prepaid: true, creditLimit: '5', timezone: 'America/New_York' },
      ...{ showBalance: true, showKeys: true, groups: ['team'], discount: '12.5', budgets, limits: rates },
    },
  ],
  [
    ...(['POST', '/webhooks'] as const),
    {
      ...{ name: 'ops', url: 'https://ops.example.com/in?a=b', description: '- : Räume' },
      ...{ kinds: ['bug'], severity: 'warning', enabled: false },
    },
  ],
  ['PATCH', '/groups/team', { routing: { preset: 'balanced', channels: ['house'], hedging: true } }],
  ['PATCH', '/accounts/partner', { showKeys: false, budgets: { day: '9' } }],
  [
    ...(['PATCH', '/settings'] as const),
    {
      ...{ deploymentName: 'Gate: "one"', currency: 'CNY', currencyPerUsd: '7.12', attemptsMax: 5 },
      siblings: [{ name: 'Twin', consoleOrigin: 'https://console.example.cn', language: 'zh-CN' }],
    },
  ],
];

const keyWish = {
  ...{ account: 'partner', group: 'team', name: 'CI: #1', models: ['gpt-5-mini'], strict: true },
  ...{ expires: '2030-01-01T00:00:00Z', addressRanges: ['127.0.0.0/8', '::1/128'], budgets, limits: rates },
};

beforeAll(async () => {
  const { path } = opened.use(temporaryDirectory());
  writeFileSync(join(path, 'headgate.yaml'), 'deployment: {}\n');
  first = await begin(path);
  for (const [method, path_, body] of wishes) {
    const answer = await first.ask(method, path_, body);
    expect([method, path_, answer.status < 300 ? '' : answer.text]).toEqual([method, path_, '']);
  }
  const made = await first.ask('POST', '/keys', keyWish);
  expect(made.status, made.text).toBe(201);
  ({ secret } = JSON.parse(made.text) as { secret: string });
}, 60_000);
afterAll(() => opened.disposeAsync());

/** A directory whose keys are hashed as those of the first. */
function beside(): string {
  const { path } = opened.use(temporaryDirectory());
  mkdirSync(path, { recursive: true });
  copyFileSync(join(first.directory, 'pepper'), join(path, 'pepper'));
  return path;
}

/** Who declares a thing, and what has become of it since, is no part of what was configured. */
const moving = ['source', 'declared', 'createdAt', 'isReady', 'formerUntil', 'keeps'];
const plain = (text: string): unknown =>
  JSON.parse(text, (name, value: unknown) => (moving.includes(name) ? undefined : value));

/** Those that either layer of a deployment makes, as they are or will be with the next start. */
async function settingsMade({ ask }: Gateway): Promise<object> {
  const { items } = JSON.parse((await ask('GET', '/settings')).text) as { items: readonly SettingShown[] };
  const made = items.map(({ name, value, layer, pending }) => [name, pending ?? { value, layer }] as const);
  const configured = made.filter(([, { layer }]) => layer === 'console' || layer === 'file');
  return Object.fromEntries(configured.map(([name, { value }]) => [name, value]));
}

const shownPages = [
  '/accounts/partner',
  '/accounts/default',
  '/groups/team',
  '/webhooks/ops',
  '/channels/house',
];

test('what the console made starts a second gateway that is equal to the first', async () => {
  const { text: yaml } = await first.ask('GET', '/settings/export');
  expect(yaml).not.toMatch(/canary|whsec/);
  const directory = beside();
  writeFileSync(join(directory, 'headgate.yaml'), yaml);
  const second = await begin(directory);
  const settings = parse(yaml) as Record<string, unknown>;
  const again = parse((await second.ask('GET', '/settings/export')).text) as Record<string, unknown>;
  const { deployment: _, settings: __, ...things } = settings;
  expect(again).toEqual(things);
  expect(await settingsMade(second)).toEqual(await settingsMade(first));
  for (const path of shownPages) {
    const [here, there] = [await first.ask('GET', path), await second.ask('GET', path)];
    expect([path, plain(there.text)]).toEqual([path, plain(here.text)]);
  }
  const called = await fetch(`${second.apiOrigin}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(called.status).toBe(200);
}, 60_000);

test('it is imported into a store that has none of it, but for settings, which the command names', async () => {
  const { text: yaml } = await first.ask('GET', '/settings/export');
  const directory = beside();
  writeFileSync(join(directory, 'all.yaml'), yaml);
  const imported = await runCommand(['import', 'all.yaml'], { dataDir: directory, environment });
  expect(imported).toMatchObject({ code: 0, stderr: '' });
  const names = ['deployment.name', 'deployment.currency', 'deployment.siblings', 'settings.limits.attempts'];
  for (const name of names) expect(imported.stdout).toContain(name);
  const { stdout } = await runCommand(['export'], { dataDir: directory, environment });
  const { deployment: _, settings: __, ...things } = parse(yaml) as Record<string, unknown>;
  expect(parse(stdout)).toEqual(things);
}, 60_000);

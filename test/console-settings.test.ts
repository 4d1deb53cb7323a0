import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadCommandSettings } from '../packages/gateway/src/cli/command-settings.ts';
import { environmentOf } from '../packages/gateway/src/config.ts';
import { type RunningGateway, startGateway } from '../packages/gateway/src/main.ts';

let directory = '';
let gateway: RunningGateway;
let token = '';
let isRunning = false;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-console-settings-'));
});
afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true });
});

async function stop(): Promise<void> {
  if (isRunning) await gateway.stop();
  isRunning = false;
}

/** A start as `headgate serve` makes it, with the settings that the store keeps. */
async function start(yaml = 'groups: {}'): Promise<void> {
  writeFileSync(join(directory, 'headgate.yaml'), yaml);
  const environment = environmentOf({ HEADGATE_API_PORT: '0', HEADGATE_CONSOLE_PORT: '0' });
  const loaded = loadCommandSettings({ flags: { 'log-level': 'info' }, environment, directory });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  const { settings, file, layers } = loaded.value;
  const started = await startGateway(settings, environment, {
    file,
    layers,
    logFile: join(directory, 'log'),
  });
  if (!started.ok) throw new Error(JSON.stringify(started.error));
  gateway = started.value;
  isRunning = true;
  token = readFileSync(join(settings.dataDir, 'operator-token'), 'utf8').trim();
}

interface SettingShown {
  readonly name: string;
  readonly value: string | null;
  readonly place: string | null;
  readonly layer: string | null;
  readonly pending: { readonly value: string | null } | null;
}

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${gateway.consoleOrigin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', json, text };
}

async function shown(name: string): Promise<SettingShown | undefined> {
  const { json } = await ask('GET', '/settings');
  return (json['items'] as readonly SettingShown[]).find((item) => item.name === name);
}

test('what changes at once is in force at once, and all else waits for the next start', async () => {
  await start();
  const read = await ask('GET', '/settings');
  const siblings = [{ name: 'Twin', consoleOrigin: 'https://console.example.cn', language: 'zh-CN' }];
  const wishes = { deploymentName: 'Gate', apiOrigin: 'https://api.example.com', siblings, attemptsMax: 5 };
  const changed = await ask('PATCH', '/settings', wishes, { 'if-match': read.etag });
  expect(changed.status).toBe(200);
  expect(changed.etag).not.toBe(read.etag);
  expect((await ask('GET', '/session')).json).toMatchObject({
    deployment: { name: 'Gate', apiOrigin: 'https://api.example.com', siblings: [{ name: 'Twin' }] },
  });
  await vi.waitFor(async () => {
    const page = await fetch(`${gateway.consoleOrigin}/status.json`);
    expect(await page.json()).toMatchObject({ deployment: { name: 'Gate', siblings: [{ name: 'Twin' }] } });
  }, 10_000);
  expect(await shown('attemptsMax')).toMatchObject({ value: '3', layer: null, pending: { value: '5' } });
  expect((await ask('GET', '/sign-in/ways')).json).toMatchObject({ deployment: 'Gate', language: 'en' });
  await stop();
  await start();
  expect(await shown('attemptsMax')).toMatchObject({ value: '5', place: 'console', pending: null });
  expect(await ask('PATCH', '/settings', { attemptsMax: null, deploymentName: null })).toMatchObject({
    status: 200,
  });
  expect(await shown('attemptsMax')).toMatchObject({ value: '5', pending: { value: '3' } });
  expect((await ask('GET', '/session')).json).toMatchObject({ deployment: { name: 'Headgate' } });
});

test('a change that is wrong, late or not the console’s is refused by the name of its setting', async () => {
  await start('deployment: { name: Of the file }');
  const { etag } = await ask('GET', '/settings');
  const refused = await ask('PATCH', '/settings', { language: 'fr', currency: 'CNY', oneOfTomorrow: 1 });
  expect(refused).toMatchObject({
    status: 400,
    json: { errors: [{ field: 'language' }, { field: 'oneOfTomorrow' }] },
  });
  expect(await ask('PATCH', '/settings', { deploymentName: 'Gate' })).toMatchObject({
    status: 409,
    json: {
      errors: [{ field: 'deploymentName', message: expect.stringMatching(/headgate\.yaml:1:21/) as unknown }],
    },
  });
  expect(await ask('PATCH', '/settings', { logLevel: 'debug' })).toMatchObject({ status: 409 });
  expect(await ask('PATCH', '/settings', { currency: 'CNY' }, { 'if-match': etag })).toMatchObject({
    status: 200,
  });
  expect(await ask('PATCH', '/settings', { currency: 'EUR' }, { 'if-match': etag })).toMatchObject({
    status: 412,
  });
  for (const body of [[], 'text', null])
    expect((await ask('PATCH', '/settings', body as object)).status, JSON.stringify(body)).toBe(400);
  expect(await shown('currency')).toMatchObject({ value: 'CNY', layer: 'console' });
  const audit = (await ask('GET', '/audit?target=setting')).text;
  expect(audit).toContain('"action":"setting.change"');
  expect(audit).toContain('CNY');
});

test('a secret is written and never read, and a value of another version stops no start', async () => {
  await start();
  const wishes = { oidcClientSecret: 'canary-secret', upstreamProxyCredential: 'canary:secret' };
  const answers = [
    await ask('PATCH', '/settings', wishes),
    await ask('GET', '/settings'),
    await ask('GET', '/audit'),
    await ask('GET', '/settings/export'),
  ];
  for (const { text, status } of answers) {
    expect(status).toBe(200);
    expect(text).not.toContain('canary');
  }
  expect(await shown('oidcClientSecret')).toMatchObject({
    value: null,
    pending: { value: null, layer: 'console' },
  });
  const strange = [
    { name: 'ofTomorrow', text: 'x', sealed: null, changedAtMs: 1 },
    { name: 'attemptsMax', text: 'many', sealed: null, changedAtMs: 1 },
  ];
  await gateway.store.configuration.putSettings(strange, []);
  await stop();
  await start();
  const { json } = await ask('GET', '/settings');
  expect(json['leftOut']).toMatchObject([{ name: 'attemptsMax' }, { name: 'ofTomorrow' }]);
  const events = async () => (await ask('GET', '/events?kind=setting-left-out')).text;
  await vi.waitFor(async () => expect(await events()).toContain('setting:ofTomorrow'));
  expect(await ask('PATCH', '/settings', { ofTomorrow: null, attemptsMax: 4 })).toMatchObject({
    status: 200,
    json: { leftOut: [] },
  });
});

test('what another process makes is followed, and the export declares the same again', async () => {
  await start();
  const siblings = [{ name: 'Twin', consoleOrigin: 'https://console.example.cn' }];
  const wishes = { siblings, currency: 'CNY', currencyPerUsd: '7.12', stallTimeoutMs: '45s', callLog: false };
  expect((await ask('PATCH', '/settings', wishes)).status).toBe(200);
  // As a command beside it does.
  const other = [{ name: 'deploymentName', text: 'Of a command', sealed: null, changedAtMs: 1 }];
  await gateway.store.configuration.putSettings(other, []);
  await vi.waitFor(async () =>
    expect((await ask('GET', '/session')).json).toMatchObject({ deployment: { name: 'Of a command' } }),
  );
  const yaml = (await ask('GET', '/settings/export')).text;
  await stop();
  rmSync(join(directory, 'data'), { recursive: true });
  await start(yaml);
  expect((await ask('GET', '/session')).json).toMatchObject({
    deployment: {
      name: 'Of a command',
      currency: 'CNY',
      currencyPerUsd: '7.12',
      siblings: [{ name: 'Twin' }],
    },
  });
  expect(await shown('stallTimeoutMs')).toMatchObject({ value: '45s', layer: 'file' });
  expect(await shown('siblings')).toMatchObject({ layer: 'file', value: JSON.stringify(siblings) });
});

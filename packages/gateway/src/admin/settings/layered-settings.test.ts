import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { environmentOf, givenSettings, readSettings } from '../../config.ts';
import type { StoredSetting } from '../../ports/configuration-store.ts';
import { openSealingKeys, sealAt } from '../secrets/sealed-secrets.ts';
import { settingPlace, withConsole, withoutConsole } from './layered-settings.ts';
import { RunningSettings } from './running-settings.ts';
import { settingNamed } from './settings-report.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-layers-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const nothing = environmentOf({});

function declared(flags: Readonly<Record<string, string>> = {}, yaml = '') {
  const file = readConfigurationFile(yaml, 'headgate.yaml');
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  const sources = { flags: { 'data-dir': directory, ...flags }, environment: nothing, file: file.value };
  const settings = readSettings(sources);
  if (!settings.ok) throw new Error(JSON.stringify(settings.error));
  return { settings: settings.value, given: givenSettings(sources) };
}

const kept = (name: string, text: string): StoredSetting => ({ name, text, sealed: null, changedAtMs: 1 });

test('the console says what nothing above it says, and all else is as it was', () => {
  const yaml = 'deployment: { name: Of the file }';
  const stored = [
    ...[kept('deploymentName', 'Of the console'), kept('language', 'zh-CN'), kept('logLevel', 'debug')],
    kept('attemptsMax', '5'),
  ];
  const { settings, given, leftOut } = withConsole(declared({ 'log-level': 'warn' }, yaml), stored, nothing);
  expect(settings).toMatchObject({ deploymentName: 'Of the file', language: 'zh-CN', logLevel: 'warn' });
  expect(settings).toMatchObject({ attemptsMax: 5, stallTimeoutMs: 60_000, dataDir: directory });
  expect(given).toMatchObject({
    ...{ language: { text: 'zh-CN', where: 'console', layer: 'console' }, logLevel: { layer: 'flag' } },
    deploymentName: { where: 'headgate.yaml:1:21', layer: 'file' },
  });
  expect(leftOut).toEqual([]);
});

test('the file that the settings were read from is not kept with them', () => {
  const file = readConfigurationFile('deployment: { name: Gate }', 'headgate.yaml');
  const { settings, given } = declared();
  const layers = withConsole(Object.assign({ settings, given }, { file }), [], nothing);
  expect([Object.keys(layers), Object.keys(layers.declared)]).toEqual([
    ['settings', 'given', 'declared', 'leftOut'],
    ['settings', 'given'],
  ]);
});

test('what this version does not know, does not change there or cannot read is left out, and the rest is followed', () => {
  const stored = [
    ...[kept('ofTomorrow', '1'), kept('apiPort', '1'), kept('attemptsMax', 'many'), kept('__proto__', 'x')],
    ...[kept('siblings', '[{}]'), kept('currency', 'CNY')],
    { name: 'oidcClientSecret', text: null, sealed: { keyId: 'other', sealed: 'v1.a.b.c' }, changedAtMs: 1 },
  ];
  const { settings, leftOut } = withConsole(declared(), stored, nothing);
  expect(settings).toMatchObject({ apiPort: 8080, attemptsMax: 3, siblings: [], currency: 'CNY' });
  expect(leftOut).toEqual([
    { name: 'ofTomorrow', reason: 'this version has no such setting' },
    { name: 'apiPort', reason: expect.stringContaining('where the gateway listens') as unknown },
    { name: 'attemptsMax', reason: expect.stringContaining('is not a whole number') as unknown },
    { name: '__proto__', reason: 'this version has no such setting' },
    { name: 'siblings', reason: expect.stringContaining('0.name') as unknown },
    { name: 'oidcClientSecret', reason: expect.stringContaining('credentials-key is gone') as unknown },
  ]);
});

test('settings that would together keep a gateway from starting are left out together', () => {
  const half = [kept('oidcIssuer', 'https://login.example.com'), kept('deploymentName', 'Gate')];
  const { settings, leftOut } = withConsole(declared(), half, nothing);
  expect(settings).toMatchObject({ oidcIssuer: null, deploymentName: 'Gate' });
  const reason: unknown = expect.stringContaining('oidc.clientId');
  expect(leftOut).toEqual([{ name: 'oidcIssuer', reason }]);
  const whole = [
    ...[...half, kept('oidcClientId', 'gate'), kept('consoleOrigin', 'https://console.example.com')],
  ];
  expect(withConsole(declared(), whole, nothing)).toMatchObject({
    settings: { oidcIssuer: 'https://login.example.com', oidcClientId: 'gate' },
    leftOut: [],
  });
  const proxy = [kept('upstreamProxy', 'environment')];
  const environment = environmentOf({ HTTPS_PROXY: 'ftp://proxy' });
  expect(withConsole(declared(), proxy, environment)).toMatchObject({
    settings: { upstreamProxy: 'none' },
    leftOut: [{ name: 'upstreamProxy' }],
  });
});

test('a secret is opened for its own setting and for no other, and told with its place alone', () => {
  const keys = openSealingKeys(directory);
  if (!keys.ok) throw new Error(keys.error);
  const sealed = sealAt(keys.value, settingPlace('oidcClientSecret'), 'canary');
  const secret = { name: 'oidcClientSecret', text: null, sealed, changedAtMs: 1 };
  const { settings, given } = withConsole(declared(), [secret], nothing);
  expect(settings.oidcClientSecret).toBe('canary');
  expect(given.oidcClientSecret).toEqual({ text: '', where: 'console', layer: 'console' });
  const other = { ...secret, sealed: { ...sealed, keyId: 'other' } };
  const reason: unknown = expect.stringContaining('sealed under the key other');
  expect(withConsole(declared(), [other], nothing).leftOut).toEqual([{ name: 'oidcClientSecret', reason }]);
  const moved = withConsole(declared(), [{ ...secret, name: 'upstreamProxyCredential' }], nothing);
  expect(moved).toMatchObject({ settings: { upstreamProxyCredential: null }, leftOut: [{}] });
});

test('of a process that runs some settings change at once, and the others wait for its next start', async () => {
  const running = new RunningSettings(withoutConsole(declared().settings), nothing);
  const { inForce } = running;
  let heard = 0;
  running.onChange(() => heard++);
  let stored = [kept('deploymentName', 'Gate'), kept('attemptsMax', '5')];
  const store = { settings: () => Promise.resolve(stored) };
  const before = JSON.stringify(running.version);
  await running.refresh(store);
  await running.refresh(store);
  expect([heard, inForce.deploymentName, inForce.attemptsMax]).toEqual([1, 'Gate', 3]);
  expect(JSON.stringify(running.version)).not.toBe(before);
  const reportOf = (name: string) => running.report().find((row) => row.name === name);
  expect(reportOf('deploymentName')).toMatchObject({ value: 'Gate', layer: 'console', pending: null });
  expect(reportOf('attemptsMax')).toMatchObject({
    ...{ value: '3', layer: null, place: null, changes: 'restart' },
    pending: { value: '5', layer: 'console' },
  });
  stored = [];
  await running.refresh(store);
  expect([heard, inForce.deploymentName]).toEqual([2, 'Headgate']);
  expect(reportOf('attemptsMax')).toMatchObject({ pending: null });
  expect(reportOf('apiPort')).toMatchObject({ changes: 'never', fixedBecause: 'address' });
});

test('a start goes on from what the console said then, and taking it back waits for the next one', async () => {
  const started = withConsole(declared(), [kept('attemptsMax', '5')], nothing);
  const running = new RunningSettings(started, nothing);
  await running.refresh({
    settings: () => Promise.resolve([kept('attemptsMax', '5'), kept('language', 'en')]),
  });
  const attempts = () => running.report().find(({ name }) => name === 'attemptsMax');
  expect(attempts()).toMatchObject({ value: '5', layer: 'console', pending: null });
  await running.refresh({ settings: () => Promise.resolve([]) });
  expect(attempts()).toMatchObject({ value: '5', layer: 'console', pending: { value: '3', layer: null } });
});

test('a value that was taken back between the reading of a start and its store waits for the next start', async () => {
  const running = new RunningSettings(withConsole(declared(), [kept('attemptsMax', '5')], nothing), nothing);
  await running.refresh({ settings: () => Promise.resolve([]) });
  const attempts = running.report().find(({ name }) => name === 'attemptsMax');
  expect(attempts).toMatchObject({ value: '5', pending: { value: '3' } });
});

test('a setting is named by its name, its place in the file or its flag', () => {
  const words = ['deploymentName', 'deployment.name', 'deployment-name', '--deployment-name', 'toString'];
  const name = 'deploymentName';
  expect(words.map(settingNamed)).toEqual([name, name, name, name, null]);
});

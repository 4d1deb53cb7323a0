import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { settingRows } from '../../config/settings-table.ts';
import { environmentOf, givenSettings, readSettings } from '../../config.ts';
import type { Store } from '../../ports/store.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { readStoredSettings } from '../../store/sqlite/read-settings.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { exportConfiguration } from '../export-configuration.ts';
import { storeFile } from '../owner-files.ts';
import { commandLine } from '../people/actor.ts';
import { changeSettings, type SettingWishes } from './change-settings.ts';
import { withConsole } from './layered-settings.ts';

let directory = '';
let store: Store;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-settings-'));
  store = await openSqliteStore({
    ...{ file: storeFile(directory), durability: 'strict', onAlarm: () => undefined },
    clock: { now: () => 1, monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
  });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const environment = environmentOf({});
const sourcesWith = (flags: Readonly<Record<string, string>>, yaml: string) => {
  const file = readConfigurationFile(yaml, 'headgate.yaml');
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  return { flags: { 'data-dir': directory, ...flags }, environment, file: file.value };
};

function declaredBy(flags: Readonly<Record<string, string>> = {}, yaml = '') {
  const sources = sourcesWith(flags, yaml);
  const settings = readSettings(sources);
  if (!settings.ok) throw new Error(JSON.stringify(settings.error));
  return { settings: settings.value, given: givenSettings(sources) };
}

const declared = () => declaredBy();
const change = (wishes: SettingWishes, above = declared()) =>
  changeSettings({ store, declared: above, environment, actor: commandLine, nowMs: 1 }, wishes);
const rows = () => store.audit.list({ accounts: 'all' }, 50, null);

test('settings are kept all or none, and each change is noted with what was and what is', async () => {
  expect(await change({ deploymentName: ' Gate ', attemptsMax: 5, callLog: false })).toEqual({
    ok: true,
    value: ['deploymentName', 'attemptsMax', 'callLog'],
  });
  const wrong = { language: 'fr', deploymentname: 'x', apiPort: '1', attemptsMax: { a: 1 }, currency: 'CNY' };
  expect(await change(wrong)).toMatchObject({
    ok: false,
    error: {
      kind: 'invalid',
      mistakes: [
        { field: 'language', message: 'is not one of en, zh-CN' },
        { field: 'deploymentname', message: 'there is no such setting; did you mean "deploymentName"?' },
        { field: 'apiPort', message: expect.stringContaining('where the gateway listens') as unknown },
        { field: 'attemptsMax', message: 'is not a whole number from 1 to 10' },
      ],
    },
  });
  const revision = await store.configuration.revision();
  expect(await change({ deploymentName: 'Gate' })).toEqual({ ok: true, value: [] });
  expect(await change({ deploymentName: 'Other', attemptsMax: null, logLevel: null })).toMatchObject({
    value: ['deploymentName', 'attemptsMax'],
  });
  expect(await store.configuration.revision()).toBe(revision + 1);
  expect(await store.configuration.settings()).toEqual([
    { name: 'callLog', text: 'false', sealed: null, changedAtMs: 1 },
    { name: 'deploymentName', text: 'Other', sealed: null, changedAtMs: 1 },
  ]);
  const noted = (await rows()).map(({ action, target, before, after }) => [action, target.id, before, after]);
  expect(noted).toHaveLength(5);
  expect(noted).toContainEqual(['setting.change', 'deploymentName', { value: 'Gate' }, { value: 'Other' }]);
  expect(noted).toContainEqual(['setting.change', 'attemptsMax', { value: '5' }, { value: null }]);
});

test('what is declared above the console is changed there, and may be taken away here', async () => {
  await change({ deploymentName: 'Gate', logLevel: 'debug' });
  const above = declaredBy({ 'log-level': 'warn' }, 'deployment: { name: Of the file }');
  expect(await change({ deploymentName: 'Other' }, above)).toMatchObject({
    error: {
      kind: 'declared',
      mistake: { field: 'deploymentName', message: expect.stringContaining('headgate.yaml:1:21') as unknown },
    },
  });
  expect(await change({ logLevel: 'info' }, above)).toMatchObject({ error: { kind: 'declared' } });
  const secretFile = declaredBy({ 'oidc-client-secret-file': 'secret' });
  expect(await change({ oidcClientSecret: 'another' }, secretFile)).toMatchObject({
    error: { kind: 'declared' },
  });
  expect(await change({ logLevel: null }, above)).toMatchObject({ ok: true, value: ['logLevel'] });
});

test('no setting that names a place on the machine, or where it listens, is made in the console', async () => {
  const fixed = settingRows().filter(([, { changes }]) => !['now', 'restart'].includes(changes));
  expect(fixed.map(([name]) => name)).toEqual([
    ...['apiHost', 'apiPort', 'consoleHost', 'consolePort', 'oidcClientSecretFile', 'dataDir', 'config'],
    ...['readyFile', 'demo', 'demoHistory', 'statusDirectory', 'pepper'],
  ]);
  // The directory itself is declared, or there would be no store.
  for (const [name, { changes }] of fixed.filter(([name]) => name !== 'dataDir'))
    expect(await change({ [name]: '1' }), `${name}, ${changes}`).toMatchObject({
      error: {
        mistakes: [
          { field: name, message: expect.stringContaining('not changed in the console') as unknown },
        ],
      },
    });
  // Rows that came about otherwise are not followed either.
  const rowsOfFixed = fixed.map(([name]) => ({ name, text: '1', sealed: null, changedAtMs: 1 }));
  expect(withConsole(declared(), rowsOfFixed, environment).settings).toEqual(declared().settings);
});

test('what would keep the next start from going well is not kept', async () => {
  expect(await change({ oidcIssuer: 'https://login.example.com' })).toMatchObject({
    error: { kind: 'invalid', mistakes: [{ field: 'oidcIssuer' }] },
  });
  const whole = {
    ...{ oidcIssuer: 'https://login.example.com', oidcClientId: 'gate', oidcClientSecret: 'canary-secret' },
    consoleOrigin: 'https://console.example.com',
  };
  expect(await change(whole)).toMatchObject({ ok: true });
  expect(await change({ consoleOrigin: null })).toMatchObject({ ok: false });
  expect(await change({ oidcClientId: null })).toMatchObject({ ok: false });
  expect(
    await change({ upstreamProxyCredential: 'nobody', upstreamProxy: 'http://p.example:1' }),
  ).toMatchObject({
    ok: false,
  });
});

test('a change is not refused for what was wrong before it', async () => {
  const yaml = 'settings: { oidc: { issuer: "https://login.example.com", clientId: gate } }';
  const above = declaredBy({}, yaml);
  expect(await change({ logLevel: 'debug' }, above)).toMatchObject({ ok: true });
  expect(await change({ consoleOrigin: 'https://console.example.com' }, above)).toMatchObject({ ok: true });
  expect(await change({ consoleOrigin: null }, above)).toMatchObject({
    error: {
      mistakes: [{ field: 'consoleOrigin', message: expect.stringContaining('is needed') as unknown }],
    },
  });
});

test('a secret is sealed, and is in no row, note or export', async () => {
  await change({ consoleOrigin: 'https://console.example.com', oidcClientSecret: 'canary-secret' });
  await change({ oidcIssuer: 'https://login.example.com', oidcClientId: 'gate' });
  const stored = await store.configuration.settings();
  expect(withConsole(declared(), stored, environment).settings.oidcClientSecret).toBe('canary-secret');
  const secret = stored.find(({ name }) => name === 'oidcClientSecret');
  expect(secret).toMatchObject({ text: null, sealed: { sealed: expect.stringMatching(/^v1\./) as unknown } });
  const told = JSON.stringify([stored, await rows()]);
  expect(told).not.toContain('canary');
  expect(told).toContain('(sealed)');
  const text = exportConfiguration(await store.configuration.load(), [], 1);
  expect(text).not.toContain('canary');
  expect(readFileSync(storeFile(directory)).includes('canary')).toBe(false);
});

test('a value of another version may be taken away, though nobody knows it', async () => {
  const strange = [{ name: 'ofTomorrow', text: '1', sealed: null, changedAtMs: 1 }];
  await store.configuration.putSettings(strange, []);
  expect(await change({ ofTomorrow: '2' })).toMatchObject({ ok: false });
  expect(await change({ ofTomorrow: null })).toEqual({ ok: true, value: ['ofTomorrow'] });
  expect(await change({ ofTomorrow: null })).toMatchObject({ ok: false });
  expect(await store.configuration.settings()).toEqual([]);
});

test('all that may be made here is exported as YAML, which declares the same again', async () => {
  const siblings = [{ name: 'Twin: "CN"', consoleOrigin: 'https://cn.example.com', language: 'zh-CN' }];
  const lists = { corsOrigins: 'https://a.example, https://b.example', trustedProxies: '10.0.0.0/8' };
  const odd = { upstreamProxy: 'http://p.example:1', consoleOrigin: 'https://console.example.com' };
  const oidc = { oidcIssuer: 'https://login.example.com', oidcClientId: 'gate', oidcRoleClaim: 'groups' };
  const wishes: SettingWishes = Object.fromEntries(
    settingRows()
      .filter(([, { changes, section }]) => ['now', 'restart'].includes(changes) && section !== 'Secrets')
      .flatMap(([name, { read, defaultText }]) => (read(defaultText).ok ? [[name, defaultText]] : [])),
  );
  const all = { ...wishes, siblings, ...lists, ...odd, ...oidc, oidcRoles: 'ops=operator', currency: 'CNY' };
  expect(await change(all)).toMatchObject({ ok: true });
  const text = exportConfiguration(await store.configuration.load(), [], 1);
  expect(parse(text)).toMatchObject({ deployment: { siblings, currency: 'CNY' } });
  const here = withConsole(declared(), await store.configuration.settings(), environment);
  const again = declaredBy({}, text);
  expect(again.settings).toEqual(here.settings);
  expect(Object.keys(again.given).toSorted()).toEqual(Object.keys(here.given).toSorted());
});

test('a start reads what is kept before the store is open, and nothing where there is none', async () => {
  await change({ deploymentName: 'Gate' });
  expect(readStoredSettings(storeFile(directory))).toEqual(await store.configuration.settings());
  expect(readStoredSettings(join(directory, 'nothing'))).toEqual([]);
});

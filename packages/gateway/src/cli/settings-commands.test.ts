import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '@headgate/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { loadCommandSettings } from './command-settings.ts';
import { runCommandLine } from './run.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-settings-commands-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function headgate(...words: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(words, {
    environment: environmentOf({}),
    directory,
    stopping: () => AbortSignal.abort(),
    version: '1.2.3',
    readSecret: () => Promise.resolve(succeed('canary-secret\n')),
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

test('settings are made, listed with where they are from, and taken away', async () => {
  expect((await headgate('settings', 'list')).out).toContain('All settings are as they come');
  expect(await headgate('settings', 'set', 'deployment.name', 'Gate')).toMatchObject({
    code: 0,
    out: expect.stringContaining('In force within a second') as unknown,
  });
  expect(await headgate('settings', 'set', 'attempts-max', '5')).toMatchObject({
    code: 0,
    out: expect.stringContaining('headgate restart') as unknown,
  });
  writeFileSync(join(directory, 'headgate.yaml'), 'settings: { log: { level: warn } }\n');
  const { out } = await headgate('settings', 'list');
  expect(out).toMatch(/deployment\.name +Gate +console +at once/);
  expect(out).toMatch(/settings\.limits\.attempts +5 +console +with a restart/);
  expect(out).toMatch(/settings\.log\.level +warn +\S*headgate\.yaml:1:27 +at once/);
  expect(out).not.toContain('settings.timeouts.call');
  expect((await headgate('settings', 'list', '--all')).out).toContain('settings.timeouts.call');
  const loaded = loadCommandSettings({ flags: {}, environment: environmentOf({}), directory });
  expect(loaded).toMatchObject({ value: { settings: { deploymentName: 'Gate', attemptsMax: 5 } } });
  expect((await headgate('doctor', '--no-network')).out).toContain('2 settings of the console');
  expect(await headgate('settings', 'unset', 'deployment-name', 'attemptsMax')).toMatchObject({ code: 0 });
  expect(JSON.parse((await headgate('settings', 'list', '--json')).out)).toMatchObject({
    settings: [{ name: 'logLevel', layer: 'file' }],
    leftOut: [],
  });
});

test('what is wrong is said by its name, and what is declared by its place', async () => {
  writeFileSync(join(directory, 'headgate.yaml'), 'deployment: { name: Of the file }\n');
  expect(await headgate('settings', 'set', 'deployment.name', 'Gate')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/deploymentName: is declared at \S*headgate\.yaml:1:21/) as unknown,
  });
  expect(await headgate('settings', 'set', 'languge', 'en')).toMatchObject({
    code: 1,
    err: expect.stringContaining('did you mean "language"') as unknown,
  });
  expect(await headgate('settings', 'set', 'api-port', '9000')).toMatchObject({ code: 1 });
  expect(await headgate('settings', 'set', 'language')).toMatchObject({ code: 2 });
});

test('a secret comes by standard input, and is nowhere told', async () => {
  expect(await headgate('settings', 'set', 'oidcClientSecret', 'canary-secret')).toMatchObject({ code: 2 });
  expect(await headgate('settings', 'set', 'oidcClientSecret')).toMatchObject({ code: 0 });
  const { out } = await headgate('settings', 'list', '--all');
  expect(out).toMatch(/oidcClientSecret +\(secret\) +console/);
  expect(out + (await headgate('export')).out).not.toContain('canary');
  const loaded = loadCommandSettings({ flags: {}, environment: environmentOf({}), directory });
  expect(loaded).toMatchObject({ value: { settings: { oidcClientSecret: 'canary-secret' } } });
});

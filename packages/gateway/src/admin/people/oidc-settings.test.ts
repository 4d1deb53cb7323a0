import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { environmentOf, readSettings } from '../../config.ts';
import { readOidcSettings } from './oidc-settings.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-oidc-settings-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const whole = {
  HEADGATE_CONSOLE_ORIGIN: 'https://console.example.com',
  HEADGATE_OIDC_ISSUER: 'https://login.example.com/realms/one',
  HEADGATE_OIDC_CLIENT_ID: 'headgate',
};

function read(variables: Readonly<Record<string, string>>) {
  const settings = readSettings({ flags: {}, environment: environmentOf(variables), file: null });
  if (!settings.ok) throw new Error(JSON.stringify(settings.error));
  return readOidcSettings(settings.value);
}

test('without an issuer there is no provider', () => {
  expect(read({})).toEqual({ ok: true, value: null });
});

test('a provider is read, with its secret from the variable or from a file', () => {
  const file = join(directory, 'secret');
  writeFileSync(file, 'from the file\n');
  const roles = {
    HEADGATE_OIDC_ROLE_CLAIM: 'groups',
    HEADGATE_OIDC_ROLES: 'ops=operator, lab=viewer:research',
  };
  expect(read({ ...whole, ...roles, HEADGATE_OIDC_CLIENT_SECRET_FILE: file })).toMatchObject({
    ok: true,
    value: {
      ...{ issuer: whole.HEADGATE_OIDC_ISSUER, clientId: 'headgate', clientSecret: 'from the file' },
      roleRules: [
        { value: 'ops', grant: { role: 'operator' } },
        { value: 'lab', grant: { role: 'viewer', accountId: 'research' } },
      ],
    },
  });
  const both = {
    ...whole,
    HEADGATE_OIDC_CLIENT_SECRET_FILE: file,
    HEADGATE_OIDC_CLIENT_SECRET: 'from the variable',
  };
  expect(read(both)).toMatchObject({ value: { clientSecret: 'from the variable', roleRules: [] } });
});

test.each([
  ['an issuer alone', { HEADGATE_OIDC_CLIENT_ID: '' }, 'clientId'],
  ['a client alone', { HEADGATE_OIDC_ISSUER: '' }, 'issuer'],
  ['a provider without an origin of the console', { HEADGATE_CONSOLE_ORIGIN: '' }, 'consoleOrigin'],
  ['plain http', { HEADGATE_OIDC_ISSUER: 'http://login.example.com' }, 'https'],
  ['roles without a claim', { HEADGATE_OIDC_ROLES: 'a=operator' }, 'roleClaim'],
  ['a claim without roles', { HEADGATE_OIDC_ROLE_CLAIM: 'groups' }, 'roleClaim'],
  ['a file that is not there', { HEADGATE_OIDC_CLIENT_SECRET_FILE: '/nowhere/at/all' }, 'cannot be read'],
])('%s is told with what is missing', (_, change, said) => {
  const problems = read({ ...whole, ...change });
  expect(problems.ok).toBe(false);
  expect(JSON.stringify(problems)).toContain(said);
});

test.each(['a=owner', 'a=member', 'a=operator:lab', '=operator', 'a', ''])('%j are no roles', (roles) => {
  const environment = environmentOf({ HEADGATE_OIDC_ROLES: roles || ' ' });
  expect(readSettings({ flags: {}, environment, file: null })).toMatchObject({ ok: false });
});

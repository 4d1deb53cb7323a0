import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { buildWebhooks, type DeclaredWebhook } from '../../catalogue/webhooks.ts';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { environmentOf } from '../../config.ts';
import type { StoredConfiguration } from '../../ports/configuration-store.ts';
import { exportConfiguration } from '../export-configuration.ts';
import { declareFile } from './declare-file.ts';

const tools = {
  catalogue: { provider: () => null, providerIds: [] },
  environment: environmentOf({}),
  hashKey: () => 'hash',
  olderHashes: () => [],
  fingerprints: [],
  nowMs: 0,
} as unknown as Parameters<typeof declareFile>[1]; // A file of webhooks alone asks for nothing else.

/** The problems of a file with these webhooks, or what it declares. */
function declared(...webhooks: readonly object[]): readonly string[] | readonly DeclaredWebhook[] {
  const file = readConfigurationFile(JSON.stringify({ alerts: { webhooks } }), 'headgate.yaml');
  const result = file.ok ? declareFile(file.value, tools) : file;
  if (result.ok) return result.value.webhooks ?? [];
  return result.error.map(({ path, message }) => `${path}: ${message}`);
}

const plain = { name: 'ops', url: 'https://ops.example.com/x', secret: { environment: 'OPS' } };
const usual: DeclaredWebhook = {
  ...{ id: 'ops', url: plain.url, secret: { kind: 'environment', name: 'OPS' } },
  ...{ kinds: null, severity: 'info', allowPrivate: false, description: null, enabled: true },
};

test('a webhook is what a file says, and the usual where it says nothing', () => {
  expect(declared(plain)).toEqual([usual]);
  const more = { kinds: ['bug'], severity: 'error', allowPrivate: true, url: 'http://10.0.0.1:8080/' };
  expect(declared({ ...plain, ...more, secret: { command: ['x'] } })).toEqual([
    { ...usual, ...more, secret: { kind: 'command', words: ['x'], refreshMs: null } },
  ]);
});

test.each([
  [{ name: 'Ops!' }, 'alerts.webhooks.0.name: must be lower-case letters'],
  [{ url: 'ftp://x' }, 'alerts.webhooks.0.url: must be an https URL without user name or fragment'],
  [{ url: 'https://user:word@x.example' }, 'alerts.webhooks.0.url: must be an https URL'],
  [{ url: 'http://ops.example.com' }, 'alerts.webhooks.0.url: must be https, unless allowPrivate is true'],
  [{ secret: 'whsec_xxx' }, 'alerts.webhooks.0.secret: must say where the secret is'],
  [{ kinds: ['bugs'] }, 'alerts.webhooks.0.kinds.0: there is no "bugs"; did you mean "bug"?'],
  [{ kinds: ['zebra'] }, 'alerts.webhooks.0.kinds.0: must be balance-exhausted or '],
  [{ kinds: [] }, 'alerts.webhooks.0.kinds: '],
  [{ severity: 'loud' }, 'alerts.webhooks.0.severity: must be error or warning or info'],
  [{ sekret: 'x' }, 'alerts.webhooks.0.sekret: there is no such member; did you mean "secret"?'],
])('%j is refused by its place', (change, problem) => {
  const problems = declared({ ...plain, ...change });
  expect(problems).toEqual([expect.stringContaining(problem)]);
  expect(JSON.stringify(problems)).not.toContain('whsec');
});

test('two of one name are refused', () => {
  expect(declared(plain, plain)).toEqual(['alerts.webhooks.1.name: is the name of another webhook, too']);
});

test('an export declares the same again, with the place of the secret alone', () => {
  const stored = { ...nothing, webhooks: [usual, { ...usual, id: 'b', kinds: ['bug'] }] };
  const { alerts } = parse(exportConfiguration(stored as unknown as StoredConfiguration, [], 0)) as {
    alerts: { webhooks: object[] };
  };
  expect(alerts.webhooks).toEqual([plain, { ...plain, name: 'b', kinds: ['bug'] }]);
  expect(declared(...alerts.webhooks)).toEqual(stored.webhooks);
});

const nothing = { providers: {}, models: [], channels: [], accounts: [], groups: [], keys: [] };

describe('in the catalogue', () => {
  const build = (secret: string | null, webhook = usual) =>
    buildWebhooks([{ ...webhook, source: 'file' }], [], {
      secret: () =>
        secret === null ? { ok: false, error: 'the variable OPS is not set' } : { ok: true, value: secret },
      proxyFor: () => ({ url: 'http://proxy.example', authorization: null }),
    });

  test('one whose secret is missing, or too short, is a gap, and is sent nothing', () => {
    expect(build(null)).toMatchObject({
      webhooks: [{ id: 'ops', secrets: [] }],
      gaps: [{ id: 'ops', detail: 'its secret is missing: the variable OPS is not set' }],
    });
    expect(build('x'.repeat(15)).gaps).toEqual([
      { id: 'ops', detail: 'its secret has fewer than 16 characters' },
    ]);
    expect(build('x'.repeat(16))).toMatchObject({
      webhooks: [{ secrets: [{ secret: 'x'.repeat(16), untilMs: null }] }],
      gaps: [],
    });
  });

  test('it goes through the proxy of the server, unless it is of the operator’s own network', () => {
    expect(build('x'.repeat(16)).webhooks[0]?.proxy).not.toBeNull();
    expect(build('x'.repeat(16), { ...usual, allowPrivate: true }).webhooks[0]?.proxy).toBeNull();
  });
});

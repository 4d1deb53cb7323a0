import { describe, expect, test } from 'vitest';
import { readConfigurationFile } from './config/configuration-file.ts';
import { settingsHelp } from './config/published-files.ts';
import { settingRows } from './config/settings-table.ts';
import { describeProblem } from './config/yaml-source.ts';
import { environmentOf, readSettings, type SettingSources } from './config.ts';

function read(sources: Partial<Omit<SettingSources, 'file'>> & { readonly yaml?: string } = {}) {
  const file = sources.yaml === undefined ? null : readConfigurationFile(sources.yaml, 'headgate.yaml');
  if (file !== null && !file.ok) throw new Error(file.error.map(describeProblem).join('\n'));
  return readSettings({ flags: {}, environment: environmentOf({}), ...sources, file: file?.value ?? null });
}

describe('settings', () => {
  test('the defaults are those of product.md', () => {
    expect(read()).toMatchObject({
      ok: true,
      value: {
        apiHost: '127.0.0.1',
        apiPort: 8080,
        consolePort: 8081,
        dataDir: './data',
        bodyBytesMax: 33_554_432,
        headerBytesMax: 16_384,
        connectTimeoutMs: 5_000,
        firstContentTimeoutMs: 30_000,
        firstContentReasoningTimeoutMs: 180_000,
        stallTimeoutMs: 60_000,
        callTimeoutMs: 600_000,
        attemptsMax: 3,
        corsOrigins: [],
        pepper: null,
      },
    });
  });

  test('flags win over the environment, the environment over the file, the file over the default', () => {
    const yaml = 'settings: { api: { port: 1 }, console: { port: 1 }, limits: { attempts: 1 } }';
    const environment = environmentOf({ HEADGATE_API_PORT: '2', HEADGATE_CONSOLE_PORT: '2' });
    expect(read({ flags: { 'api-port': '3' }, environment, yaml })).toMatchObject({
      ok: true,
      value: { apiPort: 3, consolePort: 2, attemptsMax: 1, language: 'en' },
    });
  });

  test('an empty variable counts as absent', () => {
    expect(read({ environment: environmentOf({ HEADGATE_API_PORT: '' }) })).toMatchObject({
      value: { apiPort: 8080 },
    });
  });

  test('every mistake is reported with the place it was made at', () => {
    const result = read({
      flags: { 'api-port': '70000', 'log-level': 'loud' },
      environment: environmentOf({ HEADGATE_BODY_MAX: '32MB', HEADGATE_PEPPER: '' }),
      yaml: 'settings:\n  timeouts:\n    stall: 60\n  api: { corsOrigins: "https://a.example/path" }\n',
    });
    if (result.ok) throw new Error('the settings are wrong');
    expect(result.error.map(({ where }) => where)).toEqual([
      '--api-port',
      'headgate.yaml:4:23',
      'HEADGATE_BODY_MAX',
      'headgate.yaml:3:12',
      '--log-level',
    ]);
    expect(result.error.map(describeProblem)).toContain(
      '--log-level: "loud" is not one of debug, info, warn, error',
    );
  });

  test.each([
    ['stall-timeout', '1h', { stallTimeoutMs: 3_600_000 }],
    ['stall-timeout', '250ms', { stallTimeoutMs: 250 }],
    ['body-max', '1GiB', { bodyBytesMax: 1_073_741_824 }],
    ['body-max', '2048 B', { bodyBytesMax: 2048 }],
    [
      'cors-origins',
      'https://a.example, http://localhost:3000',
      { corsOrigins: ['https://a.example', 'http://localhost:3000'] },
    ],
    ['api-origin', 'https://api.example.com', { apiOrigin: 'https://api.example.com' }],
    ['call-log', 'false', { callLog: false }],
  ])('--%s %s', (flag, text, expected) => {
    expect(read({ flags: { [flag]: text } })).toMatchObject({ ok: true, value: expected });
  });

  test.each([
    ['stall-timeout', '25h'],
    ['stall-timeout', '-1s'],
    ['body-max', '1'],
    ['attempts-max', '0'],
    ['attempts-max', '1.5'],
    ['api-origin', 'https://user@api.example.com'],
    ['api-origin', 'ftp://api.example.com'],
    ['call-log', 'maybe'],
    ['api-host', ''],
  ])('refuses --%s %j', (flag, text) => {
    expect(read({ flags: { [flag]: text } }).ok).toBe(false);
  });

  test('the pepper is never shown and has no flag', () => {
    expect(settingsHelp()).not.toContain('pepper VALUE');
    expect(settingRows().find(([name]) => name === 'pepper')?.[1].flag).toBeNull();
  });

  test('flags, variables and file members are unique, and each default is inside its own bounds', () => {
    const rows = settingRows().map(([, row]) => row);
    for (const places of [
      rows.map((row) => row.flag),
      rows.map((row) => row.environment),
      rows.map((row) => row.yaml),
    ]) {
      const named = places.filter((place) => place !== null);
      expect(new Set(named).size).toBe(named.length);
    }
    for (const [name, row] of settingRows()) {
      if (row.defaultValue === null || Array.isArray(row.defaultValue)) continue;
      expect(row.read(row.defaultText), name).toEqual({ ok: true, value: row.defaultValue });
    }
  });

  test('help names every flag', () => {
    for (const [, { flag }] of settingRows()) if (flag !== null) expect(settingsHelp()).toContain(flag);
  });
});

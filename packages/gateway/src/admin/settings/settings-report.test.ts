import { expect, test } from 'vitest';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { environmentOf, givenSettings, readSettings } from '../../config.ts';
import { settingsReport } from './settings-report.ts';

test('every setting is told with its value and where it comes from, and no secret with more than its place', () => {
  const file = readConfigurationFile(
    'deployment:\n  name: Gate\nsettings:\n  api: { port: 9000 }\n',
    'headgate.yaml',
  );
  if (!file.ok) throw new Error('the file is right');
  const secret = `1:${'s'.repeat(32)}`;
  const environment = environmentOf({ HEADGATE_PEPPER: secret, HEADGATE_API_PORT: '9001' });
  const sources = { flags: { 'console-port': '9002' }, environment, file: file.value };
  const settings = readSettings(sources);
  if (!settings.ok) throw new Error('the settings are right');
  const declared = { settings: settings.value, given: givenSettings(sources) };
  const report = settingsReport(declared, declared);
  const of = (name: string) => report.find((row) => row.name === name);
  expect(of('deploymentName')).toMatchObject({
    value: 'Gate',
    place: expect.stringMatching(/^headgate\.yaml:2/) as unknown,
  });
  expect(of('apiPort')).toMatchObject({ value: '9001', place: 'HEADGATE_API_PORT', isDefault: false });
  expect(of('consolePort')).toMatchObject({ value: '9002', place: '--console-port' });
  expect(of('stallTimeoutMs')).toMatchObject({ value: '60s', place: null, isDefault: true });
  expect(of('pepper')).toMatchObject({ value: null, place: 'HEADGATE_PEPPER', isDefault: false });
  expect(of('upstreamProxyCredential')).toMatchObject({ value: null, isDefault: true });
  expect(JSON.stringify(report)).not.toContain(secret);
});

import { expect, test } from 'vitest';
import { multipliersFinder } from '../../catalogue/multipliers.ts';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { describeProblem } from '../../config/yaml-source.ts';
import { environmentOf } from '../../config.ts';
import { openCatalogueFiles } from '../catalogue-files.ts';
import { exportConfiguration } from '../export-configuration.ts';
import { keyHashes } from '../keys.ts';
import { declareFile } from './declare-file.ts';

const hashes = keyHashes([{ version: 1, secret: Buffer.from('a'.repeat(40)) }]);

function declared(text: string) {
  const file = readConfigurationFile(text, 'c.yaml');
  if (!file.ok) return file;
  const tools = { catalogue: openCatalogueFiles(), environment: environmentOf({}), nowMs: 0 };
  return declareFile(file.value, { ...tools, ...hashes });
}

const textOf = (discount: string, multiplier = '1.15') => `accounts:
  payer:
    discount: ${discount}
channels: { main: { provider: openai, models: [gpt-5-mini, gpt-5] } }
groups: { team: { platform: completions, multiplier: ${multiplier} } }
peppers: [${hashes.fingerprints.join()}]
keys: { ci: { group: team, account: payer, secret: { hash: ${'ab'.repeat(32)}, hint: sk-a } } }
`;

test.each([
  ['12.5', 1_006_250n, 1_006_250n],
  ['"12.50"', 1_006_250n, 1_006_250n],
  ['[{ percent: 20, models: [gpt-5] }]', 1_150_000n, 920_000n],
  ['[{ percent: 20, models: [gpt-5] }, { percent: 100 }]', 0n, 920_000n],
])('a discount of %s is what calls are charged by, and survives an export', (discount, usualPpm, ofModel) => {
  const read = declared(textOf(discount));
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const found = multipliersFinder(read.value.accounts).find('payer', 1_150_000n);
  expect(found?.usualPpm).toBe(usualPpm);
  expect(found?.byModel.get('gpt-5') ?? found?.usualPpm).toBe(ofModel);
  const from = <Row>(row: Row) => ({ ...row, source: 'file' as const });
  const { accounts, groups, channels, models } = read.value;
  const rows = {
    ...{ accounts: accounts.map(from), groups: groups.map(from) },
    ...{ channels: channels.map(from), models: models.map(from) },
  };
  const stored = { ...read.value, ...rows, webhooks: [], revision: 1, keys: [], credentials: [], prices: [] };
  const again = declared(exportConfiguration(stored, hashes.fingerprints, 0));
  expect(again).toMatchObject({ ok: true, value: { accounts: read.value.accounts } });
});

test.each([
  ['1e1', 'c.yaml:3:15: accounts.payer.discount: "1e1" is not a plain decimal number'],
  ['-1', '"-1" is not a plain decimal number'],
  ['.nan', 'must be a percentage such as 12.5, or a list'],
  ['NaN', '"NaN" is not a plain decimal number'],
  ['5%', '"5%" is not a plain decimal number'],
  ['9'.repeat(40), 'is not a plain decimal number'],
  ['100.5', '"100.5" is more than 100 per cent'],
  ['12.345', '"12.345" has more than 2 digits after the point'],
  ['true', 'must be a percentage such as 12.5, or a list'],
  ['[]', 'discount'],
  ['[{ models: [gpt-5] }]', 'c.yaml:3:16: accounts.payer.discount.0.percent: '],
  [
    '[{ percent: 5, model: gpt-5 }]',
    'accounts.payer.discount.0.model: there is no such member; did you mean "models"?',
  ],
  ['[{ percent: 5, models: [gpt-6] }]', 'accounts.payer.discount.0.models.0: there is no model "gpt-6"'],
  ['[{ percent: 5 }, { percent: 6, models: [gpt-5] }]', 'accounts.payer.discount.0: holds for every model'],
])('a discount of %s is refused by its name', (discount, message) => {
  const read = declared(textOf(discount));
  expect(read.ok ? [] : read.error.map(describeProblem)).toEqual([expect.stringContaining(message)]);
});

test('a discount that does not fit the multiplier beside it is refused, and no other', () => {
  const read = declared(textOf('12.55', '1.155'));
  expect(read).toMatchObject({ ok: false, error: [{ path: 'accounts.payer.discount' }] });
  expect(JSON.stringify(read)).toContain(
    'beside group \\"team\\": 12.55 % off the multiplier 1.155 is 1.0100475',
  );
  expect(declared(textOf('12.55')).ok).toBe(true);
});

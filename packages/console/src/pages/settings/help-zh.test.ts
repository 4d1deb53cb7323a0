import { expect, test } from 'vitest';
import { settingRows } from '../../../../gateway/src/config/settings-table.ts';
import { defaultsZh, helpZh } from './help-zh.ts';
import * as texts from './texts.ts';

test('every setting and every section of them has its words in Chinese, and nothing else has', () => {
  const rows = settingRows();
  expect(Object.keys(helpZh).sort()).toEqual(rows.map(([name]) => name).sort());
  for (const [, { section }] of rows) expect(texts.zh).toHaveProperty([`section.${section}`]);
});

test('every default that is words has its words in Chinese, and nothing else has', () => {
  const shown = settingRows().filter(([name, { section }]) => section !== 'Secrets' && name !== 'oidcName');
  const words = shown
    .map(([, { defaultText }]) => defaultText.replaceAll('`', ''))
    .filter((text) => text.includes(' ') || text === 'none');
  expect(Object.keys(defaultsZh).sort()).toEqual([...new Set(words)].sort());
});

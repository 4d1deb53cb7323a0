import { expect, test } from 'vitest';
import { settingRows } from '../../../../gateway/src/config/settings-table.ts';
import { helpZh } from './help-zh.ts';
import * as texts from './texts.ts';

test('every setting and every section of them has its words in Chinese, and nothing else has', () => {
  const rows = settingRows();
  expect(Object.keys(helpZh).sort()).toEqual(rows.map(([name]) => name).sort());
  for (const [, { section }] of rows) expect(texts.zh).toHaveProperty([`section.${section}`]);
});

import { expect, test } from 'vitest';
import { settingRows } from '../../../../gateway/src/config/settings-table.ts';
import { acceptsZh, defaultsZh, helpZh } from './help-zh.ts';
import { acceptsOf, mistakeOf } from './setting-words.ts';
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

test('what a setting takes is said in Chinese, and so is a text that is not of it', () => {
  const written = settingRows()
    .filter(([name, { changes, options, isSwitch }]) => {
      const isMadeHere = changes === 'now' || changes === 'restart';
      return isMadeHere && options === undefined && !isSwitch && name !== 'siblings';
    })
    .map(([, row]) => row);
  const known = Object.values(acceptsZh);
  for (const row of written) {
    const words = acceptsOf(row, 'zh');
    expect(
      known.find((text) => words.startsWith(text)),
      row.accepts,
    ).toBeDefined();
    const read = row.read('\u0000');
    // One row says more exactly what is wrong than what it takes.
    if (!read.ok && row.yaml !== 'settings.oidc.roles')
      expect(mistakeOf(row, read.error, 'zh'), read.error).toBe(`应为：${words}`);
  }
  expect(acceptsOf({ accepts: 'a duration such as 500ms, 30s or 10m, from 10ms to 1h' }, 'zh')).toBe(
    '时长，例如 500ms、30s 或 10m，从 10ms 到 1h',
  );
});

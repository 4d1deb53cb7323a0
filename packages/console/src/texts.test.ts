import { expect, test } from 'vitest';

interface TextFile {
  readonly en: Readonly<Record<string, string>>;
  readonly zh: Readonly<Record<string, string>>;
}

const files = import.meta.glob<TextFile>('./**/*texts.ts', { eager: true });
const withTexts = Object.entries(files).filter(([, file]) => 'en' in file);

test('there are texts of the shell, of the components and of pages', () => {
  expect(withTexts.length).toBeGreaterThan(2);
});

test.each(withTexts)('%s says everything in both languages, with the same values in it', (_, { en, zh }) => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  for (const [name, text] of Object.entries(en)) {
    expect(zh[name], name).not.toBe('');
    expect(placesOf(zh[name] ?? ''), name).toEqual(placesOf(text));
  }
});

/** Plural forms come in pairs, and what counts is called `count`: i18next chooses by it. */
test.each(withTexts)('%s has both forms of what it counts', (_, { en }) => {
  for (const name of Object.keys(en)) {
    const [, base, form] = /^(.*)_(one|other)$/.exec(name) ?? [];
    if (base !== undefined) expect(en, name).toHaveProperty([`${base}_${form === 'one' ? 'other' : 'one'}`]);
  }
});

/** Another word for the same thing, and the one that pages have for it. */
const otherWords: readonly (readonly [RegExp, string])[] = [
  [/运维者|操作员|(?<!账户)管理员/u, '运营者'],
  [/(?<!运营者)令牌/u, 'token'],
  [/跟踪|追踪编号|追踪标识/u, '追踪 ID'],
];

test.each(withTexts)('%s has one word in Chinese for one thing, and Chinese punctuation', (_, { zh }) => {
  for (const [name, text] of Object.entries(zh)) {
    for (const [other, word] of otherWords) expect(text, `${name}: ${word}`).not.toMatch(other);
    expect(text, name).not.toMatch(/\p{Script=Han}[,;:()]|[,;:()]\p{Script=Han}/u);
  }
});

function placesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name))].sort();
}

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Planting } from './plant.ts';

/** What people and upstreams may write where it is kept. Whatever would run says so in the title. */
const oddTexts: readonly string[] = [
  '<img src=x onerror="document.title=\'owned\'">',
  '<script>document.title="owned"</script>',
  '\u202Egnp.exe',
  '=HYPERLINK("http://evil.example","click")',
  'javascript:document.title="owned"',
  '{{constructor.constructor("document.title=1")()}} $t(owned)',
  'x'.repeat(200),
  '很长的名称没有空格'.repeat(22),
  'שלום עולם (123) وداعا',
  '"><svg/onload=document.title="owned"><a href="javascript:document.title=1">x</a>',
  'a\u200Bb\u2066c\u0007d\u0000e',
];

/** Everything that has a name has an odd one, and ids are as long as they may be. */
export const oddPlanting: Planting = {
  ...{ rows: oddTexts.length, few: oddTexts.length },
  text: (at) => oddTexts[at % oddTexts.length] ?? '',
  id: (noun, at) => {
    if (noun === 'account' && at === 0) return 'demo';
    const length = noun === 'model' ? 200 : 64;
    return `${noun}-${at}-`.padEnd(length, 'long');
  },
};

/** Expects that what is stored is text on the page and nothing else, and turns the direction of no words but its own. */
export async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate<{
    title: string;
    elements: readonly string[];
    turned: readonly string[];
  }>(look);
  expect(found.title, page.url()).toContain('Headgate');
  expect(found.elements, `elements at ${page.url()} that nobody but a caller can have written`).toEqual([]);
  expect(found.turned, `words at ${page.url()} that an odd name turns around`).toEqual([]);
}

const look = `(() => {
  const ours = (element) => element.outerHTML.slice(0, 200);
  const elements = [...document.querySelectorAll('main img:not([src^="data:"]), main script, main iframe, main object, [onerror], [onload], [onclick], a[href^="javascript:" i], a[href*="evil.example"]')].map(ours);
  const turned = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (!node.data.includes('\\u202E') || node.parentElement.closest('title, script, style')) continue;
    let isolate = node.parentElement;
    const isolates = (element) => {
      const { display, unicodeBidi } = getComputedStyle(element);
      return display !== 'inline' && display !== 'contents' || /isolate|plaintext/.test(unicodeBidi);
    };
    while (!isolates(isolate)) isolate = isolate.parentElement;
    const range = document.createRange();
    range.setStartAfter(node);
    range.setEndAfter(isolate.lastChild);
    const rest = [...range.cloneContents().childNodes].map((one) => one.textContent).join('').trim();
    const own = node.data.slice(node.data.indexOf('\\u202E') + 8);
    const isClosed = /\\u2068[^\\u2069]*\\u202E[^\\u2069]*\\u2069/.test(node.data);
    if (!isClosed && (rest !== '' || own.trim() !== '')) turned.push(isolate.outerHTML.slice(0, 300));
  }
  return { title: document.title, elements, turned };
})()`;

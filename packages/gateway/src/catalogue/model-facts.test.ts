import { describe, expect, test } from 'vitest';
import {
  ModelBook,
  type ModelFile,
  mayReason,
  parseModelFile,
  takesReasoning,
  unknownModel,
} from './model-facts.ts';

function fileOf(provider: string, models: ModelFile['models'], vendor = false): ModelFile {
  return { asOf: '2026-11-22', vendor, providers: [provider], sources: {}, models };
}

const none = { mode: 'none' } as const;
const book = new ModelBook([
  fileOf('host', {
    'maker/five': { name: 'Five at a host', reasoning: none, contextWindow: 1000 },
    'maker/open': { name: 'Open at a host', reasoning: none },
  }),
  fileOf(
    'maker',
    {
      five: { name: 'Five', reasoning: { mode: 'always' }, aliases: ['five-latest', 'old-five'] },
      'five-2026-01-02': { name: 'Five of January', reasoning: { mode: 'always' } },
      'old-five': { name: 'Old five', reasoning: none },
      'Big-Six': { name: 'Six', reasoning: { mode: 'optional' } },
    },
    true,
  ),
]);

describe('a model is found', () => {
  test.each([
    ['by its name', 'maker', 'five', 'Five'],
    ['by another name of it', 'maker', 'five-latest', 'Five'],
    ['by its own name before another one’s alias', 'maker', 'old-five', 'Old five'],
    ['as a dated version that has a record', 'maker', 'five-2026-01-02', 'Five of January'],
    ['as a dated version that has none', 'maker', 'five-20260304', 'Five'],
    ['as a dated version of another spelling', 'maker', 'five@20260304', 'Five'],
    ['whatever the case of its letters', 'maker', 'big-six', 'Six'],
    ['as a host has it', 'host', 'maker/five', 'Five at a host'],
    ['by its bare name at a provider of which nothing is known', 'nobody', 'five', 'Five'],
    ['at its maker before any host', 'nobody', 'maker/five', 'Five'],
    ['at a host where its maker says nothing', 'nobody', 'maker/open', 'Open at a host'],
  ])('%s', (_, provider, name, found) => {
    expect(book.find(provider, name).name).toBe(found);
  });

  test.each([
    'five-codex',
    'five-pro',
    'fiv',
    'five-2601',
    'five-20269999',
    'xfive',
    'five-max-20260304',
    '__proto__',
    '',
  ])('never by a part of its name: %s', (name) => expect(book.find('maker', name)).toBe(unknownModel));
});

test('an unknown model is given time for thought, and is not told to think', () => {
  const told = [
    unknownModel,
    book.findByName('old-five'),
    book.findByName('five'),
    book.findByName('big-six'),
  ];
  expect(told.map(mayReason)).toEqual([true, false, true, true]);
  expect(told.map(takesReasoning)).toEqual([false, false, true, true]);
});

test('a file that is not as it should be is refused with the place', () => {
  const file = fileOf('maker', { five: { name: 'Five', reasoning: none, contextWindow: -1 } });
  const errorOf = (json: unknown): string => {
    const read = parseModelFile(json);
    return read.ok ? '' : read.error;
  };
  expect(errorOf(file)).toMatch(/^models\.five\.contextWindow: /);
  expect(errorOf({ models: {} })).toContain('asOf');
  expect(errorOf({ ...file, models: {} })).toBe('');
});

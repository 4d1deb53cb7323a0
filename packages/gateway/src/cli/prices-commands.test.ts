import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { runCommandLine } from './run.ts';

const configuration = `
channels:
  dear: { provider: openai, models: { gpt-5: { cost: { output: 12 } }, house: {} } }
  free: { provider: openai, models: { gpt-5: { cost: { input: 0, output: 0 } } } }
  plain: { provider: deepseek, models: [deepseek-chat, a-model-with-a-name-that-no-column-holds] }
  images: { provider: openai, models: [gpt-image-1] }
models: { a-model-with-a-name-that-no-column-holds: { pricedAs: gpt-5-mini } }
prices: { gpt-5: { output: 15 } }
`;
let directory = '';

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-prices-'));
  writeFileSync(join(directory, 'c.yaml'), configuration);
  expect(await headgate('import c.yaml')).toMatchObject({ code: 0, err: '' });
});
afterAll(() => rmSync(directory, { recursive: true }));

async function headgate(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(line.split(' '), {
    environment: environmentOf({ OPENAI_API_KEY: 'a', DEEPSEEK_API_KEY: 'b' }),
    directory,
    stopping: () => AbortSignal.abort(),
    version: '1.2.3',
    readSecret: () => Promise.resolve(succeed('')),
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

const isNarrow = (text: string) => Math.max(...text.split('\n').map((line) => line.length)) <= 80;
const today = new Date().toISOString().slice(0, 10);

describe('models list', () => {
  test('shows price, costs, margin and who says it, 80 columns wide', async () => {
    const { out } = await headgate('models list');
    expect(out).toMatch(/^ID +IN +OUT +COST OUT +MARGIN % +PRICE FROM\n/);
    // (3 · 1.25 + 15 − 3 · 1.25 − 12) / 18.75
    expect(out).toMatch(new RegExp(`gpt-5 +1\\.25 +15\\.00 +0\\.00–12\\.00 +16–100 +yours ${today}\n`));
    expect(out).toMatch(/deepseek-chat +0\.28 +0\.42 .* 0 +deepseek 20\d\d-\d\d-\d\d\n/);
    expect(out).toMatch(/house +– +– +\? +– +none: hidden\n/);
    expect(out).toContain('? A channel has no cost that is known');
    expect(isNarrow(out)).toBe(true);
    expect((await headgate('models list --wide')).out).toContain('dear, free');
  });

  test('as JSON has all of it', async () => {
    const { models } = JSON.parse((await headgate('models list --json')).out) as {
      models: readonly { id: string }[];
    };
    expect(models.find(({ id }) => id === 'gpt-5')).toMatchObject({
      price: { input: '1.25', output: '15', origin: { by: 'both', list: 'openai' } },
      marginPercent: { worst: 16, best: 100 },
      channels: [
        { id: 'dear', cost: { output: '12' } },
        { id: 'free', cost: { output: '0' } },
      ],
    });
    expect(models.find(({ id }) => id === 'house')).toMatchObject({ price: null, isOffered: false });
  });
});

describe('prices', () => {
  test('list says since when and by whom', async () => {
    const { out } = await headgate('prices list');
    expect(out).toMatch(new RegExp(`gpt-5 +1\\.25 +0\\.125 +15\\.00 +${today} +yours ${today}\n`));
    expect(isNarrow(out)).toBe(true);
    expect((await headgate('prices list --csv')).out).toMatch(/^model,input,cache_read,output,since,from\n/);
  });

  test('show has every class, the costs, the list price and how to change it', async () => {
    const { out } = await headgate('prices show gpt-5');
    expect(out).toMatch(/^gpt-5: your own price, the rest as in the list of openai of 20/);
    expect(out).toContain('as model:gpt-5@1\n');
    expect(out).toMatch(/any call +cacheRead +0\.125 +per million tokens\n/);
    expect(out).toMatch(/1\.25 +12\.00 +dear\n/);
    expect(out).toContain('List price of openai as of 20');
    expect(out).toContain('    gpt-5: { input: 1.25, output: 10 }');
    expect(isNarrow(out)).toBe(true);
  });

  test('show of a model without one says how to give it one', async () => {
    const { out } = await headgate('prices show house');
    expect(out).toMatch(/^house has no price\nCallers are told that there is no such model\.\n/);
    expect(out).toContain('    house: { pricedAs: NAME }');
    const { code, err } = await headgate('prices show gpt-55');
    expect([code, err]).toEqual([1, expect.stringContaining('did you mean "gpt-5"?')]);
  });

  test('diff names what the operator, the list and its sources do not agree about, with their days', async () => {
    const { out } = await headgate('prices diff');
    expect(out).toMatch(
      new RegExp(`\ngpt-5\n +output +15 +yours ${today} +10 +openai 20\\d\\d-\\d\\d-\\d\\d\n`),
    );
    expect(out).toMatch(/deepseek-chat\n +input +0\.28 +deepseek 20\S+ +0\.27 +genai-prices 20/);
    expect(isNarrow(out)).toBe(true);
    const { differences } = JSON.parse((await headgate('prices diff --json')).out) as {
      differences: readonly { model: string }[];
    };
    expect(new Set(differences.map(({ model }) => model))).toEqual(new Set(['gpt-5', 'deepseek-chat']));
    const whole = await headgate('prices diff --all --csv');
    expect(whole.out.split('\n').length).toBeGreaterThan(differences.length + 10);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { succeed } from '@headgate/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import { runCommandLine } from './run.ts';

const configuration = `
channels:
  main: { provider: openai, models: { gpt-5: {}, gpt-5-mini: {}, house: {}, gpt-image-1: {} } }
  eu: { provider: openai, models: { gpt-5: { cost: { output: 12 } } } }
prices: { gpt-5: { output: 15 } }
`;
let directory = '';

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-set-prices-'));
  writeFileSync(join(directory, 'c.yaml'), configuration);
  expect(await headgate('import', 'c.yaml')).toMatchObject({ code: 0, err: '' });
});
afterEach(() => rmSync(directory, { recursive: true }));

async function headgate(...words: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(words, {
    environment: environmentOf({ OPENAI_API_KEY: 'a' }),
    directory,
    stopping: () => AbortSignal.abort(),
    version: '1.2.3',
    readSecret: () => Promise.resolve(succeed('')),
    output: { color: false, write: (text) => out.push(text), writeError: (text) => void err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

interface PriceView {
  readonly source: string | null;
  readonly tiers:
    | readonly { readonly service?: string; readonly aboveInputTokens: number; readonly prices: object }[]
    | null;
  readonly planned: readonly { readonly from: string; readonly source: string | null }[];
  readonly history: readonly object[];
  readonly costs: readonly (PriceView & { readonly channel: string })[];
}

async function shown(model: string): Promise<PriceView> {
  const { out } = await headgate('prices', 'show', model, '--json');
  return JSON.parse(out) as PriceView;
}

const isNarrow = (text: string) => Math.max(...text.split('\n').map((line) => line.length)) <= 80;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const pathOf = (name: string, text: string) => {
  writeFileSync(join(directory, name), text);
  return name;
};

describe('prices set', () => {
  test("stands before the file's price, which may be imported again, until it is taken back", async () => {
    const { code, out } = await headgate('prices', 'set', 'gpt-5', 'input=1.10', 'output=9');
    expect(code).toBe(0);
    expect(out).toMatch(/^Set\. .*\n\nMODEL +FROM +OF +WAS +IS\ngpt-5 +now +input +1\.25 +1\.1\n/);
    expect(isNarrow(out)).toBe(true);
    await headgate('import', 'c.yaml');
    const price = await shown('gpt-5');
    expect(price).toMatchObject({ source: 'operator', tiers: [{ prices: { input: '1.1', output: '9' } }] });
    expect(price.tiers?.[0]?.prices).toMatchObject({ cacheRead: '0.125' });
    const again = await headgate('prices', 'set', 'gpt-5', 'input=1.10', 'output=9');
    expect(again.out).toContain('Nothing changes');
    expect((await headgate('prices', 'remove', 'gpt-5')).code).toBe(0);
    expect(await shown('gpt-5')).toMatchObject({ source: 'import', tiers: [{ prices: { output: '15' } }] });
    expect((await shown('gpt-5')).history).toHaveLength(3);
    expect((await headgate('prices', 'remove', 'gpt-5')).err).toContain('no price of gpt-5 is set');
  });

  test('changes nothing in a dry run, and says what it would', async () => {
    const { out } = await headgate('prices', 'set', 'gpt-5', 'input=3', '--dry-run');
    expect(out).toMatch(/^Nothing is written\. This would change:\n\n.*\ngpt-5 +now +input +1\.25 +3\n/);
    expect((await shown('gpt-5')).source).toBe('import');
  });

  test('plans a price, tells of it wherever prices are shown, and takes back plans alone', async () => {
    await headgate('prices', 'set', 'gpt-5', 'input=1', 'output=8');
    await headgate('prices', 'set', 'gpt-5', 'input=2', 'output=16', '--from', inDays(8));
    const later = await headgate(
      'prices',
      'set',
      'gpt-5',
      'output=4',
      '--from',
      `${inDays(20)}T06:30:00+02:00`,
    );
    expect(later.out).toMatch(new RegExp(`gpt-5 +${inDays(20)} 04:30 +output +16 +4\n`));
    const list = await headgate('prices', 'list');
    expect(list.out).toMatch(/gpt-5 +1\.00 .*set \d{4}-\d\d-\d\d\n/);
    expect(list.out).toContain(`from ${inDays(8)}: 2.00 in, 16.00 out (set`);
    expect(isNarrow(list.out)).toBe(true);
    const show = await headgate('prices', 'show', 'gpt-5');
    expect(show.out).toContain(`from ${inDays(8)}: 2.00 in, 16.00 out (set`);
    expect(show.out).toMatch(/@4 +\d{4}-\d\d-\d\d \d\d:\d\d +\d{4}/);
    expect((await shown('gpt-5')).planned.map(({ from }) => from.slice(0, 16))).toEqual([
      `${inDays(8)}T00:00`,
      `${inDays(20)}T04:30`,
    ]);
    await headgate('prices', 'remove', 'gpt-5', '--planned');
    expect(await shown('gpt-5')).toMatchObject({ source: 'operator', planned: [] });
    await headgate('prices', 'remove', 'gpt-5', '--from', inDays(3));
    expect((await shown('gpt-5')).planned).toMatchObject([{ source: 'import' }]);
    expect((await headgate('export')).out).toMatch(/gpt-5:\n +- input: "1"\n +output: "8"\n +- from:/);
  });

  test('takes back the plans from a moment on: what was to hold before them goes on', async () => {
    const set = (input: string, day: number) =>
      headgate('prices', 'set', 'gpt-5', `input=${input}`, '--from', inDays(day));
    await set('2', 8);
    await set('3', 20);
    await headgate('prices', 'remove', 'gpt-5', '--planned', '--from', inDays(10));
    const { planned } = await shown('gpt-5');
    expect(planned).toMatchObject([
      { from: `${inDays(8)}T00:00:00.000Z`, source: 'operator', tiers: [{ prices: { input: '2' } }] },
    ]);
    const again = await headgate('prices', 'remove', 'gpt-5', '--planned', '--from', inDays(10));
    expect(again.err).toContain('no price of gpt-5 is set or planned');
  });

  test('sets what a channel costs, and every other dimension as one map', async () => {
    await headgate('prices', 'set', 'gpt-5', 'input=1', 'output=7.5', '--channel', 'eu');
    const { costs } = await shown('gpt-5');
    expect(costs).toMatchObject([
      { channel: 'eu', source: 'operator', tiers: [{ prices: { input: '1', output: '7.5' } }] },
      { channel: 'main', source: 'import' },
    ]);
    const map = `{ input: 2, output: 8, cacheRead: 0.2, cacheWrite5m: 2.5, cacheWrite1h: 4, perCall: 0.001, whole: true,
      tiers: [{ aboveInputTokens: 200000, input: 4 }], regions: { us: 1.1 },
      services: { batch: { input: 1, output: 4 }, priority: { input: 4, output: 16 } } }`;
    expect((await headgate('prices', 'set', 'house', map)).code).toBe(0);
    const { tiers } = await shown('house');
    expect(tiers?.map(({ service, aboveInputTokens }) => [service ?? null, aboveInputTokens])).toEqual([
      [null, 0],
      [null, 200_000],
      ['batch', 0],
      ['priority', 0],
    ]);
    expect(tiers?.[0]?.prices).toMatchObject({ cacheWrite1h: '4', perCall: '0.001' });
    await headgate(
      'prices',
      'set',
      'gpt-image-1',
      '{ perImage: 0.04, images: [{ quality: high, price: 0.08 }] }',
    );
    expect((await shown('gpt-image-1')).tiers).toMatchObject([
      { images: [{ quality: 'high', price: '0.08' }] },
    ]);
  });

  test.each([
    ['input=1e3', 'headgate: input: "1e3" is not a plain decimal number'],
    ['input=NaN', '"NaN" is not a plain decimal number'],
    ['input=-1', '"-1" is not a plain decimal number'],
    ['input=', '"" is not a plain decimal number'],
    ['input=1,25', '"1,25" is not a plain decimal number'],
    ['input=0x10', '"0x10" is not a plain decimal number'],
    [`input=${'9'.repeat(40)}`, 'is not a plain decimal number'],
    ['input=0.1234567', 'has more than 6 digits after the point'],
    ['perCall=0.1234567890123', 'has more than 12 digits after the point'],
    ['{ input: 1e3, output: 1 }', '"1e3" is not a plain decimal number'],
    ['{ input: .inf, output: 1 }', 'input'],
    ['{ input: 1, outputs: 2 }', 'there is no such member; did you mean "output"?'],
    ['{ input: 1', 'PRICE:1'],
    ['inputs=1', 'must be a price such as input=1.25'],
    ['services=1', 'services'],
    ['cheap', 'must be a price such as input=1.25'],
    ['{ input: 1, output: 2, from: 2099-01-01 }', 'name one of the two', '--from', '2099-02-01'],
  ])('refuses %s by its name', async (word, message, ...more) => {
    const { code, err } = await headgate('prices', 'set', 'gpt-5', word, ...more);
    expect(err).toContain(message);
    expect(code).not.toBe(0);
    expect((await shown('gpt-5')).source).toBe('import');
  });

  test('refuses the past, unknown models, channels and moments, and says what to do', async () => {
    const refused = async (...words: string[]) => (await headgate('prices', 'set', ...words)).err;
    expect(await refused('gpt-5', 'input=1', '--from', '2026-01-01')).toContain(
      '2026-01-01 is past, and no price rewrites what has been charged: leave it out',
    );
    expect(await refused('gpt-5', 'input=1', '--from', 'tomorrow')).toContain(
      'must be a day such as 2026-12-01',
    );
    expect(await refused('gpt-6', 'input=1')).toContain('there is no model "gpt-6"; did you mean "gpt-5"?');
    expect(await refused('gpt-5', 'input=1', '--channel', 'us')).toContain('there is no channel "us"');
    expect(await refused('house', 'input=1', '--channel', 'eu')).toContain(
      'no model of channel "eu" "house"',
    );
    expect(await refused('house', 'input=1')).toContain('leaves out output');
    expect((await headgate('prices', 'remove', 'gpt-5', '--from', '2020-01-01')).err).toContain('is past');
  });
});

const yaml = `prices:
  gpt-5: { input: 2, output: 8 }
  gpt-5-mini:
    - { input: 0.5, output: 3 }
    - { from: 2099-01-01, input: 0.4, output: 2 }
costs:
  eu: { gpt-5: { input: 1, output: 4 } }
`;
const json = `{ "prices": { "gpt-5": { "input": "2", "output": 8 },
  "gpt-5-mini": [{ "input": 0.5, "output": "3" }, { "from": "2099-01-01", "input": 0.4, "output": 2 }] },
  "costs": { "eu": { "gpt-5": { "input": 1, "output": 4 } } } }`;
const csv = `model,channel,from,service,aboveInputTokens,input,output
gpt-5,,,,,2,"8"

gpt-5-mini,,,,,0.5,3
gpt-5-mini,,2099-01-01,,,0.4,2
gpt-5,eu,,,,1,4
`;

describe('prices import', () => {
  test.each([
    ['p.yaml', yaml],
    ['p.json', json],
    ['p.csv', csv],
    ['q.csv', `\ufeff${csv.replaceAll('\n', '\r\n')}`],
  ])('reads the same prices from %s', async (name, text) => {
    const { code, out } = await headgate('prices', 'import', pathOf(name, text));
    expect(code).toBe(0);
    expect(out).toMatch(/gpt-5-mini +2099-01-01 +output +3 +2\n/);
    expect(await shown('gpt-5')).toMatchObject({
      source: 'operator',
      tiers: [{ prices: { input: '2', output: '8' } }],
    });
    expect((await shown('gpt-5')).costs[0]).toMatchObject({
      channel: 'eu',
      tiers: [{ prices: { output: '4' } }],
    });
    expect((await shown('gpt-5-mini')).planned).toMatchObject([{ from: '2099-01-01T00:00:00.000Z' }]);
  });

  test('has tiers and service tiers as rows of a table', async () => {
    const table = `model,service,aboveInputTokens,input,output,perWebSearch,whole
house,,,2,8,0.01,true
house,,200000,4,12,,
house,batch,,1,4,,
house,batch,200000,2,6,,
`;
    expect((await headgate('prices', 'import', pathOf('t.csv', table))).code).toBe(0);
    const { tiers } = await shown('house');
    expect(
      tiers?.map(({ service, prices }) => [service ?? null, (prices as { input: string }).input]),
    ).toEqual([
      [null, '2'],
      [null, '4'],
      ['batch', '1'],
      ['batch', '2'],
    ]);
  });

  test.each([
    [
      'a.yaml',
      'prices:\n  gpt-5: { input: 1, output: 2 }\n  gpt-5-mini: { input: 1e3, output: 1 }\n',
      'a.yaml:3:24: prices.gpt-5-mini.input: "1e3"',
    ],
    [
      'b.yaml',
      'prices:\n  nobody: { input: 1, output: 1 }\n',
      'b.yaml:2:11: prices.nobody: there is no model "nobody"',
    ],
    [
      'c.yaml',
      'prices:\n  gpt-5: { from: 2026-01-01, input: 1 }\n',
      'c.yaml:2:18: prices.gpt-5.from: 2026-01-01 is past',
    ],
    ['d.yaml', 'price: {}\n', 'there is no such member; did you mean "prices"?'],
    ['e.yaml', '', 'names no price'],
    [
      'f.yaml',
      'prices:\n  gpt-5:\n    - { input: 1 }\n    - { input: 2 }\n',
      'f.yaml:4:7: prices.gpt-5.1: leaves out from',
    ],
    [
      'g.yaml',
      'prices:\n  gpt-5:\n    - { from: 2099-01-02, input: 1 }\n    - { from: 2099-01-01, input: 2 }\n',
      'prices.gpt-5.1.from: is not later',
    ],
    ['h.json', '{ "prices": { "gpt-5": { "input": -1 } } }', 'h.json:1:35: prices.gpt-5.input: "-1"'],
    ['i.csv', 'model,inptu\ngpt-5,1\n', 'i.csv:1: inptu: there is no such column; did you mean "input"?'],
    [
      'j.csv',
      'model,input,output\ngpt-5,1,2\ngpt-5-mini,NaN,2\n',
      'j.csv:3: prices.gpt-5-mini.0.input: "NaN"',
    ],
    ['k.csv', 'model,input\ngpt-5\n', 'k.csv:2: has 1 cells, and 2 columns have titles'],
    ['l.csv', 'model,input\n,1\n', 'l.csv:2: model: is missing'],
    ['m.csv', 'model,input\ngpt-5,1\ngpt-5,2\n', 'm.csv:3: says the same price again as line 2'],
    ['n.csv', 'model,input\ngpt-5,"1\n', 'n.csv:2: a quote is opened and never closed'],
    [
      'o.csv',
      'model,aboveInputTokens,input\ngpt-5,,1\ngpt-5,many,1\n',
      'o.csv:3: prices.gpt-5.0.tiers.0.aboveInputTokens',
    ],
    ['p.csv', 'input,output\n1,2\n', 'has no column model'],
    ['q.txt', 'prices: {}', 'must end in .yaml, .yml, .json or .csv'],
  ])('refuses %s whole, with its line and its field', async (name, text, message) => {
    const { code, err } = await headgate('prices', 'import', pathOf(name, text));
    expect(err).toContain(message);
    expect(code).not.toBe(0);
    expect(await shown('gpt-5')).toMatchObject({ source: 'import', history: [{}] });
  });
});

describe('prices diff', () => {
  test('tells what the next start takes from a newer list, and that the rest stays', async () => {
    await headgate('prices', 'set', 'gpt-5-mini', 'input=9', 'output=9');
    const { differences } = JSON.parse((await headgate('prices', 'diff', '--json')).out) as {
      differences: readonly { model: string; what: string; applies: boolean }[];
    };
    const mine = differences.filter(({ model }) => model === 'gpt-5-mini');
    expect(mine.map(({ what }) => what)).toContain('input');
    expect(differences.every(({ applies }) => !applies)).toBe(true);
  });
});

test('whatever the command line changes is in the audit, as its own, without a secret', async () => {
  await headgate('prices', 'set', 'gpt-5', 'output=16');
  await headgate('accounts', 'create', 'partner', '--name', 'Partner');
  await headgate('accounts', 'credit', 'partner', '5', '--reason', 'Invoice');
  const database = new DatabaseSync(join(directory, 'data', 'headgate.sqlite'));
  const rows = database.prepare('SELECT actor_kind, action, target_id, after FROM audit ORDER BY id').all();
  database.close();
  expect(rows.map(({ actor_kind, action, target_id }) => [actor_kind, action, target_id])).toEqual([
    ['command-line', 'configuration.import', 'import'],
    ['command-line', 'price.change', 'model:gpt-5'],
    ['command-line', 'account.create', 'partner'],
    ['command-line', 'account.credit', 'partner'],
  ]);
  expect(JSON.parse(String(rows[1]?.['after']))).toMatchObject({
    tiers: { output: expect.stringContaining('16') as string },
  });
});

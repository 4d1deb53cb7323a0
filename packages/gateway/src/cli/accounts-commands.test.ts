import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '@headgate/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyFile } from '../admin/apply-file.ts';
import { openCatalogueFiles } from '../admin/catalogue-files.ts';
import { storeFile } from '../admin/owner-files.ts';
import { readConfigurationFile } from '../config/configuration-file.ts';
import { environmentOf } from '../config.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { runCommandLine } from './run.ts';

let directory = '';

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-accounts-'));
  writeFileSync(
    join(directory, 'c.yaml'),
    `channels: { main: { provider: openai, models: [gpt-5, gpt-5-mini] } }
accounts: { house: { name: House } }
groups: { team: { platform: completions } }`,
  );
  expect(await headgate('import', 'c.yaml')).toMatchObject({ code: 0, err: '' });
});
afterEach(() => rmSync(directory, { recursive: true }));

async function headgate(...words: readonly string[]) {
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

async function json(...words: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await headgate(...words, '--json')).out) as Record<string, unknown>;
}

const reason = ['--reason', 'Invoice 2026-118'];

test('an account is made, credited and debited, and the ledger is sound', async () => {
  const made = await headgate(
    'accounts',
    'create',
    'partner',
    '--prepaid',
    '--credit-limit',
    '5',
    '--name',
    'P',
  );
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('accounts credit partner') as unknown });
  expect(await json('accounts', 'credit', 'partner', '250.000000001', ...reason)).toMatchObject({
    ...{ account: 'partner', amount: '250.000000001', balance: '250.000000001', isNew: true },
    reason: 'Invoice 2026-118',
  });
  expect(await json('accounts', 'debit', 'partner', '0.5', ...reason)).toMatchObject({
    ...{ amount: '-0.5', balance: '249.500000001' },
  });
  expect((await headgate('accounts', 'list')).out).toMatch(/partner +P +prepaid +249\.500000001 +0 +5 +0/);
  const { out } = await headgate('accounts', 'show', 'partner');
  expect(out).toContain('Balance 249.500000001 USD.\nPrepaid: it may go down to -5 USD.');
  expect(out).toMatch(/-0\.5 +Invoice 2026-118 +– +cli.*\n.*\+250\.000000001 +Invoice/);
  const { postings } = await json('accounts', 'postings', 'partner');
  expect(postings).toMatchObject([{ amount: '-0.5' }, { amount: '250.000000001' }]);
  expect(await headgate('ledger', 'verify')).toMatchObject({ code: 0 });
});

test('a reference is booked once, and another amount under it is refused', async () => {
  const credit = (amount: string) =>
    headgate('accounts', 'credit', 'house', amount, ...reason, '--reference', 'pay-1');
  expect((await credit('10')).out).toContain('is booked. The balance of house is 10 USD.');
  expect((await credit('10.00')).out).toContain('was booked already');
  const other = await credit('11');
  expect(other.code).toBe(1);
  expect(other.err).toContain('"pay-1" is the reference of a credit of 10 USD');
  const debit = await headgate('accounts', 'debit', 'house', '10', ...reason, '--reference', 'pay-1');
  expect(debit.err).toContain('and this is a debit of 10 USD');
  expect(await json('accounts', 'show', 'house')).toMatchObject({ account: { money: { balance: '10' } } });
});

test('a debit below the credit limit has to be forced', async () => {
  await headgate('accounts', 'create', 'partner', '--prepaid', '--credit-limit', '5');
  const debit = (...more: string[]) =>
    headgate('accounts', 'debit', 'partner', '5.000000001', ...reason, ...more);
  expect(await debit()).toMatchObject({ code: 1, out: '' });
  expect((await debit()).err).toContain('may not go below -5 USD by a debit, unless it is forced (--force');
  expect((await debit('--force')).out).toContain('-5.000000001 USD. It is below zero.');
  await headgate('accounts', 'create', 'empty', '--prepaid');
  const empty = await headgate('accounts', 'debit', 'empty', '1', ...reason);
  expect(empty.err).toContain('may not go below 0 USD');
  // Who may owe any amount may be debited any.
  expect(await headgate('accounts', 'debit', 'house', '1000', ...reason)).toMatchObject({ code: 0 });
});

const mistakes: readonly (readonly [words: string, said: string])[] = [
  ['accounts credit house 1e3 --reason x', '--amount'],
  ['accounts credit house NaN --reason x', 'not a plain decimal'],
  ['accounts credit house 0 --reason x', 'must be above 0'],
  ['accounts credit house 1.0000000001 --reason x', 'more than 9 digits'],
  [`accounts credit house ${'1'.repeat(41)} --reason x`, 'more than 40 characters'],
  ['accounts credit house 1', 'reason: is missing'],
  [`accounts credit house 1 --reason ${'x'.repeat(501)}`, '500 characters'],
  ['accounts credit house 1 --reason a\u0007b', 'plain characters'],
  ['accounts create Partner', 'lower-case'],
  ['accounts create partner --credit-limit 5', '--credit-limit: means something only beside prepaid'],
  ['accounts create partner --prepaid --unlimited', 'name one of'],
  ['accounts limit house', 'says nothing to change'],
  ['accounts limit house --day 1e3', '--day: "1e3" is not a plain decimal'],
  ['accounts limit house --alert-at 0.5', '--alert-at: has no budget'],
  ['accounts limit house --timezone Mars/Base', '--timezone: must be an IANA name'],
  ['accounts limit house --requests-per-minute 0', '--requests-per-minute: must be 1 or more'],
  ['accounts limit house --requests-per-minute many', '--requests-per-minute: must be a whole number'],
  ['accounts limit house --requests-per-minute 5 --model gpt-6', 'there is no model "gpt-6"'],
  ['accounts limit house --model gpt-5', 'name a rate beside --model'],
  ['groups limit team --prepaid', 'no option --prepaid'],
  ['groups limit team --discount 5', 'no option --discount'],
  ['accounts limit house --discount 1e1', '--discount: "1e1" is not a plain decimal'],
  ['accounts limit house --discount 100.01', '--discount: "100.01" is more than 100 per cent'],
  ['accounts limit house --discount 1.005', '--discount: "1.005" has more than 2 digits'],
  ['accounts limit house --discount [', '--discount: must be a percentage'],
  ['accounts limit house --discount [5]', '--discount: must be a percentage'],
  ['accounts limit house --discount [{percent:5,models:[gpt-5]}]', '--discount: must be a percentage'],
  ['accounts limit house --discount [{"percent":1e1}]', 'discount.0.percent: "1e1" is not a plain decimal'],
  ['accounts limit house --discount [{"percent":5},{"percent":1}]', 'discount.0: holds for every model'],
  [
    'accounts limit house --discount [{"percent":5,"models":["gpt-6"]}]',
    'discount.0.models.0: there is no model "gpt-6"',
  ],
];

test.each(mistakes)('%s is refused by name', async (words, said) => {
  const { code, err } = await headgate(...words.split(' '));
  expect(code).toBe(2);
  expect(err.replace('amount: ', '--amount: ')).toContain(said);
});

test('limits are set and taken away one by one, of accounts, groups and keys', async () => {
  const { id } = await json('keys', 'create', '--name', 'ci');
  const key = String(id);
  for (const owner of [
    ['accounts', 'house'],
    ['groups', 'team'],
    ['keys', key.slice(0, 12)],
  ] as const) {
    const [family, name] = owner;
    const set = (...words: string[]) => json(family, 'limit', name, ...words);
    expect(await set('--day', '2.50', '--month', '0', '--alert-at', '0.5')).toMatchObject({
      budgets: [
        { span: 'day', amount: '2.5', spent: '0', remaining: '2.5' },
        { span: 'month', amount: '0', spent: '0', remaining: '0' },
      ],
      alertAt: '0.5',
    });
    const rates = await set('--requests-per-minute', '60', '--day', 'none');
    expect(rates).toMatchObject({ budgets: [{ span: 'month' }], limits: { requestsPerMinute: 60 } });
    expect(await set('--concurrency', '2', '--model', 'gpt-5')).toMatchObject({
      limits: { requestsPerMinute: 60, models: { 'gpt-5': { concurrency: 2 } } },
    });
    // With the last budget goes what was to be told of it.
    expect(await set('--month', 'none')).toMatchObject({ budgets: [], alertAt: null });
    const none = await set('--requests-per-minute', 'none');
    expect(none['limits']).toEqual({ models: { 'gpt-5': { concurrency: 2 } } });
    expect((await set('--concurrency', 'none', '--model', 'gpt-5'))['limits']).toBeNull();
  }
  expect((await headgate('groups', 'list')).out).toMatch(/team +team +completions +– +1 +import/);
});

test('a discount is set, shown and taken away, and goes through an export', async () => {
  await headgate('accounts', 'create', 'partner', '--discount', '12.50');
  expect(await json('accounts', 'show', 'partner')).toMatchObject({ account: { discount: '12.5' } });
  expect((await headgate('accounts', 'show', 'partner')).out).toContain(
    'It pays 12.5 % less than its group.',
  );
  const list = '[{ percent: 20.10, models: [gpt-5, gpt-5-mini] }, { percent: 5 }]';
  const written = [{ percent: '20.1', models: ['gpt-5', 'gpt-5-mini'] }, { percent: '5' }];
  await headgate('accounts', 'limit', 'house', '--discount', list, '--day', '3');
  // What is not named stays.
  const { out } = await headgate('accounts', 'limit', 'house', '--day', '4');
  expect(out).toContain('20.1 % less for gpt-5, gpt-5-mini; 5 % less for all others');
  expect((await headgate('accounts', 'list')).out).toMatch(/house .*by model.*\n?.*partner .*12\.5 %/);
  writeFileSync(join(directory, 'all.yaml'), (await headgate('export')).out);
  expect(await headgate('import', 'all.yaml', '--data-dir', 'fresh')).toMatchObject({ code: 0 });
  expect(await json('accounts', 'list', '--data-dir', 'fresh')).toMatchObject({
    accounts: [
      { id: 'house', discount: written },
      { id: 'partner', discount: '12.5' },
    ],
  });
  expect(await json('accounts', 'limit', 'house', '--discount', 'none')).toMatchObject({
    account: { discount: null },
    budgets: [{ amount: '4' }],
  });
});

test('limits of a model that is gone can be taken away', async () => {
  await headgate('accounts', 'create', 'partner', '--concurrency', '3', '--model', 'gpt-5-mini');
  writeFileSync(join(directory, 'c.yaml'), 'channels: { main: { provider: openai, models: [gpt-5] } }');
  expect(await headgate('import', 'c.yaml')).toMatchObject({ code: 0 });
  const limit = (amount: string) =>
    headgate('accounts', 'limit', 'partner', '--concurrency', amount, '--model', 'gpt-5-mini');
  expect((await limit('2')).err).toContain('there is no model "gpt-5-mini"');
  expect((await limit('none')).out).toContain('No rate limits.');
});

test('a key is named by its id or by a name that no other has', async () => {
  const { id } = await json('keys', 'create', '--name', 'ci');
  expect(await json('keys', 'limit', 'ci', '--day', '3')).toMatchObject({ id });
  await headgate('keys', 'create', '--name', 'ci');
  expect((await headgate('keys', 'limit', 'ci', '--day', '4')).err).toContain('several keys are named "ci"');
  expect((await headgate('keys', 'show', 'cii')).err).toContain('there is no key "cii"');
});

test('a key that is rotated hands its limits on', async () => {
  const { id } = await json('keys', 'create', '--name', 'ci');
  await headgate('keys', 'limit', String(id), '--day', '3', '--concurrency', '2');
  const { id: successor } = await json('keys', 'rotate', String(id));
  expect(successor).not.toBe(id);
  expect(await json('keys', 'show', String(successor))).toMatchObject({
    budgets: [{ span: 'day', amount: '3' }],
    limits: { concurrency: 2 },
  });
});

test('an account becomes prepaid and unlimited again', async () => {
  expect(await json('accounts', 'limit', 'house', '--prepaid', '--credit-limit', '7')).toMatchObject({
    account: { money: { prepaid: true, creditLimit: '7' } },
  });
  expect(await json('accounts', 'limit', 'house', '--unlimited')).toMatchObject({
    account: { money: { prepaid: false, creditLimit: null } },
  });
});

test('a prepaid account that has nothing left is told by doctor, and one that has is not', async () => {
  await headgate('accounts', 'create', 'partner', '--prepaid');
  const doctor = async () => (await headgate('doctor', '--no-network')).out.replaceAll(/\s+/g, ' ');
  expect(await doctor()).toContain('headgate accounts credit partner AMOUNT --reason TEXT');
  await headgate('accounts', 'credit', 'partner', '0.000000001', ...reason);
  expect(await doctor()).not.toContain('accounts credit partner');
});

test('postings of an account that was never there are not an empty list', async () => {
  expect(await headgate('accounts', 'postings', 'hause')).toMatchObject({
    code: 1,
    err: expect.stringContaining('did you mean "house"') as unknown,
  });
});

test('what a file declares is changed there', async () => {
  const file = readConfigurationFile(
    'accounts: { filed: }\ngroups: { filed: { platform: messages } }\nchannels: { more: { provider: openai, models: [gpt-5] } }',
    'headgate.yaml',
  );
  if (!file.ok) throw new Error('it is right');
  const store = await openSqliteStore({
    file: storeFile(join(directory, 'data')),
    durability: 'strict',
    clock: { now: () => Date.now(), monotonic: () => 0 },
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  const tools = {
    catalogueFiles: openCatalogueFiles(),
    environment: environmentOf({}),
    peppers: [] as never,
  };
  await applyFile(
    { ...tools, store: store.configuration, clock: { now: () => Date.now(), monotonic: () => 0 } },
    file.value,
    { isForced: true, previousText: null },
  );
  await store.close();
  for (const family of ['accounts', 'groups']) {
    const { code, err } = await headgate(family, 'limit', 'filed', '--day', '1');
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(err).toContain(`is declared in the configuration file: change ${family}.filed there`);
  }
  expect(await headgate('accounts', 'credit', 'filed', '5', ...reason)).toMatchObject({ code: 0 });
});

test('an account shows its keys what it holds, and hides it again', async () => {
  await headgate('accounts', 'create', 'partner', '--show-balance');
  const shown = async () => {
    const { account } = await json('accounts', 'show', 'partner');
    return (account as { readonly showBalance: boolean }).showBalance;
  };
  expect(await shown()).toBe(true);
  expect(await headgate('accounts', 'limit', 'partner', '--hide-balance', '--show-keys')).toMatchObject({
    code: 0,
  });
  expect(await shown()).toBe(false);
  expect((await headgate('export')).out).toMatch(/partner:\n(?:\s+\w+: .*\n)*?\s+showKeys: true/);
  expect((await headgate('accounts', 'limit', 'partner', '--show-keys', '--hide-keys')).err).toContain(
    'name one of --show-keys and --hide-keys',
  );
});

test('keys are listed within 80 characters, whatever they are called, and say what they leave out', async () => {
  const name = 'A name that is much longer than a line of a list has room for';
  for (const each of [name, 'ci']) await headgate('keys', 'create', '--name', each);
  const { out } = await headgate('keys', 'list');
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(out).toContain('A name that is mu…');
  expect(out).toMatch(/^Also known, in a wider window or with --json: .*from\.$/m);
});

test.each(['account', 'group', 'key'])(
  'who names no %s is shown the way to the list of them',
  async (owner) => {
    const { err } = await headgate(`${owner}s`, 'show', 'zzzzzzzz');
    expect(err).toContain(`there is no ${owner} "zzzzzzzz"; headgate ${owner}s list names them`);
  },
);

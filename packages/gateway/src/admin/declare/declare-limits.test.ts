import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountFields } from '../../catalogue/entities.ts';
import { type Fields, readCells, writeCells } from '../../catalogue/fields.ts';
import type { DeclaredBudgets, DeclaredRates } from '../../catalogue/limit-fields.ts';
import { rateMembers } from '../../catalogue/limit-fields.ts';
import type { OwnerLimits } from '../../catalogue/limits.ts';
import { limitsFinder } from '../../catalogue/owner-limits.ts';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { environmentOf } from '../../config.ts';
import { type NanoUsd, nanoUsd } from '../../money/money.ts';
import { openCatalogueFiles } from '../catalogue-files.ts';
import { exportConfiguration } from '../export-configuration.ts';
import { keyHashes } from '../keys.ts';
import { declareFile } from './declare-file.ts';

const hashes = keyHashes([{ version: 1, secret: Buffer.from('a'.repeat(40)) }]);
const head = `
channels: { main: { provider: openai, models: [gpt-5-mini, gpt-5] } }
`;
const tail = `
peppers: [${hashes.fingerprints.join()}]
keys: { ci: { group: team, account: payer, secret: { hash: ${'ab'.repeat(32)}, hint: sk-a } } }
`;

function declared(text: string) {
  const file = readConfigurationFile(text, 'headgate.yaml');
  if (!file.ok) return file;
  const tools = { catalogue: openCatalogueFiles(), environment: environmentOf({}), nowMs: 0 };
  return declareFile(file.value, { ...tools, ...hashes });
}

function mustDeclare(text: string) {
  const read = declared(text);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

function limitsOf({ accounts, groups, keys }: ReturnType<typeof mustDeclare>): readonly OwnerLimits[] {
  const [key] = keys;
  if (key === undefined) throw new Error('there is a key');
  return limitsFinder(accounts, groups)(key);
}

test('what a file says of limits is what its calls are held to, with every digit as written', () => {
  const declaration = mustDeclare(`${head}
accounts:
  payer:
    prepaid: true
    showBalance: true
    creditLimit: 12345678.123456789
    timezone: europe/berlin
    budgets: { day: 0, month: 100.10 }
groups:
  team: { platform: completions, budgets: { total: "7.5", alertAt: 0.5 }, limits: { tokensPerMinute: 9 } }
peppers: [${hashes.fingerprints.join()}]
keys:
  ci:
    group: team
    account: payer
    secret: { hash: ${'ab'.repeat(32)}, hint: sk-a }
    limits: { requestsPerMinute: 60, models: { gpt-5: { concurrency: 2, imagesPerMinute: 3 }, gpt-5-mini: {} } }
`);
  expect(limitsOf(declaration)).toEqual([
    {
      ...{ owner: 'account', id: 'payer', creditLimitNanoUsd: 12_345_678_123_456_789n, rates: [] },
      ...{ timeZone: 'Europe/Berlin', alertAtPpm: 800_000, isShown: true },
      budgets: [
        { span: 'day', amountNanoUsd: 0n },
        { span: 'month', amountNanoUsd: 100_100_000_000n },
      ],
    },
    {
      ...{ owner: 'group', id: 'team', creditLimitNanoUsd: null, timeZone: 'UTC', alertAtPpm: 500_000 },
      isShown: false,
      budgets: [{ span: 'total', amountNanoUsd: 7_500_000_000n }],
      rates: [{ kind: 'tokens-per-minute', amount: 9, model: null }],
    },
    {
      ...{ owner: 'key', id: 'ci', creditLimitNanoUsd: null, budgets: [], alertAtPpm: 800_000 },
      timeZone: 'Europe/Berlin',
      isShown: true,
      rates: [
        { kind: 'requests-per-minute', amount: 60, model: null },
        { kind: 'images-per-minute', amount: 3, model: 'gpt-5' },
        { kind: 'concurrent-calls', amount: 2, model: 'gpt-5' },
      ],
    },
  ]);
});

test('owners without limits are left out, and keys share the limits of their account and group', () => {
  const plain = mustDeclare(
    `${head}accounts: { payer: }\ngroups: { team: { platform: completions } }${tail}`,
  );
  expect(limitsOf(plain)).toEqual([]);
  const { accounts, groups, keys } = mustDeclare(
    `${head}accounts: { payer: { prepaid: true } }\ngroups: { team: { platform: completions, limits: { concurrency: 1 } } }${tail}`,
  );
  const find = limitsFinder(accounts, groups);
  const [first, second] = [...keys, ...keys].map(find);
  expect(first).toMatchObject([{ owner: 'account', creditLimitNanoUsd: 0n }, { owner: 'group' }]);
  expect(first?.[0]).toBe(second?.[0]);
  expect(first?.[1]).toBe(second?.[1]);
});

const amountMistakes: readonly (readonly [given: string, reason: string])[] = [
  ['1e3', 'not a plain decimal'],
  ['.nan', 'must be an amount'],
  ['NaN', 'not a plain decimal'],
  ['-1', 'not a plain decimal'],
  ['1.0000000001', 'more than 9 digits'],
  ['1'.repeat(40), 'not a plain decimal'],
  ['1'.repeat(41), 'more than 40 characters'],
  ['1000000001', 'more than 1000000000 USD'],
  ['""', 'not a plain decimal'],
  ['true', 'must be an amount'],
];

test.each(amountMistakes)('an amount of %s is refused by its path', (given, reason) => {
  for (const [member, path] of [
    [`budgets: { day: ${given} }`, 'budgets.day'],
    [`prepaid: true, creditLimit: ${given}`, 'creditLimit'],
  ]) {
    const read = declared(
      `${head}accounts: { payer: { ${member} } }\ngroups: { team: { platform: completions } }${tail}`,
    );
    expect(read).toMatchObject({ ok: false, error: [{ path: `accounts.payer.${path}` }] });
    expect(JSON.stringify(read)).toContain(reason);
  }
});

const otherMistakes: readonly (readonly [members: string, path: string, reason: string])[] = [
  ['creditLimit: 5', 'creditLimit', 'only beside prepaid: true'],
  ['timezone: Europe/Atlantis', 'timezone', 'IANA name'],
  ['timezone: "+02:00"', 'timezone', 'IANA name'],
  ['budgets: { alertAt: 0.5 }', 'budgets.alertAt', 'no budget to tell of'],
  ['budgets: { day: 1, alertAt: 0 }', 'budgets.alertAt', 'above 0 and at most 1'],
  ['budgets: { day: 1, alertAt: 80 }', 'budgets.alertAt', 'above 0 and at most 1'],
  ['budgets: { week: 1 }', 'budgets.week', 'no such member'],
  ['limits: { requestsPerMinute: 0 }', 'limits.requestsPerMinute', 'must be 1 or more; leave it out'],
  ['limits: { tokensPerMinute: 1.5 }', 'limits.tokensPerMinute', 'whole number'],
  ['limits: { requestPerMinute: 1 }', 'limits.requestPerMinute', 'did you mean "requestsPerMinute"'],
  ['limits: { models: { gpt-6: {} } }', 'limits.models.gpt-6', 'there is no model "gpt-6"'],
  ['limits: { models: { gpt-5: { day: 1 } } }', 'limits.models.gpt-5.day', 'no such member'],
];

test.each(otherMistakes)('%s is refused with the fix', (members, path, reason) => {
  const read = declared(
    `${head}accounts: { payer: { ${members} } }\ngroups: { team: { platform: completions } }${tail}`,
  );
  expect(read).toMatchObject({ ok: false, error: [{ path: `accounts.payer.${path}` }] });
  expect(JSON.stringify(read).replaceAll('\\', '')).toContain(reason);
});

const amount = fc
  .bigInt({ min: 0n, max: 1_000_000_000_000_000_000n })
  .map((value): NanoUsd => nanoUsd(value));
const budgets: fc.Arbitrary<DeclaredBudgets | null> = fc.option(
  fc
    .record({
      day: fc.option(amount),
      month: fc.option(amount),
      total: amount,
      alertAtPpm: fc.integer({ min: 1, max: 1_000_000 }),
    })
    .filter((given) => given !== null),
);
const rates = fc.dictionary(fc.constantFrom(...Object.keys(rateMembers)), fc.integer({ min: 1, max: 1e12 }));
const limits: fc.Arbitrary<DeclaredRates | null> = fc.option(
  fc
    .record({ own: rates, models: fc.dictionary(fc.constantFrom('gpt-5', 'gpt-5-mini'), rates) })
    .map(({ own, models }) => ({ ...own, models })),
);
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Tokyo', 'America/New_York');
const money = fc.oneof(
  fc.constant({ prepaid: false, creditLimitNanoUsd: null }),
  fc.record({ prepaid: fc.constant(true), creditLimitNanoUsd: fc.option(amount) }),
);

test('limits go through the store and through an export unchanged', () => {
  const base = mustDeclare(`${head}accounts: { payer: }\ngroups: { team: { platform: completions } }${tail}`);
  const owner = fc.record({ budgets, limits });
  fc.assert(
    fc.property(owner, owner, owner, money, zone, zone, (first, second, third, balance, here, there) => {
      const declaration = {
        ...base,
        accounts: base.accounts.map((each) => ({ ...each, ...first, ...balance, timeZone: here })),
        groups: base.groups.map((each) => ({ ...each, ...second, timeZone: there })),
        keys: base.keys.map((each) => ({ ...each, ...third })),
      };
      const state = { status: 'active', source: 'file', createdAtMs: 0, retiresAtMs: null } as const;
      const keys = declaration.keys.map((key) => ({ ...key, ...state, replacedBy: null }));
      const from = <Row>(row: Row) => ({ ...row, source: 'file' as const });
      const { accounts, groups, channels, models } = declaration;
      const rows = {
        ...{ accounts: accounts.map(from), groups: groups.map(from) },
        ...{ channels: channels.map(from), models: models.map(from) },
      };
      const stored = {
        ...declaration,
        ...rows,
        webhooks: [],
        keys,
        prices: [],
        credentials: [],
        revision: 1,
      };
      const text = exportConfiguration(stored, hashes.fingerprints, 1);
      expect(limitsOf(mustDeclare(text))).toEqual(limitsOf(declaration));
      for (const account of declaration.accounts) expect(kept(accountFields, account)).toBe(true);
    }),
  );
});

/** Tells if the cells of an entity are the same after it was read from them. */
function kept<Table extends Fields>(fields: Table, values: Parameters<typeof writeCells<Table>>[1]): boolean {
  const cells = writeCells(fields, values);
  const asStored = Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => [name, typeof cell === 'number' ? BigInt(cell) : cell]),
  );
  const again = writeCells(fields, readCells(fields, asStored));
  return Object.entries(cells).every(([name, cell]) => String(again[name]) === String(cell));
}

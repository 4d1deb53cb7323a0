import { userInfo } from 'node:os';
import { adjustAccount, createAccount } from '../admin/accounts.ts';
import { accountPostings, adjustmentReport, listAccounts } from '../admin/owner-report.ts';
import { formatNanoUsd } from '../money/money.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { limitBody, limitOptions, printRefusal } from './limit-options.ts';
import { accountTools, optionProblem, ownerCommands } from './owner-commands.ts';
import { adjustmentsText } from './owner-text.ts';
import { right, tableText } from './table.ts';
import { withWorkspace } from './workspace.ts';

const reasonOptions = {
  reason: { placeholder: 'TEXT', help: 'Why, for whoever reads it later; needed' },
  reference: {
    placeholder: 'TEXT',
    help: 'A name of its own, such as that of a payment: the same is never booked twice',
  },
};

export const accountsCommands: readonly Command[] = [
  command({ name: 'accounts list', summary: 'List the accounts and their balances', run: list }),
  command({
    name: 'accounts create',
    usage: 'ID',
    positionals: { min: 1, max: 1 },
    summary: 'Make an account',
    options: {
      name: { placeholder: 'TEXT', help: 'What people call it' },
      ...limitOptions('account'),
    },
    examples: ['headgate accounts create partner-one --prepaid --credit-limit 5 --month 400'],
    run: create,
  }),
  command({
    name: 'accounts credit',
    usage: 'ID AMOUNT',
    positionals: { min: 2, max: 2 },
    summary: 'Give an account money, in USD',
    options: reasonOptions,
    examples: [
      'headgate accounts credit partner-one 250.00 --reason "Invoice 2026-118" --reference pay-7f3a',
    ],
    run: (context) => adjust(context, 'credit'),
  }),
  command({
    name: 'accounts debit',
    usage: 'ID AMOUNT',
    positionals: { min: 2, max: 2 },
    summary: 'Take money from an account, in USD',
    options: {
      ...reasonOptions,
      force: { placeholder: null, help: 'Also where a prepaid account would then owe more than it may' },
    },
    run: (context) => adjust(context, 'debit'),
  }),
  command({
    name: 'accounts postings',
    usage: 'ID',
    positionals: { min: 1, max: 1 },
    summary: 'List the credits and debits of an account with their reasons',
    options: { limit: { placeholder: 'N', help: 'How many, the newest first (100)' } },
    run: postings,
  }),
  ...ownerCommands('account'),
];

function list(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const accounts = await listAccounts(accountTools(workspace));
    const rows = accounts.map(
      ({ id, name, balance, leased, prepaid, creditLimit, discount, keys, source }) => [
        ...[id, name, prepaid ? 'prepaid' : 'unlimited', balance, leased],
        ...[
          creditLimit ?? '–',
          Array.isArray(discount) ? 'by model' : `${discount ?? 0} %`,
          String(keys),
          source,
        ],
      ],
    );
    const titles = [
      'id',
      'name',
      'kind',
      right('balance'),
      right('held'),
      right('credit limit'),
      right('discount'),
      right('keys'),
    ];
    const text =
      rows.length === 0
        ? 'There are no accounts yet.'
        : tableText([...titles, 'from'], rows, context.output.color, '  ');
    printResult(context.output, { accounts }, text);
    return 'ok';
  });
}

function create(context: CommandContext): Promise<ExitReason> {
  const { options, output, positionals } = context;
  const problem = optionProblem(context);
  if (problem !== null) {
    printFailure(output, [problem]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async (workspace) => {
    const body = {
      id: positionals[0],
      ...(options['name'] === undefined ? {} : { name: options['name'] }),
      ...limitBody('account', context),
    };
    const created = await createAccount(accountTools(workspace), body);
    if (!created.ok) return printRefusal(context, created.error);
    const { id, name, prepaid } = created.value;
    const next = prepaid ? ` Give it money: headgate accounts credit ${id} AMOUNT --reason TEXT` : '';
    printResult(output, { id, name, prepaid }, `The account ${id} is there.${next}`);
    return 'ok';
  });
}

function adjust(context: CommandContext, direction: 'credit' | 'debit'): Promise<ExitReason> {
  const { options, output } = context;
  const [id = '', amount] = context.positionals;
  return withWorkspace(context, async (workspace) => {
    const body = {
      ...{ amount, reason: options['reason'] ?? '', reference: options['reference'] ?? null },
      ...(options['force'] === undefined ? {} : { force: true }),
    };
    const adjusted = await adjustAccount(accountTools(workspace), direction, id, body, whoAsks());
    if (!adjusted.ok) return printRefusal(context, adjusted.error);
    const { adjustment, isNew } = adjusted.value;
    const balance = formatNanoUsd(adjusted.value.balanceNanoUsd);
    const report = adjustmentReport(adjustment);
    const what = isNew ? 'is booked' : `was booked already, as ${adjustment.id}, and is not booked again`;
    const below = balance.startsWith('-') && direction === 'debit' ? ' It is below zero.' : '';
    printResult(
      output,
      { ...report, account: id, balance, isNew },
      `The ${direction} of ${amount} USD ${what}. The balance of ${id} is ${balance} USD.${below}`,
    );
    return 'ok';
  });
}

/** The user of this machine, as far as it has a name. */
function whoAsks(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli';
  }
}

function postings(context: CommandContext): Promise<ExitReason> {
  const given = context.options['limit'] ?? '100';
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit === 0) {
    printFailure(context.output, ['--limit must be a whole number from 1 to 999999']);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async (workspace) => {
    const [id = ''] = context.positionals;
    const found = await accountPostings(accountTools(workspace), id, limit);
    if (!found.ok) {
      printFailure(context.output, [found.error]);
      return 'failed';
    }
    const adjustments = found.value;
    const { color } = context.output;
    const text = adjustments.length === 0 ? 'There are none yet.' : adjustmentsText(adjustments, color);
    printResult(context.output, { account: id, postings: adjustments }, text);
    return 'ok';
  });
}

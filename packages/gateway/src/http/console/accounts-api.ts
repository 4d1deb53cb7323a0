import { z } from 'zod';
import {
  type AccountTools,
  accountBody,
  adjustAccount,
  adjustmentBody,
  amendOwner,
  createAccount,
} from '../../admin/accounts.ts';
import { accountDeclaration } from '../../admin/owner-declaration.ts';
import {
  accountPostings,
  accountReport,
  adjustmentReport,
  listAccounts,
  spendOfDays,
} from '../../admin/owner-report.ts';
import { type Actor, includes, nameOf } from '../../admin/people/actor.ts';
import { patchBodies } from '../../catalogue/limit-patch.ts';
import { formatNanoUsd } from '../../money/money.ts';
import { pageQuery } from './contract/common.ts';
import { declarationView, usageDaysQuery } from './contract/keys.ts';
import { accountPage, adjustedView, adjustmentPage, ownerView, spendView } from './contract/owners.ts';
import { answer, type ConsoleAnswer, type ConsoleProblem, created } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';
import { notThere, problemOf } from './owner-problems.ts';

/** The source of the answers. */
export interface AccountSources {
  /** Tools as of now, for whoever asks. */
  accounts(actor: Actor): AccountTools;
}

type OwnerAnswer =
  Awaited<ReturnType<typeof accountReport>> extends infer Report
    ? Report extends { readonly ok: true; readonly value: infer Value }
      ? Value
      : never
    : never;

/** Money and limits, as the command line shows and changes them. Amounts are text. */
export function accountsApi(api: ConsoleApi, { accounts }: AccountSources): void {
  api.route(
    {
      ...{ method: 'get', path: '/accounts', access: 'viewer', tag: 'Accounts' },
      summary: 'Accounts, with their balances',
      answer: accountPage,
    },
    async ({ actor, scope }) => answer({ items: await listAccounts(accounts(actor), scope), next: null }),
  );
  api.route(
    {
      ...{ method: 'post', path: '/accounts', access: 'operator', tag: 'Accounts', creates: true },
      summary: 'Adds an account',
      rawBody: accountBody,
      answer: ownerView,
    },
    async ({ actor, body }) => {
      const made = await createAccount(accounts(actor), body);
      return made.ok ? report(accounts(actor), made.value.id, created) : problemOf(made.error);
    },
  );
  for (const direction of ['credit', 'debit'] as const) serveAdjustment(api, accounts, direction);
  serveAccount(api, accounts);
  serveHistory(api, accounts);
}

function serveHistory(api: ConsoleApi, accounts: AccountSources['accounts']): void {
  const one = { method: 'get', access: 'viewer', tag: 'Accounts' } as const;
  api.route(
    {
      ...{ ...one, path: '/accounts/{id}/postings', query: pageQuery, answer: adjustmentPage },
      summary: 'Credits and debits of an account, the newest first',
    },
    async ({ actor, params, query, scope }) => {
      const cursor = readCursor(query.cursor, z.tuple([z.string()]));
      if (!cursor.ok) return cursor.error;
      if (!includes(scope, params.id)) return noAccount(params.id);
      const before = cursor.value?.[0] ?? null;
      const postings = await accountPostings(accounts(actor), params.id, query.limit + 1, before);
      return postings.ok
        ? answer(page(postings.value, query.limit, ({ id }) => [id]))
        : notThere(postings.error);
    },
  );
  api.route(
    {
      ...{ ...one, path: '/accounts/{id}/usage', query: usageDaysQuery, answer: spendView },
      summary: 'What an account was charged by day',
    },
    async ({ actor, params, query, scope }) => {
      if (!includes(scope, params.id)) return noAccount(params.id);
      return answer({ days: await spendOfDays(accounts(actor), `account:${params.id}`, query.days) });
    },
  );
  api.route(
    {
      ...{ ...one, path: '/accounts/{id}/declaration', answer: declarationView },
      summary: 'An account as a configuration file declares it',
    },
    async ({ actor, params, scope }) => {
      const { accounts: found } = await accounts(actor).store.keys.choices(scope);
      const account = found.find(({ id }) => id === params.id);
      return account === undefined ? noAccount(params.id) : answer({ yaml: accountDeclaration(account) });
    },
  );
}

function noAccount(id: string): ConsoleProblem {
  return notThere(`There is no account "${id}".`);
}

function serveAdjustment(
  api: ConsoleApi,
  accounts: AccountSources['accounts'],
  direction: 'credit' | 'debit',
): void {
  api.route(
    {
      ...{ method: 'post', path: `/accounts/{id}/${direction}`, access: 'operator', tag: 'Accounts' },
      summary: direction === 'credit' ? 'Gives money to an account' : 'Takes money from an account',
      description: 'Made once for each `reference`.',
      creates: true,
      rawBody: adjustmentBody,
      answer: adjustedView,
    },
    async ({ actor, params, body }) => {
      const adjusted = await adjustAccount(accounts(actor), direction, params.id, body, nameOf(actor));
      if (!adjusted.ok) return problemOf(adjusted.error);
      const { adjustment, balanceNanoUsd, isNew } = adjusted.value;
      const made = {
        ...adjustmentReport(adjustment),
        ...{ account: params.id, balance: formatNanoUsd(balanceNanoUsd), isNew },
      };
      return isNew ? created(made) : answer(made);
    },
  );
}

function serveAccount(api: ConsoleApi, accounts: AccountSources['accounts']): void {
  const one = { path: '/accounts/{id}', tag: 'Accounts', answer: ownerView } as const;
  api.route(
    { ...one, method: 'get', access: 'viewer', summary: 'Money and limits of an account' },
    ({ actor, params, scope }) =>
      includes(scope, params.id) ? report(accounts(actor), params.id, answer) : noAccount(params.id),
  );
  api.route(
    {
      ...{ ...one, method: 'patch', access: 'operator', summary: 'Changes an account' },
      description: 'A merge patch (RFC 7396): what it does not name stays, null takes away.',
      rawBody: patchBodies.account,
    },
    async ({ actor, params, body, ifMatch }) => {
      const before = await accountReport(accounts(actor), params.id);
      const stale = before.ok ? ifMatch(versionOf(before.value)) : null;
      if (stale !== null) return stale;
      const amended = await amendOwner(accounts(actor), 'account', params.id, body);
      return amended.ok ? report(accounts(actor), amended.value, answer) : problemOf(amended.error);
    },
  );
}

async function report(
  tools: AccountTools,
  id: string,
  say: typeof answer<OwnerAnswer>,
): Promise<ConsoleAnswer<OwnerAnswer> | ConsoleProblem> {
  const found = await accountReport(tools, id);
  return found.ok ? say(found.value, { version: versionOf(found.value) }) : notThere(found.error);
}

/** All that a patch may change. */
function versionOf({ name, timezone, budgets, alertAt, limits, account }: OwnerAnswer) {
  const amounts = budgets.map(({ span, amount }) => ({ span, amount }));
  const { money, showBalance, showKeys, groups, discount } = account ?? {};
  const terms = {
    prepaid: money?.prepaid,
    creditLimit: money?.creditLimit,
    showBalance,
    showKeys,
    groups,
    discount,
  };
  return { name, timezone, amounts, alertAt, limits, terms };
}

import {
  type AccountRefusal,
  type AccountTools,
  accountBody,
  adjustAccount,
  adjustmentBody,
  amendOwner,
  createAccount,
} from '../../admin/accounts.ts';
import { accountPostings, adjustmentReport, listAccounts, ownerReport } from '../../admin/owner-report.ts';
import type { Actor } from '../../admin/people/actor.ts';
import { patchBodies } from '../../catalogue/limit-patch.ts';
import type { OwnerKind } from '../../catalogue/limits.ts';
import { formatNanoUsd } from '../../money/money.ts';
import { accountPage, adjustedView, adjustmentPage, adjustmentQuery, ownerView } from './contract/owners.ts';
import {
  answer,
  type ConsoleAnswer,
  type ConsoleProblem,
  created,
  invalid,
  problem,
} from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface AccountSources {
  /** Tools as of now, for whoever asks. */
  accounts(actor: Actor): AccountTools;
}

type OwnerAnswer =
  Awaited<ReturnType<typeof ownerReport>> extends infer Report
    ? Report extends { readonly ok: true; readonly value: infer Value }
      ? Value
      : never
    : never;

const owners = ['account', 'group', 'key'] as const satisfies readonly OwnerKind[];

/** Money and limits, as the command line shows and changes them. Amounts are text. */
export function accountsApi(api: ConsoleApi, { accounts }: AccountSources): void {
  api.route(
    {
      ...{ method: 'get', path: '/accounts', access: 'operator', tag: 'Accounts' },
      summary: 'All accounts, with their balances',
      answer: accountPage,
    },
    async ({ actor }) => answer({ items: await listAccounts(accounts(actor)), next: null }),
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
      return made.ok ? report(accounts(actor), 'account', made.value.id, created) : problemOf(made.error);
    },
  );
  for (const direction of ['credit', 'debit'] as const) serveAdjustment(api, accounts, direction);
  api.route(
    {
      ...{ method: 'get', path: '/accounts/{id}/postings', access: 'operator', tag: 'Accounts' },
      summary: 'Credits and debits of an account, the newest first',
      query: adjustmentQuery,
      answer: adjustmentPage,
    },
    async ({ actor, params, query }) => {
      const postings = await accountPostings(accounts(actor), params.id, query.limit);
      return postings.ok ? answer({ items: postings.value, next: null }) : notThere(postings.error);
    },
  );
  for (const owner of owners) serveOwner(api, accounts, owner);
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
      const adjusted = await adjustAccount(accounts(actor), direction, params.id, body, 'console');
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

function serveOwner(api: ConsoleApi, accounts: AccountSources['accounts'], owner: OwnerKind): void {
  const path = `/${owner}s/{id}` as const;
  const tag = `${owner[0]?.toUpperCase()}${owner.slice(1)}s`;
  api.route(
    {
      ...{ method: 'get', path, access: 'operator', tag, answer: ownerView },
      summary: `Money and limits of the ${owner}`,
    },
    ({ actor, params }) => report(accounts(actor), owner, params.id, answer),
  );
  api.route(
    {
      ...{ method: 'patch', path, access: 'operator', tag, answer: ownerView },
      summary: `Changes limits of the ${owner}`,
      description: 'A merge patch (RFC 7396): what it does not name stays, null takes away.',
      rawBody: patchBodies[owner],
    },
    async ({ actor, params, body, ifMatch }) => {
      const before = await ownerReport(accounts(actor), owner, params.id);
      const stale = before.ok ? ifMatch(versionOf(before.value)) : null;
      if (stale !== null) return stale;
      const amended = await amendOwner(accounts(actor), owner, params.id, body);
      return amended.ok ? report(accounts(actor), owner, amended.value, answer) : problemOf(amended.error);
    },
  );
}

async function report(
  tools: AccountTools,
  owner: OwnerKind,
  id: string,
  say: typeof answer<OwnerAnswer>,
): Promise<ConsoleAnswer<OwnerAnswer> | ConsoleProblem> {
  const found = await ownerReport(tools, owner, id);
  return found.ok ? say(found.value, { version: versionOf(found.value) }) : notThere(found.error);
}

/** All that a patch may change. */
function versionOf({ name, timezone, budgets, alertAt, limits, account }: OwnerAnswer) {
  const amounts = budgets.map(({ span, amount }) => ({ span, amount }));
  const { money, showBalance, discount } = account ?? {};
  const terms = { prepaid: money?.prepaid, creditLimit: money?.creditLimit, showBalance, discount };
  return { name, timezone, amounts, alertAt, limits, terms };
}

function notThere(message: string): ConsoleProblem {
  return problem('not_found', message, [{ field: 'id', message }]);
}

function problemOf(refusal: AccountRefusal): ConsoleProblem {
  switch (refusal.kind) {
    case 'unknown':
      return notThere(refusal.message);
    case 'conflict':
      return problem('conflict', refusal.message, [{ field: refusal.member, message: refusal.message }]);
    case 'invalid':
      return invalid(refusal.mistakes.map(({ path, message }) => ({ field: path.join('.'), message })));
  }
}

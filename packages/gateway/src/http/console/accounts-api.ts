import { type Context, Hono } from 'hono';
import {
  type AccountRefusal,
  type AccountTools,
  adjustAccount,
  amendOwner,
  createAccount,
} from '../../admin/accounts.ts';
import { accountPostings, adjustmentReport, listAccounts, ownerReport } from '../../admin/owner-report.ts';
import type { OwnerKind } from '../../catalogue/limits.ts';
import { formatNanoUsd } from '../../money/money.ts';
import { readJson, smallBody } from './json-body.ts';
import { type ConsoleProblem, sendProblem } from './operator-gate.ts';

/** The source of the answers. */
export interface AccountSources {
  /** Tools as of now. */
  accounts(): AccountTools;
}

const owners = ['account', 'group', 'key'] as const satisfies readonly OwnerKind[];

const postingsMax = 1_000;
const postingsUsual = 100;

/**
 * Money and limits, as the command line shows and changes them: `GET` and `POST /accounts`, `POST /accounts/:id/credit` and `/debit`,
 * `GET /accounts/:id/postings`; `GET` and `PATCH` of `/accounts/:id`, `/groups/:id` and `/keys/:id`. Amounts are text.
 */
export function accountsApi({ accounts }: AccountSources): Hono {
  const routes = new Hono();
  routes.get('/accounts', async (context) => context.json({ accounts: await listAccounts(accounts()) }));
  routes.post('/accounts', smallBody(), async (context) => {
    const body = await readJson(context);
    if (!body.ok) return sendProblem(context, body.error);
    const created = await createAccount(accounts(), body.value);
    if (!created.ok) return sendProblem(context, problemOf(created.error));
    return sendReport(context, accounts(), 'account', created.value.id, 201);
  });
  for (const direction of ['credit', 'debit'] as const)
    routes.post(`/accounts/:id/${direction}`, smallBody(), async (context) => {
      const body = await readJson(context);
      if (!body.ok) return sendProblem(context, body.error);
      const id = context.req.param('id') ?? '';
      const adjusted = await adjustAccount(accounts(), direction, id, body.value, 'console');
      if (!adjusted.ok) return sendProblem(context, problemOf(adjusted.error));
      const { adjustment, balanceNanoUsd, isNew } = adjusted.value;
      const report = { ...adjustmentReport(adjustment), account: id, balance: formatNanoUsd(balanceNanoUsd) };
      return context.json({ ...report, isNew }, isNew ? 201 : 200);
    });
  routes.get('/accounts/:id/postings', async (context) => {
    const given = context.req.query('limit') ?? String(postingsUsual);
    const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0;
    if (limit < 1 || limit > postingsMax) return sendProblem(context, wrongLimit);
    const account = context.req.param('id');
    const postings = await accountPostings(accounts(), account, limit);
    return postings.ok
      ? context.json({ account, postings: postings.value })
      : sendProblem(context, notThere(postings.error));
  });
  for (const owner of owners) serveOwner(routes, accounts, owner);
  return routes;
}

function serveOwner(routes: Hono, tools: () => AccountTools, owner: OwnerKind): void {
  routes.get(`/${owner}s/:id`, (context) =>
    sendReport(context, tools(), owner, context.req.param('id') ?? '', 200),
  );
  routes.patch(`/${owner}s/:id`, smallBody(), async (context) => {
    const body = await readJson(context);
    if (!body.ok) return sendProblem(context, body.error);
    const amended = await amendOwner(tools(), owner, context.req.param('id') ?? '', body.value);
    if (!amended.ok) return sendProblem(context, problemOf(amended.error));
    return sendReport(context, tools(), owner, amended.value, 200);
  });
}

async function sendReport(
  context: Context,
  tools: AccountTools,
  owner: OwnerKind,
  id: string,
  status: 200 | 201,
): Promise<Response> {
  const report = await ownerReport(tools, owner, id);
  return report.ok ? context.json(report.value, status) : sendProblem(context, notThere(report.error));
}

function notThere(message: string): ConsoleProblem {
  return { status: 404, code: 'not_found', message, param: 'id' };
}

function problemOf(refusal: AccountRefusal): ConsoleProblem {
  const { kind } = refusal;
  if (kind === 'unknown') return notThere(refusal.message);
  if (kind === 'conflict')
    return { status: 409, code: 'conflict', message: refusal.message, param: refusal.member };
  const texts = refusal.mistakes.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  const [first] = refusal.mistakes;
  const param = first === undefined ? '' : first.path.join('.');
  return {
    ...{ status: 400, code: 'invalid_request', message: texts.slice(0, 20).join('; ') },
    ...(param === '' ? {} : { param }),
  };
}

const wrongLimit: ConsoleProblem = {
  status: 400,
  code: 'invalid_request',
  message: `limit: must be a whole number from 1 to ${postingsMax}`,
  param: 'limit',
};

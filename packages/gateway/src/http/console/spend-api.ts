import type { Scope } from '../../admin/people/actor.ts';
import { type SpendTools, spendReport, spendTable } from '../../admin/spend.ts';
import type { CallFilter } from '../../ports/call-reports.ts';
import { type SpendTableQuery, spendQuery, spendReportView, spendTableQuery } from './contract/spend.ts';
import { answer, type ConsoleProblem, invalid } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface SpendSources {
  spend(scope: Scope): SpendTools;
}

const usualMs = 30 * 86_400_000;

/** Tells what calls were charged, and what they cost, by what they have in common. */
export function spendApi(api: ConsoleApi, { spend }: SpendSources): void {
  const common = { method: 'get', access: 'viewer', tag: 'Spend' } as const;
  api.route(
    {
      ...{ ...common, path: '/spend', query: spendQuery, answer: spendReportView },
      summary:
        'Sums of what calls were charged, by key, account, model or another thing that they have in common',
    },
    async ({ query: { limit, ...query }, scope }) => {
      const refusal = refusalOf(query, scope);
      if (refusal !== null) return refusal;
      const tools = spend(scope);
      const filter = filterOf(query, scope, tools.nowMs);
      return answer(await spendReport(tools, scope, { by: query.by, filter, limit }));
    },
  );
  api.stream(
    {
      ...{ ...common, path: '/spend/export', query: spendTableQuery },
      summary: 'The same as CSV, exact and whole',
      produces: 'text/csv',
    },
    async ({ query, scope }) => {
      const refusal = refusalOf(query, scope);
      if (refusal !== null) return refusal;
      const tools = spend(scope);
      const filter = filterOf(query, scope, tools.nowMs);
      return new Response(await spendTable(tools, { by: query.by, filter }), { headers });
    },
  );
}

const headers = {
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': 'attachment; filename="headgate-spend.csv"',
} as const;

function refusalOf({ by, channel, from, to }: SpendTableQuery, scope: Scope): ConsoleProblem | null {
  if (from !== undefined && to !== undefined && Date.parse(to) <= Date.parse(from))
    return invalid([{ field: 'to', message: 'must be later than from' }]);
  if (scope === 'all') return null;
  const message = 'is for operators: leave it out';
  if (channel !== undefined) return invalid([{ field: 'channel', message }]);
  return by === 'channel' ? invalid([{ field: 'by', message: 'channel is for operators' }]) : null;
}

/** The filter, within the accounts that may be seen. */
function filterOf(query: SpendTableQuery, scope: Scope, nowMs: number): CallFilter {
  const { from, to, account, key, model, tag, channel } = query;
  return {
    fromMs: from === undefined ? nowMs - usualMs : Date.parse(from),
    ...(to === undefined ? {} : { toMs: Date.parse(to) }),
    ...(account === undefined ? {} : { accountId: account }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(model === undefined ? {} : { model }),
    ...(tag === undefined ? {} : { tag }),
    ...(channel === undefined ? {} : { channelId: channel }),
    ...(scope === 'all' ? {} : { accountIds: scope }),
  };
}

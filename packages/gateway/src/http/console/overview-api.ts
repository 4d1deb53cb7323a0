import { type OverviewTools, overviewOf } from '../../admin/overview.ts';
import { includes, type Scope } from '../../admin/people/actor.ts';
import { overviewQuery, overviewView } from './contract/overview.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface OverviewSources {
  overview(scope: Scope): OverviewTools;
}

/** How it goes, from sums that are made behind the calls. */
export function overviewApi(api: ConsoleApi, { overview }: OverviewSources): void {
  api.route(
    {
      ...{ method: 'get', path: '/overview', access: 'viewer', tag: 'Overview' },
      summary: 'Calls, spending and times of first content, and what needs attention',
      query: overviewQuery,
      answer: overviewView,
    },
    async ({ query: { range = '24h', account }, scope }) => {
      if (account !== undefined && !includes(scope, account))
        return problem('not_found', 'There is no such account.');
      return answer(await overviewOf(overview(scope), account === undefined ? scope : [account], range));
    },
  );
}

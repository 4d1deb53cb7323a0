import type { Result } from '@headgate/protocols';
import {
  type RouteExplanation,
  type RouteProblem,
  type RouteQuestion,
  readRouteQuestion,
  routeQuestion,
} from '../../admin/explain-route.ts';
import { pastRoute } from '../../admin/past-route.ts';
import type { LedgerRecord } from '../../ports/store.ts';
import { pastRouteView, routePlanView } from './contract/routing.ts';
import { answer, invalid, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The sources of the answers. */
export interface RouteSources {
  explainRoute(question: RouteQuestion): Result<RouteExplanation, RouteProblem>;
  findEntry(traceId: string): Promise<LedgerRecord | null>;
}

/** Tells where calls go and why: of one that is not made, and of one that was. */
export function routeApi(api: ConsoleApi, sources: RouteSources): void {
  api.route(
    {
      ...{ method: 'post', path: '/route/explain', access: 'operator', tag: 'Routing' },
      summary: 'Where a call would go now, and why; none is made',
      rawBody: routeQuestion,
      answer: routePlanView,
    },
    ({ body }) => {
      const question = readRouteQuestion(body);
      if (!question.ok) return invalid(question.error);
      const explained = sources.explainRoute(question.value);
      return explained.ok ? answer(explained.value) : invalid([explained.error]);
    },
  );
  api.route(
    {
      ...{ method: 'get', path: '/calls/{trace}/route', access: 'operator', tag: 'Routing' },
      summary: 'How a call was routed',
      answer: pastRouteView,
    },
    async ({ params }) => {
      if (!/^[0-9a-f]{32}$/.test(params.trace)) return notATrace;
      const record = await sources.findEntry(params.trace);
      return record === null ? noSuchCall : answer(pastRoute(record));
    },
  );
}

const notATrace = invalid([
  { field: 'trace', message: 'must be the 32 hexadecimal digits that an answer bears as x-trace-id' },
]);

const noSuchCall = problem('not_found', 'There is no call with this trace id.', [
  { field: 'trace', message: 'names no call' },
]);

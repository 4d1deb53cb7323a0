import { fail, type Result } from '@headgate/protocols';
import { type Context, Hono } from 'hono';
import {
  type RouteExplanation,
  type RouteProblem,
  type RouteQuestion,
  readRouteQuestion,
} from '../../admin/explain-route.ts';
import { pastRoute } from '../../admin/past-route.ts';
import type { LedgerRecord } from '../../ports/store.ts';
import { readJson, smallBody } from './json-body.ts';
import { type ConsoleProblem, sendProblem } from './operator-gate.ts';

/** The sources of the answers. */
export interface RouteSources {
  explainRoute(question: RouteQuestion): Result<RouteExplanation, RouteProblem>;
  findEntry(traceId: string): Promise<LedgerRecord | null>;
}

/** Tells where calls go and why: `POST /route/explain` without making one, `GET /calls/:trace/route` of one that was made. */
export function routeApi(sources: RouteSources): Hono {
  const routes = new Hono();
  routes.post('/route/explain', smallBody(), async (context) => {
    const question = await readBody(context);
    if (!question.ok) return sendProblem(context, question.error);
    const explained = sources.explainRoute(question.value);
    return explained.ok ? context.json(explained.value) : sendProblem(context, problemOf(explained.error));
  });
  routes.get('/calls/:trace/route', async (context) => {
    const trace = context.req.param('trace');
    if (!/^[0-9a-f]{32}$/.test(trace)) return sendProblem(context, notATrace);
    const record = await sources.findEntry(trace);
    return record === null ? sendProblem(context, noSuchCall) : context.json(pastRoute(record));
  });
  return routes;
}

async function readBody(context: Context): Promise<Result<RouteQuestion, ConsoleProblem>> {
  const parsed = await readJson(context);
  if (!parsed.ok) return parsed;
  const question = readRouteQuestion(parsed.value);
  if (question.ok) return question;
  const [first, ...others] = question.error;
  const rest = others.map(({ field, message }) => `; ${field} ${message}`).join('');
  const problem = problemOf(first ?? { field: '', message: 'it cannot be read' });
  return fail({ ...problem, message: `${problem.message}${rest}` });
}

function problemOf({ field, message }: RouteProblem): ConsoleProblem {
  const problem = { status: 400, code: 'invalid_request' } as const;
  return field === ''
    ? { ...problem, message }
    : { ...problem, message: `${field}: ${message}`, param: field };
}

const notATrace: ConsoleProblem = {
  status: 400,
  code: 'invalid_request',
  message: 'trace: must be the 32 hexadecimal digits that an answer bears as x-trace-id',
  param: 'trace',
};

const noSuchCall: ConsoleProblem = {
  status: 404,
  code: 'not_found',
  message: 'There is no call with this trace id.',
  param: 'trace',
};

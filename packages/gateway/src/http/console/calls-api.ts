import { z } from 'zod';
import {
  type CallTools,
  callPage,
  callSums,
  type ExportFormat,
  exportCalls,
  oneCall,
} from '../../admin/calls.ts';
import { nameOf, type Scope } from '../../admin/people/actor.ts';
import type { CallQuery } from '../../ports/call-search.ts';
import {
  type CallFilterQuery,
  callExportQuery,
  callFilterQuery,
  callPageQuery,
  callRowPage,
  callSumsView,
  callView,
} from './contract/calls.ts';
import { answer, type ConsoleProblem, invalid, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { readCursor, writeCursor } from './frame/pages.ts';

/** The source of the answers. */
export interface CallSources {
  callTools(scope: Scope): CallTools;
}

/** Exports under way: of one person, and of all. Each takes its turns with the pages of others. */
const exportsMax = { each: 2, all: 8 };

/** The ledger: pages, sums and exports of filters, and single calls with where their charge comes from. */
export function callsApi(api: ConsoleApi, { callTools }: CallSources): void {
  const common = { method: 'get', access: 'viewer', tag: 'Calls' } as const;
  api.route(
    {
      ...{ ...common, path: '/calls', query: callPageQuery, answer: callRowPage },
      summary: 'Calls of a filter, the newest first',
    },
    async ({ query: { cursor, limit, ...filter }, scope }) => {
      const before = readCursor(cursor, z.tuple([z.string().max(40)]));
      if (!before.ok) return before.error;
      const refusal = refusalOf(filter, scope);
      if (refusal !== null) return refusal;
      const { lines, next, searchedToMs } = await callPage(
        callTools(scope),
        queryOf(filter, scope),
        limit,
        before.value?.[0] ?? null,
      );
      return answer({
        items: lines,
        next: next === null ? null : writeCursor([next]),
        searchedTo: searchedToMs === null ? null : new Date(searchedToMs).toISOString(),
      });
    },
  );
  api.route(
    {
      ...{ ...common, path: '/calls/sums', query: callFilterQuery, answer: callSumsView },
      summary: 'Sums over the ended calls of a filter',
    },
    async ({ query, scope }) =>
      refusalOf(query, scope) ?? answer(await callSums(callTools(scope), queryOf(query, scope))),
  );
  exportApi(api, { callTools });
  api.route(
    {
      ...{ ...common, path: '/calls/{trace}', answer: callView },
      summary: 'A call, with its attempts and where its charge comes from',
    },
    async ({ params, scope }) => {
      const call = await oneCall(callTools(scope), scope, params.trace.toLowerCase());
      return call === null ? problem('not_found', 'There is no call with this trace id.') : answer(call);
    },
  );
}

function exportApi(api: ConsoleApi, { callTools }: CallSources): void {
  const underWay = new Map<string, number>();
  api.stream(
    {
      ...{ method: 'get', path: '/calls/export', access: 'viewer', tag: 'Calls', query: callExportQuery },
      summary: 'All calls of a filter, the newest first, as CSV or as lines of JSON',
      produces: 'text/csv',
    },
    ({ query: { format, ...filter }, scope, actor, request }) => {
      const refusal = refusalOf(filter, scope);
      if (refusal !== null) return refusal;
      const name = actor.kind === 'person' ? actor.personId : nameOf(actor);
      const own = underWay.get(name) ?? 0;
      const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
      if (own >= exportsMax.each || all >= exportsMax.all) return crowded;
      underWay.set(name, own + 1);
      const over = () => {
        const left = (underWay.get(name) ?? 1) - 1;
        if (left === 0) underWay.delete(name);
        else underWay.set(name, left);
      };
      const text = exportCalls(callTools(scope), queryOf(filter, scope), format);
      return new Response(streamOf(text, over, request.signal), { headers: headersOf(format) });
    },
  );
}

function headersOf(format: ExportFormat): Readonly<Record<string, string>> {
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8';
  return { 'content-type': type, 'content-disposition': `attachment; filename="headgate-calls.${format}"` };
}

/** Reads no more than is asked for, and nothing once nobody reads. */
function streamOf(text: AsyncGenerator<string>, over: () => void, signal: AbortSignal): ReadableStream {
  const bytes = new TextEncoder();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    over();
  };
  signal.addEventListener('abort', () => void text.return(undefined).finally(end), { once: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const step = await text.next();
          if (step.done !== true) return controller.enqueue(bytes.encode(step.value));
          controller.close();
        } catch (error) {
          // A file that breaks off must not look like one that is whole.
          controller.error(error);
        }
        end();
      },
      async cancel() {
        await text.return(undefined);
        end();
      },
    },
    { highWaterMark: 1 },
  );
}

function refusalOf({ channel }: CallFilterQuery, scope: Scope): ConsoleProblem | null {
  if (channel === undefined || scope === 'all') return null;
  return invalid([{ field: 'channel', message: 'is for operators: leave it out' }]);
}

/** The filter, within the accounts that may be seen. */
function queryOf(filter: CallFilterQuery, scope: Scope): CallQuery {
  const {
    from,
    to,
    account,
    key,
    group,
    model,
    channel,
    status,
    reason,
    error,
    billed,
    tag,
    surface,
    trace,
  } = filter;
  const own = scope === 'all' ? account && [account] : scope.filter((id) => id === (account ?? id));
  const asked = {
    ...{ accountIds: own, keyId: key, groupId: group, channelId: channel, errorCode: error },
    ...{ toMs: to && Date.parse(to), model, status, reason, billed, tag, surface, trace },
  };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined && value !== '');
  return { ...Object.fromEntries(given), fromMs: from === undefined ? 0 : Date.parse(from) };
}

const crowded = problem(
  'too_many_followers',
  `${exportsMax.each} exports of yours, or ${exportsMax.all} of all people, are under way: wait for one to end.`,
);

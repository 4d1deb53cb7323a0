import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { OwnerTokens } from '../../admin/owner-files.ts';
import { PasswordsBusy } from '../../admin/people/passwords.ts';
import type { CreateClaims } from '../../ports/create-claims.ts';
import type { LedgerTrouble } from '../../ports/ledger.ts';
import { StoreUnavailable } from '../../ports/store.ts';
import { CallerAddresses } from '../caller-address.ts';
import { type ListenAddress, type ListeningSocket, listen, originOf, socketOf } from '../listening.ts';
import { type Bindings, ConsoleApi } from './frame/console-api.ts';
import { docsApi } from './frame/docs-api.ts';
import { docsPage } from './frame/docs-page.ts';
import { Gate } from './frame/gate.ts';
import { secureHeaders } from './frame/headers.ts';
import { misdirection } from './frame/origins.ts';
import { problem, problemResponse } from './frame/problem.ts';
import { RepeatedCreates } from './frame/repeated-creates.ts';
import { tokenGate } from './frame/token-gate.ts';
import { type ApiSources, operationsApi } from './operations-api.ts';
import { builtConsole, pageFiles } from './page-files.ts';
import type { StatusLane } from './status-lane.ts';
import { statusRoutes } from './status-routes.ts';

/** Why the node should get no traffic; empty when it should. */
export type UnreadyReason = 'starting' | 'draining' | LedgerTrouble;

export function unreadyReasons(
  process: { readonly isStarting: boolean; readonly isLeaving: boolean },
  trouble: LedgerTrouble | null,
): readonly UnreadyReason[] {
  return [
    ...(process.isStarting ? (['starting'] as const) : []),
    ...(process.isLeaving ? (['draining'] as const) : []),
    ...(trouble === null ? [] : [trouble]),
  ];
}

export interface ConsoleOptions extends ListenAddress {
  /** How long the headers of a request may take to come, and then its body. */
  readonly headersMs: number;
  readonly bodyMs: number;
  /** Asked on every probe. */
  unreadyReasons(): readonly UnreadyReason[];
  exposeMetrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The origin that people reach it under, if that is not where it listens. */
  readonly consoleOrigin: string | null;
  /** The origin that people reach the API under, as it is when a page is asked for. */
  apiOrigin(): string;
  /** The build of the pages, if it is not the one of `packages/console`. */
  readonly pagesFolder?: string;
  readonly tokens: OwnerTokens;
  /** Proxies in front of this port, whose word of where people are is believed. */
  readonly trustedProxies?: readonly string[];
  readonly routes: ApiSources;
  /** Answers for the public, before any route is looked for. */
  readonly status: Pick<StatusLane, 'putBefore' | 'answer' | 'retire' | 'close'>;
  readonly creates: CreateClaims;
  /** Writes what is kept for later. */
  readonly onClosing?: () => Promise<void>;
  readonly now: () => number;
  /** Hears what was thrown where nothing may be; whoever asked only hears that there was something. */
  onBug(error: unknown): void;
}

export interface ConsoleServer {
  /** `http://host:port`, with the port that was really taken. */
  readonly origin: string;
  /** Listens, and may be given to a process that goes on in the place of this one; null where that cannot be. */
  readonly socket: ListeningSocket | null;
  /** Takes no new connections; what is being answered is answered. */
  retire(): void;
  close(): Promise<void>;
}

/** Starts the console origin. Rejects with the system's error when the address cannot be had. */
export async function startConsole(options: ConsoleOptions): Promise<ConsoleServer> {
  // Load balancers ask for its health in HTTP/1.0, without naming a host: any name will do for them.
  const listener = getRequestListener(consoleRoutes(options).fetch, { hostname: 'localhost' });
  const limits = {
    headersTimeout: options.headersMs,
    requestTimeout: options.headersMs + options.bodyMs,
    connectionsCheckingInterval: Math.min(1000, options.headersMs / 2),
  };
  const server = createServer(limits, (request, response) => {
    if (!options.status.answer(request, response)) void listener(request, response);
  });
  options.status.putBefore(server, options.headersMs);
  await listen(server, options);
  return {
    origin: originOf(server, options.host),
    socket: socketOf(server),
    retire() {
      server.close();
      options.status.retire();
      options.routes.live.close();
    },
    async close() {
      await options.onClosing?.();
      return new Promise((resolve) => {
        // One that has retired listens no more, which is no trouble here.
        server.close(() => resolve());
        // A probe half sent would otherwise hold the end of the process up.
        server.closeAllConnections();
        options.status.close();
      });
    },
  };
}

const storeUnavailable = problem(
  'store_unavailable',
  'The store cannot be asked at the moment: the log and `headgate doctor` say why.',
);

/** The answers of the console origin, without a socket. */
function consoleRoutes(options: ConsoleOptions): Hono<{ Bindings: Bindings }> {
  const routes = new Hono<{ Bindings: Bindings }>();
  routes.use(secureHeaders(options.consoleOrigin));
  routes.route(
    '/',
    statusRoutes(() => options.unreadyReasons()),
  );
  // Who asks whether the process is well may know it by any name.
  const names = [options.consoleOrigin ?? '', `http://${options.host}`];
  routes.use(async (context, next) => {
    const strange = misdirection(context.req.header('host') ?? null, names);
    return strange === null ? next() : problemResponse(strange);
  });
  const { operator, scrape } = options.tokens;
  routes.use('/metrics', tokenGate([operator, scrape], options.consoleOrigin));
  routes.get('/metrics', async (context) => {
    const { contentType, text } = await options.exposeMetrics();
    return context.body(text, 200, { 'content-type': contentType });
  });
  const api = apiOf(options);
  routes.route('/', docsPage(api));
  routes.route('/', api.hono());
  routes.route(
    '/',
    pageFiles(options.pagesFolder ?? builtConsole, () => options.apiOrigin()),
  );
  routes.notFound(() => problemResponse(problem('not_found', 'There is no such path.')));
  routes.onError((error) => {
    if (error instanceof StoreUnavailable) return problemResponse(storeUnavailable);
    if (error instanceof PasswordsBusy)
      return problemResponse(problem('throttled', 'Too many sign in at once: try again.'));
    // A caller who leaves in the middle of its body is no bug, and hears no answer.
    if (!('code' in error && error.code === 'ECONNRESET')) options.onBug(error);
    return problemResponse(problem('internal', 'Something went wrong here; the log says what.'));
  });
  return routes;
}

function apiOf({
  tokens,
  consoleOrigin,
  creates,
  routes,
  now,
  trustedProxies = [],
}: ConsoleOptions): ConsoleApi {
  const findPerson = (cookies: string, address: string | null) => {
    const secret = routes.cookie.read(cookies);
    return secret === null ? Promise.resolve(null) : routes.people.sessions.find(secret, address);
  };
  const gate = new Gate({ operatorToken: tokens.operator, consoleOrigin, findPerson, now });
  const api = new ConsoleApi({
    gate,
    addresses: new CallerAddresses(trustedProxies),
    creates: new RepeatedCreates(creates, now),
  });
  operationsApi(api, routes, findPerson);
  docsApi(api);
  return api;
}

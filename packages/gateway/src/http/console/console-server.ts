import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { OwnerTokens } from '../../admin/owner-files.ts';
import type { LedgerTrouble } from '../../ports/ledger.ts';
import { StoreUnavailable } from '../../ports/store.ts';
import { type ListenAddress, type ListeningSocket, listen, originOf, socketOf } from '../listening.ts';
import { type ApiSources, operationsApi } from './operations-api.ts';
import { type ConsoleProblem, hostGate, sendProblem, tokenGate } from './operator-gate.ts';
import { statusRoutes } from './status-routes.ts';

/** Why the node should get no traffic; empty when it should. */
export type UnreadyReason = 'starting' | 'draining' | LedgerTrouble;

export interface ConsoleOptions extends ListenAddress {
  /** How long the headers of a request may take to come, and then its body. */
  readonly headersMs: number;
  readonly bodyMs: number;
  /** Asked on every probe. */
  unreadyReasons(): readonly UnreadyReason[];
  exposeMetrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The origin that people reach it under, if that is not where it listens. */
  readonly consoleOrigin: string | null;
  readonly tokens: OwnerTokens;
  readonly routes: ApiSources;
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
  const server = createAdaptorServer({
    fetch: consoleRoutes(options).fetch,
    hostname: 'localhost',
    serverOptions: {
      headersTimeout: options.headersMs,
      requestTimeout: options.headersMs + options.bodyMs,
      connectionsCheckingInterval: Math.min(1000, options.headersMs / 2),
    },
  });
  await listen(server, options);
  return {
    origin: originOf(server, options.host),
    socket: socketOf(server),
    retire() {
      server.close();
    },
    close() {
      return new Promise((resolve) => {
        // One that has retired listens no more, which is no trouble here.
        server.close(() => resolve());
        // A probe half sent would otherwise hold the end of the process up.
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
    },
  };
}

const storeUnavailable: ConsoleProblem = {
  status: 503,
  code: 'store_unavailable',
  message: 'The store cannot be asked at the moment: the log and `headgate doctor` say why.',
};

/** The answers of the console origin, without a socket. */
function consoleRoutes(options: ConsoleOptions): Hono {
  const routes = new Hono();
  routes.use(async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
    context.header('x-content-type-options', 'nosniff');
  });
  routes.route(
    '/',
    statusRoutes(() => options.unreadyReasons()),
  );
  // Who asks whether the process is well may know it by any name.
  routes.use(hostGate([options.consoleOrigin ?? '', `http://${options.host}`]));
  const { operator, scrape } = options.tokens;
  routes.use('/metrics', tokenGate([operator, scrape], 'scrape-token'));
  routes.get('/metrics', async (context) => {
    const { contentType, text } = await options.exposeMetrics();
    return context.body(text, 200, { 'content-type': contentType });
  });
  routes.use('/api/*', tokenGate([operator], 'operator-token'));
  routes.route('/api', operationsApi(options.routes));
  routes.notFound((context) =>
    sendProblem(context, { status: 404, code: 'not_found', message: 'There is no such path.' }),
  );
  routes.onError((error, context) => {
    if (error instanceof StoreUnavailable) return sendProblem(context, storeUnavailable);
    // A caller who leaves in the middle of its body is no bug, and hears no answer.
    if (!('code' in error && error.code === 'ECONNRESET')) options.onBug(error);
    return sendProblem(context, { status: 500, code: 'internal', message: 'Something went wrong here.' });
  });
  return routes;
}

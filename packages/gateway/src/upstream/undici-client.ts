import { concatBytes } from '@headgate/protocols';
import { Client, type Dispatcher, Pool } from 'undici';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamHandler,
  UpstreamRequest,
} from '../ports/upstream-client.ts';
import { type ClientSettings, type UpstreamClientOptions, withDefaults } from './client-options.ts';
import type { Dialer } from './dialer.ts';
import { maxHeadBytes } from './response-head.ts';
import { type Route, RoutedClient } from './routed-client.ts';
import { type ConnectionUse, DialError, UndiciExchange } from './undici-exchange.ts';

/** The client on undici's `dispatch`: what our own is compared with, and an operator's way back. */
export function openUndiciClient(options: UpstreamClientOptions = {}): UpstreamClient {
  return new RoutedClient(withDefaults(options), (destination, dialer, settings) => {
    const scheme = destination.secure ? 'https' : 'http';
    return new UndiciRoute(`${scheme}://${destination.authority}`, dialer, settings);
  });
}

/** The connections of one channel to one origin. */
class UndiciRoute implements Route {
  readonly #origin: string;
  readonly #options: Client.Options;
  readonly #pool: Pool;
  readonly #fresh = new Set<Client>();

  constructor(origin: string, dialer: Dialer, settings: ClientSettings) {
    this.#origin = origin;
    this.#options = clientOptions(dialer, settings);
    this.#pool = new Pool(origin, {
      ...this.#options,
      connections: settings.maxConnections,
      clientTtl: settings.maxConnectionAgeMs,
      factory: (_origin, options) => new CountingClient(origin, options),
    });
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange {
    const exchange = new UndiciExchange(handler, () => this.#sendFresh(request, exchange));
    if (request.fresh) this.#sendFresh(request, exchange);
    else this.#pool.dispatch(dispatchOptions(request), exchange);
    return exchange;
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool, ...this.#fresh].map((dispatcher) => dispatcher.destroy()));
  }

  /** Any socket of the pool may be stale, so a retry, and what must not be sent twice, has a connection of its own. */
  #sendFresh(request: UpstreamRequest, exchange: UndiciExchange): void {
    const client = new Client(this.#origin, this.#options);
    this.#fresh.add(client);
    client.dispatch(dispatchOptions(request), exchange);
    client.close(() => this.#fresh.delete(client));
  }
}

/** Tells every exchange it carries whether its connection has served others before. */
class CountingClient extends Client {
  readonly #use: ConnectionUse = { requests: 0 };

  constructor(origin: string, options: Client.Options) {
    super(origin, options);
    this.on('connect', () => {
      this.#use.requests = 0;
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof UndiciExchange) handler.assignTo(this.#use);
    return super.dispatch(options, handler);
  }
}

function dispatchOptions(request: UpstreamRequest): Dispatcher.DispatchOptions {
  return {
    path: request.path,
    method: request.method,
    headers: [...request.headers],
    body: request.body.length === 0 ? null : concatBytes(request.body),
  };
}

/** Waiting is the pipeline's to bound, so undici's own time-outs are off. */
function clientOptions(dialer: Dialer, settings: ClientSettings): Client.Options {
  return {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxHeadBytes,
    keepAliveTimeout: settings.idleTimeoutMs,
    keepAliveMaxTimeout: settings.idleTimeoutMs,
    connect: (_options, done) => {
      dialer.dial((result) => {
        if (result.ok) done(null, result.value);
        else done(new DialError(result.error), null);
      });
    },
  };
}

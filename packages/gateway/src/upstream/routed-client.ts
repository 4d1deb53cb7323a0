import { fail, type Result, succeed } from '@headgate/protocols';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from '../ports/upstream-client.ts';
import { type ClientSettings, dialerOptions } from './client-options.ts';
import { type Destination, readDestination } from './destination.ts';
import { Dialer, type DialerOptions } from './dialer.ts';
import { refuseRequest } from './refuse-request.ts';
import { assertSendable } from './request-text.ts';
import { closedFailure } from './socket-failure.ts';

/** The connections of one channel to one origin. */
export interface Route {
  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange;
  close(): Promise<void> | void;
}

export type OpenRoute = (destination: Destination, dialer: Dialer, settings: ClientSettings) => Route;

/** Gives every channel and origin a route of its own. Routes stay: their TLS sessions are worth more than their memory. */
export class RoutedClient implements UpstreamClient {
  readonly #settings: ClientSettings;
  readonly #openRoute: OpenRoute;
  readonly #dialerOptions: DialerOptions;
  /** By leave to connect to private addresses, origin and channel. */
  readonly #routes = new Map<string, Route>();
  #closed = false;

  constructor(settings: ClientSettings, openRoute: OpenRoute) {
    this.#settings = settings;
    this.#openRoute = openRoute;
    this.#dialerOptions = dialerOptions(settings);
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange {
    assertSendable(request);
    if (this.#closed) return refuseRequest(handler, closedFailure);
    const route = this.#routeOf(request);
    return route.ok ? route.value.send(request, handler) : refuseRequest(handler, route.error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const route of this.#routes.values()) await route.close();
  }

  #routeOf({ origin, channelId, allowPrivate }: UpstreamRequest): Result<Route, UpstreamFailure> {
    const key = `${allowPrivate} ${origin} ${channelId}`;
    const known = this.#routes.get(key);
    if (known !== undefined) return succeed(known);
    const destination = readDestination(origin, allowPrivate);
    if (!destination.ok) return fail(destination.error);
    const dialer = new Dialer(destination.value, this.#dialerOptions);
    const route = this.#openRoute(destination.value, dialer, this.#settings);
    this.#routes.set(key, route);
    return succeed(route);
  }
}

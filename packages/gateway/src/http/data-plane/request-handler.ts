import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Endpoint,
  type EndpointMatch,
  type EndpointParams,
  endpoints,
  type Fault,
  fault,
  isForm,
  matchEndpoint,
  type Platform,
  type Protocol,
  type ProtocolId,
  platformOfPath,
  type Result,
  unreachable,
  type Work,
} from '@headgate/protocols';
import type { Caller } from '../../core/catalogue.ts';
import { alertBug } from '../../pipeline/alert-bug.ts';
import { authenticate, type HashKey } from '../../pipeline/authenticate.ts';
import { runCall } from '../../pipeline/call.ts';
import type { Gateway } from '../../pipeline/gateway.ts';
import { sendFault } from '../../pipeline/send-fault.ts';
import type { HeaderList } from '../../ports/data-plane.ts';
import type { Random } from '../../ports/random.ts';
import type { UsageReports } from '../../ports/usage-report.ts';
import { HttpReply } from './http-reply.ts';
import { callableModels, findModel, listModels, modelView } from './models-endpoint.ts';
import { listNativeModels, nativeModelView } from './native-models.ts';
import { readBody } from './request-body.ts';
import { answerUsage } from './usage-endpoint.ts';

/** What answering requests needs, put together once in main.ts. */
export interface RequestContext {
  readonly gateway: Gateway;
  readonly reports: UsageReports;
  readonly hashKey: HashKey;
  readonly random: Random;
  readonly bodyBytesMax: number;
  /** Whether the process is about to stop; read for every request. */
  isDraining(): boolean;
}

/** A request on its way to the endpoint that answers it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly reply: HttpReply;
  readonly traceId: string;
  readonly path: string;
  readonly search: string;
  readonly context: RequestContext;
}

/** Answers one request. Never rejects: whatever is thrown below is a bug, and is caught here, once. */
export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
): Promise<void> {
  const { path, search } = splitUrl(request.url ?? '/');
  const match = matchEndpoint(request.method ?? 'GET', path);
  const traceId = context.random.traceId();
  const reply = new HttpReply(response, platformOfPath(path), traceId, context.gateway.limits);
  const exchange = { request, response, reply, traceId, path, search, context };
  try {
    await dispatch(exchange, match);
  } catch (error) {
    alertBug(error, traceId, context.gateway.observer);
    if (response.headersSent) response.destroy();
    else sendFault(fault('internal'), 0, traceId, reply);
  }
}

function splitUrl(url: string): { readonly path: string; readonly search: string } {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) };
}

async function dispatch(exchange: Exchange, match: EndpointMatch): Promise<void> {
  const expectation = expectationOf(exchange.request);
  if (expectation !== null && expectation !== '100-continue')
    return refuse(exchange, expectationFailed(expectation));
  if (match.kind === 'none') return refuse(exchange, fault('not_found'));
  if (match.kind === 'method-not-allowed') return refuseMethod(exchange, match.allow);
  const caller = identify(exchange, match.endpoint.platform);
  if (!caller.ok) return refuse(exchange, caller.error);
  const wrongPlatform = checkPlatform(exchange, caller.value, match.endpoint.platform);
  if (wrongPlatform !== null) return refuse(exchange, wrongPlatform);
  await answer(exchange, match, caller.value);
}

function refuse({ reply, traceId, context }: Exchange, failure: Fault, headers: HeaderList = []): void {
  const { code, status } = failure;
  context.gateway.observer.refused({ platform: reply.platform, code, status, traceId });
  sendFault(failure, 0, traceId, reply, headers);
}

/** What the caller wants to be told before it sends its body. HTTP/1.0 cannot ask (RFC 9110 §10.1.1). */
function expectationOf({ httpVersion, headers }: IncomingMessage): string | null {
  return httpVersion === '1.0' ? null : (headers.expect?.trim().toLowerCase() ?? null);
}

function expectationFailed(expectation: string): Fault {
  return fault('invalid_request', {
    status: 417,
    message: `The expectation '${expectation.slice(0, 60)}' cannot be met; '100-continue' can.`,
    param: 'expect',
  });
}

function refuseMethod(exchange: Exchange, allowed: readonly string[]): void {
  const allow = allowed.join(', ');
  const failure = fault('method_not_allowed', {
    message: `This path accepts ${allow}, not ${exchange.request.method}.`,
  });
  refuse(exchange, failure, ['allow', allow]);
}

function identify({ request, search, context }: Exchange, platform: Platform | 'any') {
  const credentials = {
    platform,
    header: (name: string) => headerOf(request, name),
    queryKey: search.includes('key=') ? new URLSearchParams(search).get('key') : null,
  };
  const { gateway, hashKey } = context;
  return authenticate(credentials, gateway.catalogue.current, hashKey, gateway.clock.now());
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}

function checkPlatform({ context }: Exchange, { group }: Caller, platform: Platform | 'any'): Fault | null {
  if (platform === 'any' || platform === group.platform) return null;
  const paths = servedPaths(group.platform, context.gateway.protocols).join(', ');
  return fault('endpoint_not_on_platform', {
    message: `This key belongs to the ${group.platform} platform; it can use ${paths}.`,
  });
}

/** What a key of the platform can call in this build. */
function servedPaths(platform: Platform, served: Gateway['protocols']): readonly string[] {
  return endpoints
    .filter((endpoint) => endpoint.platform === platform || endpoint.platform === 'any')
    .filter((endpoint) => !('protocol' in endpoint) || served[endpoint.protocol] !== undefined)
    .map(({ method, path }) => `${method} ${path}`);
}

async function answer(
  exchange: Exchange,
  match: Extract<EndpointMatch, { kind: 'match' }>,
  caller: Caller,
): Promise<void> {
  const { context, search } = exchange;
  const { gateway } = context;
  const catalogue = gateway.catalogue.current;
  const { endpoint, params } = match;
  switch (endpoint.kind) {
    case 'models':
      return endpoint.platform === 'native'
        ? sendResult(exchange, listNativeModels(search, callableModels(caller, catalogue, gateway.protocols)))
        : sendJson(exchange, listModels(caller, catalogue, gateway.protocols));
    case 'model': {
      const model = findModel(params.model ?? '', caller, catalogue, gateway.protocols);
      if (!model.ok) return refuse(exchange, model.error);
      const isNative = endpoint.platform === 'native';
      return sendJson(exchange, isNative ? nativeModelView(model.value) : modelView(model.value, caller));
    }
    case 'usage': {
      return sendResult(exchange, await answerUsage(search, caller, context.reports, gateway.clock.now()));
    }
    case 'call':
    case 'count-tokens':
    case 'embed':
      return answerCall(exchange, endpoint, params, caller);
    default:
      return unreachable(endpoint);
  }
}

type CallEndpoint = Extract<Endpoint, { protocol: ProtocolId }>;

const works = { call: 'answer', 'count-tokens': 'count', embed: 'embed' } as const satisfies Record<
  CallEndpoint['kind'],
  Work
>;

function sendResult(exchange: Exchange, result: Result<object, Fault>): void {
  if (result.ok) sendJson(exchange, result.value);
  else refuse(exchange, result.error);
}

function sendJson({ reply }: Exchange, value: object): void {
  reply.send(200, ['content-type', 'application/json'], new TextEncoder().encode(JSON.stringify(value)));
}

async function answerCall(
  exchange: Exchange,
  endpoint: CallEndpoint,
  params: EndpointParams,
  caller: Caller,
): Promise<void> {
  const { context, request, reply, traceId } = exchange;
  const { gateway } = context;
  const protocol = gateway.protocols[endpoint.protocol];
  if (protocol === undefined || !serves(protocol, endpoint)) return refuse(exchange, fault('not_found'));
  if (context.isDraining()) return refuse(exchange, fault('overloaded', { retryAfterMs: 1000 }));
  const type = refusedContentType(request.headers['content-type'], endpoint.takesForms ?? false);
  if (type !== null) return refuse(exchange, type);
  // Only now is a caller that asks first told to send its body.
  if (expectationOf(request) !== null) exchange.response.writeContinue();
  const body = await readBody(request, context.bodyBytesMax);
  if (!body.ok) return refuse(exchange, body.error);
  // Behind another answer on its connection: until its turn nothing could reach its caller, who may leave unheard.
  if (exchange.response.socket === null) await once(exchange.response, 'socket');
  const inbound = {
    traceId,
    header: (name: string) => headerOf(request, name),
    work: works[endpoint.kind],
    path: exchange.path,
    params,
    search: exchange.search,
    body: body.value,
    receivedAtMs: gateway.clock.now(),
    receivedAt: gateway.clock.monotonic(),
  };
  await runCall(inbound, caller, protocol, reply, gateway);
}

/** A protocol that has no words for a count counts nothing. */
function serves(protocol: Protocol, { kind }: CallEndpoint): boolean {
  return kind !== 'count-tokens' || protocol.encodeTokenCount !== undefined;
}

/** JSON, or nothing said; elsewhere than for images a form is the sign of a forgotten header. */
function refusedContentType(type: string | undefined, takesForms: boolean): Fault | null {
  if (type === undefined || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return null;
  if (takesForms && isForm(type)) return null;
  return fault('unsupported_media_type', {
    message: `The content type '${type.slice(0, 100)}' is not supported here; send 'content-type: application/json'.`,
    param: 'content-type',
  });
}

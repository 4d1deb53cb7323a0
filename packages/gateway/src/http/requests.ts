import {
  type BodySurvey,
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
import { runCall } from '../call/call.ts';
import { alertBug } from '../call/outcomes.ts';
import { sendFault } from '../call/reply.ts';
import type { Caller } from '../catalogue/catalogue.ts';
import type { Random } from '../ports/clock.ts';
import type { EndListener, HeaderList, MemoryShare } from '../ports/data-plane.ts';
import type { Gateway } from '../ports/gateway.ts';
import { type BodyTaker, decoderOf, decoding, gift, type Loan, tooLarge } from './body.ts';
import type { CallerAddresses } from './caller-address.ts';
import type { Callers } from './callers.ts';
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts';
import { type Departure, type Exchange, identityHeaders } from './exchange.ts';
import type { MemoryBudget } from './memory.ts';
import { findModel, listNativeModels, type ModelLists, modelView, nativeModelView } from './models.ts';
import { type Beginning, madeAnswer, type Repeats, wrongName } from './repeats.ts';
import type { ReportDesk } from './report-desk.ts';
import type { Slices } from './slices.ts';
import { surveyedMin, surveyOf } from './surveys.ts';

/** Everything that answers need, put together once in main.ts. */
export interface RequestContext {
  readonly gateway: Gateway;
  readonly reports: ReportDesk;
  readonly callers: Callers;
  readonly addresses: CallerAddresses;
  readonly models: ModelLists;
  readonly random: Random;
  readonly bodyBytesMax: number;
  readonly memory: MemoryBudget;
  /** Origins whose pages may read answers: the console's, and those that the operator names. */
  readonly corsOrigins: ReadonlySet<string>;
  readonly departure: Departure;
  readonly repeats: Repeats;
  readonly slices: Slices;
}

/** A request on its way to the endpoint that answers it. */
interface Request {
  readonly exchange: Exchange;
  readonly traceId: string;
  readonly path: string;
  readonly search: string;
  readonly context: RequestContext;
}

/** Answers one request of either lane. Never throws: a bug below is caught here, once. */
export function answerRequest(exchange: Exchange, expectation: string | null, context: RequestContext): void {
  const { target } = exchange;
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const search = mark === -1 ? '' : target.slice(mark + 1);
  const request = { exchange, traceId: context.random.traceId(), path, search, context };
  try {
    dispatch(request, expectation);
  } catch (error) {
    answerBug(request, error);
  }
}

function answerBug({ exchange, traceId, context }: Request, error: unknown): void {
  alertBug(error, traceId, context.gateway.observer);
  if (exchange.begun) exchange.abandon();
  else sendFault(fault('internal'), 0, traceId, exchange);
}

const noHeaders: HeaderList = [];

function dispatch(request: Request, expectation: string | null): void {
  const { exchange, traceId, path, context } = request;
  const match = matchEndpoint(exchange.method, path);
  const own = match.kind === 'match' ? match.endpoint.platform : 'any';
  const platform = own === 'any' ? platformOfPath(path) : own;
  const page = exchange.header('origin');
  const cors = page === undefined ? noHeaders : corsHeaders(page, context.corsOrigins);
  const identity = identityHeaders(platform, traceId);
  exchange.address(platform, cors.length === 0 ? identity : [...identity, ...cors]);
  if (cors.length > 0 && isPreflight(exchange)) return answerPreflight(exchange);
  if (expectation !== null && expectation !== '100-continue')
    return refuse(request, expectationFailed(expectation));
  if (match.kind === 'none') return refuse(request, fault('not_found'));
  if (match.kind === 'method-not-allowed') return refuseMethod(request, match.allow);
  const caller = identify(request, match.endpoint.platform);
  if (!caller.ok) return refuse(request, caller.error);
  if (caller.value.addressRanges !== null) {
    const wrongAddress = context.addresses.refusal(caller.value.addressRanges, exchange);
    if (wrongAddress !== null) return refuse(request, wrongAddress);
  }
  const wrongPlatform = checkPlatform(request, caller.value, match.endpoint.platform);
  if (wrongPlatform !== null) return refuse(request, wrongPlatform);
  answer(request, match, caller.value);
}

function refuse({ exchange, traceId, context }: Request, failure: Fault, headers: HeaderList = []): void {
  const { code, status } = failure;
  context.gateway.observer.refused({ platform: exchange.platform, code, status, traceId });
  sendFault(failure, 0, traceId, exchange, headers);
}

function expectationFailed(expectation: string): Fault {
  return fault('invalid_request', {
    status: 417,
    message: `The expectation '${expectation.slice(0, 60)}' cannot be met; '100-continue' can.`,
    param: 'expect',
  });
}

function refuseMethod(request: Request, allowed: readonly string[]): void {
  const allow = allowed.join(', ');
  const failure = fault('method_not_allowed', {
    message: `This path accepts ${allow}, not ${request.exchange.method}.`,
  });
  refuse(request, failure, ['allow', allow]);
}

function identify({ exchange, search, context }: Request, platform: Platform | 'any'): Result<Caller, Fault> {
  const credentials = {
    platform,
    header: (name: string) => exchange.header(name),
    queryKey: search.includes('key=') ? new URLSearchParams(search).get('key') : null,
  };
  return context.callers.authenticate(credentials, context.gateway.clock.now());
}

function checkPlatform({ context }: Request, { group }: Caller, platform: Platform | 'any'): Fault | null {
  if (platform === 'any' || platform === group.platform) return null;
  const paths = servedPaths(group.platform, context.gateway.protocols).join(', ');
  return fault('endpoint_not_on_platform', {
    message: `This key belongs to the ${group.platform} platform; it can use ${paths}.`,
  });
}

/** The paths that a key of the platform can call in this build. */
function servedPaths(platform: Platform, served: Gateway['protocols']): readonly string[] {
  return endpoints
    .filter((endpoint) => endpoint.platform === platform || endpoint.platform === 'any')
    .filter((endpoint) => !('protocol' in endpoint) || served[endpoint.protocol] !== undefined)
    .map(({ method, path }) => `${method} ${path}`);
}

function answer(
  request: Request,
  { endpoint, params }: Extract<EndpointMatch, { kind: 'match' }>,
  caller: Caller,
): void {
  const { search, context } = request;
  const { protocols, catalogue } = context.gateway;
  switch (endpoint.kind) {
    case 'models':
      return endpoint.platform === 'native'
        ? sendResult(request, listNativeModels(search, context.models.modelsOf(caller)))
        : sendBytes(request, context.models.answerTo(caller));
    case 'model': {
      const model = findModel(params.model ?? '', caller, catalogue.current, protocols);
      if (!model.ok) return refuse(request, model.error);
      const isNative = endpoint.platform === 'native';
      return sendJson(request, isNative ? nativeModelView(model.value) : modelView(model.value, caller));
    }
    case 'usage':
      return sendUsage(request, caller);
    case 'call':
    case 'count-tokens':
    case 'embed':
      return answerCall(request, endpoint, params, caller);
    default:
      return unreachable(endpoint);
  }
}

function sendResult(request: Request, result: Result<object, Fault>): void {
  if (result.ok) sendJson(request, result.value);
  else refuse(request, result.error);
}

function sendJson(request: Request, value: object): void {
  sendBytes(request, Buffer.from(JSON.stringify(value)));
}

function sendBytes({ exchange }: Request, body: Uint8Array): void {
  exchange.send(200, ['content-type', 'application/json'], body);
}

function sendUsage(request: Request, caller: Caller): void {
  const { search, context } = request;
  // Without the trace id, it is one line of the log however many ask.
  const tellOperator = ({ message }: Error) =>
    context.gateway.observer.alert('ledger-unavailable', { reason: message });
  context.reports
    .usage(search, caller, tellOperator)
    .then((result) =>
      result.ok
        ? request.exchange.send(200, result.value.headers, Buffer.from(result.value.body))
        : refuse(request, result.error),
    )
    .catch((error: unknown) => answerBug(request, error));
}

type CallEndpoint = Extract<Endpoint, { protocol: ProtocolId }>;

const works = { call: 'answer', 'count-tokens': 'count', embed: 'embed' } as const satisfies Record<
  CallEndpoint['kind'],
  Work
>;

/** From an admissible head to the call: whatever can be refused without the body is refused before it is asked for. */
function answerCall(request: Request, endpoint: CallEndpoint, params: EndpointParams, caller: Caller): void {
  const { context, exchange } = request;
  const { gateway, bodyBytesMax } = context;
  const protocol = gateway.protocols[endpoint.protocol];
  if (protocol === undefined || !serves(protocol, endpoint)) return refuse(request, fault('not_found'));
  if (context.departure.isDraining) return refuse(request, fault('overloaded', { retryAfterMs: 1000 }));
  const type = refusedContentType(exchange.header('content-type'), endpoint.takesForms ?? false);
  if (type !== null) return refuse(request, type);
  if (Number(exchange.header('content-length') ?? 0) > bodyBytesMax)
    return refuse(request, tooLarge(bodyBytesMax));
  const decode = decoderOf(exchange.header('content-encoding'));
  if (!decode.ok) return refuse(request, decode.error);
  const call = new AwaitedCall(request, endpoint, params, caller, protocol);
  const taker = decode.value === null ? call : decoding(call, decode.value, bodyBytesMax, call);
  exchange.takeBody(taker, bodyBytesMax, call);
}

/** A call while its body comes, and the memory that it takes until its answer has been taken. */
class AwaitedCall implements BodyTaker, EndListener, MemoryShare {
  readonly #request: Request;
  readonly #endpoint: CallEndpoint;
  readonly #params: EndpointParams;
  readonly #caller: Caller;
  readonly #protocol: Protocol;
  #bytesHeld = 0;
  #loan: Loan = gift;
  /** Told when a call that its caller has named is over. */
  #over: (() => void) | null = null;

  constructor(
    request: Request,
    endpoint: CallEndpoint,
    params: EndpointParams,
    caller: Caller,
    protocol: Protocol,
  ) {
    this.#request = request;
    this.#endpoint = endpoint;
    this.#params = params;
    this.#caller = caller;
    this.#protocol = protocol;
  }

  onBody(body: Uint8Array, loan: Loan): void {
    this.#loan = loan;
    const isCount = this.#endpoint.kind === 'count-tokens';
    const { exchange, context } = this.#request;
    const isNamed = exchange.isNamed && !isCount;
    const survey = body.length < surveyedMin ? null : surveyOf(body, exchange.header('content-type'));
    if (survey !== null) {
      const begin = () => (isNamed ? this.#claim(body, survey) : this.#run(body, survey));
      context.slices.work(() => survey.step(), begin);
    } else if (isNamed) this.#claim(body, null);
    else this.#run(body, null);
  }

  /** A call with a name is made when it is known that it was not made before. */
  #claim(body: Uint8Array, survey: BodySurvey | null): void {
    const { exchange, traceId, path, search, context } = this.#request;
    const name = exchange.header('idempotency-key') ?? '';
    const wrong = wrongName(name);
    if (wrong !== null) return this.#refuse(wrong);
    const { keyId } = this.#caller;
    const begin = (beginning: Beginning): void => {
      switch (beginning.kind) {
        case 'refused':
          return this.#refuse(beginning.failure);
        case 'made': {
          const { status, headers, body: document } = madeAnswer(beginning.record);
          exchange.send(status, headers, document);
          return this.onCallEnded(true, true);
        }
        default:
          // One whose caller has left meanwhile is sent nowhere, and has its entry as every other one.
          this.#over = beginning.over;
          return this.#run(body, survey);
      }
    };
    context.repeats
      .begin({ keyId, name, traceId, path, search, body })
      .then(begin)
      .catch((error: unknown) => this.#answerBug(error));
  }

  #refuse(failure: Fault): void {
    refuse(this.#request, failure);
    this.onCallEnded(true, true);
  }

  #run(body: Uint8Array, survey: BodySurvey | null): void {
    const { exchange, traceId, path, search, context } = this.#request;
    const { gateway } = context;
    const inbound = {
      traceId,
      header: (name: string) => exchange.header(name),
      work: works[this.#endpoint.kind],
      path,
      params: this.#params,
      search,
      body,
      survey,
      receivedAtMs: gateway.clock.now(),
      receivedAt: gateway.clock.monotonic(),
      memory: this,
    };
    try {
      runCall(inbound, this.#caller, this.#protocol, exchange, gateway, this);
    } catch (error) {
      this.#answerBug(error);
    }
  }

  #answerBug(error: unknown): void {
    this.#over?.();
    answerBug(this.#request, error);
  }

  onCallEnded(isBodyRead: boolean, isOver: boolean): void {
    if (isOver) this.#over?.();
    if (isBodyRead) this.#loan.giveBack();
    if (this.#bytesHeld > 0) this.#request.exchange.afterDelivery(() => this.giveBack(this.#bytesHeld));
  }

  onNoBody(failure: Fault): void {
    this.giveBack(this.#bytesHeld);
    refuse(this.#request, failure);
  }

  take(bytes: number): boolean {
    const isTaken = this.#request.context.memory.take(this.#caller, bytes);
    if (isTaken) this.#bytesHeld += bytes;
    return isTaken;
  }

  giveBack(bytes: number): void {
    this.#bytesHeld -= bytes;
    this.#request.context.memory.giveBack(this.#caller, bytes);
  }
}

/** A protocol that has no words for a count counts nothing. */
function serves(protocol: Protocol, { kind }: CallEndpoint): boolean {
  return kind !== 'count-tokens' || protocol.encodeTokenCount !== undefined;
}

/** JSON, or nothing said; elsewhere than for images a form is the sign of a forgotten header. */
function refusedContentType(type: string | undefined, takesForms: boolean): Fault | null {
  if (type === undefined || type === 'application/json') return null;
  if (/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return null;
  if (takesForms && isForm(type)) return null;
  return fault('unsupported_media_type', {
    message: `The content type '${type.slice(0, 100)}' is not supported here; send 'content-type: application/json'.`,
    param: 'content-type',
  });
}

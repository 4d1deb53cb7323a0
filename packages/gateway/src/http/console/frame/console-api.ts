import { fail, type Result, succeed } from '@headgate/protocols';
import { Hono } from 'hono';
import { z } from 'zod';
import { mistakesOf } from '../../../catalogue/limit-patch.ts';
import { CallerAddresses } from '../../caller-address.ts';
import { answerResponse, type ConsoleAnswer, isProblem, staleness } from './answer.ts';
import { parseBody, readBody } from './body.ts';
import type { Admitted, Gate } from './gate.ts';
import { type ConsoleProblem, invalid, problem, problemResponse } from './problem.ts';
import type { RepeatedCreates } from './repeated-creates.ts';
import type { AnyRouteSpec, ParamNames, RouteCall, RouteHandler, RouteSpec } from './route.ts';

/** All that a request came with, beside what Hono knows of it. */
export interface Bindings {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } };
}

export interface ConsoleApiOptions {
  readonly gate: Gate;
  /** Tells where people are; no proxy is believed if it is left out. */
  readonly addresses?: Pick<CallerAddresses, 'addressOf'>;
  /** Null where no create is remembered. */
  readonly creates: RepeatedCreates | null;
  /** Holds every answer against its schema, and throws where it breaks it: tests do. */
  readonly checksAnswers?: boolean;
}

export const apiPrefix = '/api/v1';

const bodyBytesUsual = 65_536;
const paramLengthMax = 200;

/** Any request that may be made. */
type AnyCall = RouteCall<string, unknown, unknown>;
type AnyResult = ConsoleAnswer<unknown> | ConsoleProblem | Response;

/** The routes of the console. Each says who may ask at its definition; all that is not a route is closed to strangers. */
export class ConsoleApi {
  readonly #options: ConsoleApiOptions;
  readonly #addresses: Pick<CallerAddresses, 'addressOf'>;
  readonly #hono = new Hono<{ Bindings: Bindings }>();
  readonly #specs: AnyRouteSpec[] = [];

  constructor(options: ConsoleApiOptions) {
    this.#options = options;
    this.#addresses = options.addresses ?? new CallerAddresses([]);
  }

  /** Every route that there is. */
  get specs(): readonly AnyRouteSpec[] {
    return this.#specs;
  }

  /** A route that answers in JSON. */
  route<
    const Path extends string,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUnknown,
    Out extends z.ZodType | null = null,
  >(
    spec: RouteSpec<Path, Query, Body, Out>,
    handler: RouteHandler<Path, z.output<Query>, z.output<Body>, Out extends z.ZodType ? z.input<Out> : null>,
  ): void {
    // The call is made by the schemas of the spec, which the handler's type was taken from.
    this.#serve(spec, handler as unknown as (call: AnyCall) => AnyResult | Promise<AnyResult>);
  }

  /** A route whose answer is of another type, such as a stream. */
  stream<
    const Path extends string,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUnknown,
  >(
    spec: Omit<RouteSpec<Path, Query, Body, null>, 'answer' | 'creates' | 'onceShown'> & {
      readonly produces: string;
    },
    handler: (
      call: RouteCall<Path, z.output<Query>, z.output<Body>>,
    ) => Promise<Response | ConsoleProblem> | Response | ConsoleProblem,
  ): void {
    // As above.
    this.#serve(
      { ...spec, answer: null },
      handler as unknown as (call: AnyCall) => AnyResult | Promise<AnyResult>,
    );
  }

  /** The routes, and a closed door behind them. */
  hono(): Hono<{ Bindings: Bindings }> {
    const all = new Hono<{ Bindings: Bindings }>();
    all.route(apiPrefix, this.#hono);
    all.all('/api/*', (context) => this.#refuse(context.req.raw, context.env));
    all.all('/api', (context) => this.#refuse(context.req.raw, context.env));
    return all;
  }

  /** Whoever may not ask anything does not learn what there is to ask. */
  async #refuse(request: Request, env: Bindings | undefined): Promise<Response> {
    const address = this.#addressOf(request, env);
    const admitted = await this.#options.gate.admit(request, address, { access: 'signed-in' });
    return problemResponse(admitted.ok ? problem('not_found', 'There is no such path.') : admitted.error);
  }

  #serve(spec: AnyRouteSpec, handler: (call: AnyCall) => AnyResult | Promise<AnyResult>): void {
    this.#specs.push(spec);
    const path = spec.path.replaceAll(/\{(\w+)\}/g, ':$1');
    this.#hono.on(spec.method.toUpperCase(), path, async (context) => {
      const request = context.req.raw;
      const admitted = await this.#options.gate.admit(request, this.#addressOf(request, context.env), spec);
      if (!admitted.ok) return problemResponse(admitted.error);
      const read = await readCall(spec, request, context.req.param(), context.req.queries(), admitted.value);
      if (!read.ok) return problemResponse(read.error);
      const run = async () => this.#checked(spec, await handler(read.value.call));
      return respond(await this.#once(spec, read.value, run));
    });
  }

  /** Makes what is created once for each `Idempotency-Key`. */
  #once(spec: AnyRouteSpec, { call, text }: ReadCall, run: () => Promise<AnyResult>): Promise<AnyResult> {
    const key = call.request.headers.get('idempotency-key');
    const { creates } = this.#options;
    // Nobody's creates are not kept: there would be no end of them.
    if (spec.creates !== true || key === null || creates === null || call.actor.kind === 'nobody')
      return run();
    return creates.once(
      { spec, key, text, actor: call.actor, path: new URL(call.request.url).pathname },
      run,
    );
  }

  /** Guesses are counted by it and notes name it, so it is read as the API port reads it: a proxy's word counts only where it is trusted. */
  #addressOf(request: Request, env: Bindings | undefined): string | null {
    const peer = env?.incoming?.socket.remoteAddress;
    const header = (name: string) => request.headers.get(name) ?? undefined;
    return this.#addresses.addressOf({ peer, header });
  }

  #checked(spec: AnyRouteSpec, result: AnyResult): AnyResult {
    if (this.#options.checksAnswers !== true || isProblem(result) || result instanceof Response)
      return result;
    const { error } = spec.answer?.safeParse(result.body) ?? {};
    if (error === undefined) return result;
    throw new Error(`${spec.method} ${spec.path} does not answer as it says: ${error.message}`);
  }
}

function respond(result: AnyResult): Response {
  if (result instanceof Response) return result;
  return isProblem(result) ? problemResponse(result) : answerResponse(result);
}

interface ReadCall {
  readonly call: AnyCall;
  /** The body as it came. */
  readonly text: string;
}

async function readCall(
  spec: AnyRouteSpec,
  request: Request,
  params: Readonly<Record<ParamNames<string>, string>>,
  queries: Readonly<Record<string, readonly string[]>>,
  { actor, scope }: Admitted,
): Promise<Result<ReadCall, ConsoleProblem>> {
  const long = Object.entries<string>(params).find(([, value]) => value.length > paramLengthMax);
  if (long !== undefined)
    return fail(
      invalid([{ field: long[0], message: `must be of ${paramLengthMax} characters at the most` }]),
    );
  const given = Object.entries(queries).map(([name, values]) => [
    name,
    values.length === 1 ? values[0] : values,
  ]);
  const query = readWith(spec.query, Object.fromEntries(given));
  if (!query.ok) return query;
  const schema = spec.body ?? (spec.rawBody === undefined ? undefined : z.unknown());
  const text =
    schema === undefined ? succeed('') : await readBody(request, spec.bodyBytesMax ?? bodyBytesUsual);
  if (!text.ok) return text;
  const json = schema === undefined ? succeed(undefined) : parseBody(text.value);
  if (!json.ok) return json;
  const body = readWith(schema, json.value);
  if (!body.ok) return body;
  const ifMatch = (version: unknown) => staleness(request.headers.get('if-match'), version);
  const call = { actor, scope, params, query: query.value, body: body.value, request, ifMatch };
  return succeed({ call, text: text.value });
}

/** The value as its schema has it. A query without a schema has no members that anybody reads. */
function readWith(schema: z.ZodType | undefined, given: unknown): Result<unknown, ConsoleProblem> {
  if (schema === undefined) return succeed(undefined);
  const read = schema.safeParse(given);
  if (read.success) return succeed(read.data);
  const mistakes = read.error.issues.flatMap(mistakesOf);
  return fail(invalid(mistakes.map(({ path, message }) => ({ field: path.join('.'), message }))));
}

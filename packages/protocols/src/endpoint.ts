import type { Platform } from './error.ts';
import type { Method, ProtocolEndpoint, ProtocolOf } from './protocol.ts';
import { type ProtocolId, protocols } from './protocols.ts';
import type { EndpointParams } from './request.ts';

/** Something the API origin answers: a list or a report of ours, or work for a model in one protocol. */
export type Endpoint<Id extends string = ProtocolId> =
  | {
      readonly method: Method;
      readonly path: string;
      /** Whose keys may use it, and in whose shape it fails. */
      readonly platform: Platform | 'any';
      readonly kind: 'models' | 'model' | 'usage';
    }
  | (Omit<ProtocolEndpoint, 'kind'> & {
      readonly platform: Platform;
      readonly kind: 'call' | 'count-tokens' | 'embed';
      readonly protocol: Id;
    });

export type EndpointMatch<Id extends string = ProtocolId> =
  | { readonly kind: 'match'; readonly endpoint: Endpoint<Id>; readonly params: EndpointParams }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly Method[] }
  | { readonly kind: 'none' };

/** Ours, for the keys of every platform. */
const ownEndpoints = [
  { method: 'GET', path: '/v1/models', platform: 'any', kind: 'models' },
  { method: 'GET', path: '/v1/models/{model}', platform: 'any', kind: 'model' },
  { method: 'GET', path: '/v1/usage', platform: 'any', kind: 'usage' },
] as const satisfies readonly Endpoint[];

/** Every path of the API origin: ours and those of the protocols. */
export class EndpointTable<Id extends string> {
  readonly endpoints: readonly Endpoint<Id>[];
  readonly #byPath: ReadonlyMap<string, readonly Endpoint<Id>[]>;
  readonly #territories: readonly { readonly territory: RegExp; readonly platform: Platform }[];

  constructor(spoken: readonly ProtocolOf<Id>[]) {
    this.endpoints = [...ownEndpoints, ...spoken.flatMap(endpointsOf)];
    this.#byPath = Map.groupBy(this.endpoints, ({ path }) => path);
    this.#territories = spoken.flatMap(({ territory, platform }) =>
      territory === undefined ? [] : [{ territory, platform }],
    );
  }

  /**
   * Finds the endpoint for a path without its query. The path is taken as it came: nothing is normalised, so doubled
   * slashes, dot segments and encoded separators are simply other paths, and those do not exist.
   */
  match(method: string, path: string): EndpointMatch<Id> {
    const exact = this.#byPath.get(path);
    if (exact !== undefined && !path.includes('{')) return choose(method, exact, {});
    const segment = modelSegment(path);
    return segment === null ? { kind: 'none' } : this.#matchModel(method, segment);
  }

  /** In whose shape a failure on this path is told, known endpoint or not. */
  platformOf(path: string): Platform {
    return this.#territories.find(({ territory }) => territory.test(path))?.platform ?? 'completions';
  }

  /** The protocols in which a key of the platform can call a model. */
  callProtocols(platform: Platform): readonly Id[] {
    const own = this.endpoints.flatMap((endpoint) =>
      endpoint.kind === 'call' && endpoint.platform === platform ? [endpoint.protocol] : [],
    );
    return [...new Set(own)];
  }

  /** A segment that ends in an action is that action; else it is a model, whose id may have colons of its own. */
  #matchModel(method: string, { prefix, segment }: ModelSegment): EndpointMatch<Id> {
    const colon = segment.lastIndexOf(':');
    const action = segment.slice(colon + 1);
    const actions = colon === -1 ? undefined : this.#byPath.get(`${prefix}{model}:${action}`);
    const model = decodeModel(actions === undefined ? segment : segment.slice(0, colon));
    if (model === null) return { kind: 'none' };
    if (actions !== undefined) return choose(method, actions, { model, action });
    const reads = this.#byPath.get(`${prefix}{model}`);
    // A POST that names something after a colon means an action, and there is no such action.
    if (reads === undefined || (method === 'POST' && colon !== -1)) return { kind: 'none' };
    return choose(method, reads, { model });
  }
}

function endpointsOf<Id extends string>({
  id,
  platform,
  endpoints,
}: ProtocolOf<Id>): readonly Endpoint<Id>[] {
  return endpoints.map(({ method, path, kind, takesForms = false }) =>
    kind === 'models' || kind === 'model'
      ? { method, path, platform, kind }
      : { method, path, platform, kind, protocol: id, takesForms },
  );
}

interface ModelSegment {
  readonly prefix: string;
  readonly segment: string;
}

/** Splits `/v1/models/SEGMENT`; null for any other path. */
function modelSegment(path: string): ModelSegment | null {
  const parts = /^(\/[a-z0-9]+\/models\/)([^/]+)$/.exec(path);
  const [, prefix, segment] = parts ?? [];
  return prefix === undefined || segment === undefined ? null : { prefix, segment };
}

/** Null for what cannot be a model's id: malformed escapes, control characters, dot segments, nothing. */
function decodeModel(segment: string): string | null {
  try {
    const model = decodeURIComponent(segment);
    return /^\.{0,2}$|[\p{Cc}\\]/u.test(model) ? null : model;
  } catch {
    return null;
  }
}

function choose<Id extends string>(
  method: string,
  candidates: readonly Endpoint<Id>[],
  params: EndpointParams,
): EndpointMatch<Id> {
  const endpoint = candidates.find((candidate) => candidate.method === method);
  if (endpoint !== undefined) return { kind: 'match', endpoint, params };
  return { kind: 'method-not-allowed', allow: candidates.map((candidate) => candidate.method) };
}

const table = new EndpointTable<ProtocolId>(Object.values(protocols));

/** The same of the protocols that are spoken here. */
export const { endpoints } = table;
export const matchEndpoint = table.match.bind(table);
export const platformOfPath = table.platformOf.bind(table);
export const callProtocols = table.callProtocols.bind(table);

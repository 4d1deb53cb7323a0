import type { Platform } from './error.ts';
import type { EndpointParams, ProtocolId } from './inbound-request.ts';

export type Method = 'GET' | 'POST';

interface EndpointBase {
  readonly method: Method;
  /** The whole path; `{model}` is one segment, and `{model}:{action}` is one segment that ends in the action. */
  readonly path: string;
  /** Whose keys may use it, and in whose shape it fails. */
  readonly platform: Platform | 'any';
}

/** Something the API origin answers: a list or a report of ours, or work for a model in one protocol. */
export type Endpoint =
  | (EndpointBase & { readonly kind: 'models' | 'model' | 'usage' })
  | (EndpointBase & {
      readonly kind: 'call' | 'count-tokens' | 'embed';
      readonly protocol: ProtocolId;
      /** Whether `multipart/form-data` is read beside JSON. */
      readonly takesForms?: boolean;
    });

export type EndpointMatch =
  | { readonly kind: 'match'; readonly endpoint: Endpoint; readonly params: EndpointParams }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly Method[] }
  | { readonly kind: 'none' };

/** Every path of the API origin. */
export const endpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/v1/models', platform: 'any', kind: 'models' },
  { method: 'GET', path: '/v1/models/{model}', platform: 'any', kind: 'model' },
  { method: 'GET', path: '/v1/usage', platform: 'any', kind: 'usage' },
  ...calls('completions', 'chat-completions', ['/v1/chat/completions']),
  ...calls('completions', 'responses', ['/v1/responses']),
  ...calls('completions', 'images', ['/v1/images/generations']),
  ...calls('completions', 'images', ['/v1/images/edits'], true),
  ...calls('messages', 'messages', ['/v1/messages']),
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    platform: 'messages',
    kind: 'count-tokens',
    protocol: 'messages',
  },
  ...['/v1beta', '/v1alpha'].flatMap(nativeReads),
  // The current official SDK of the native surface calls /v1.
  ...['/v1beta', '/v1alpha', '/v1'].flatMap(nativeActions),
];

function calls(
  platform: Platform,
  protocol: ProtocolId,
  paths: readonly string[],
  takesForms = false,
): readonly Endpoint[] {
  return paths.map((path) => ({ method: 'POST', path, platform, kind: 'call', protocol, takesForms }));
}

function nativeReads(prefix: string): readonly Endpoint[] {
  return [
    { method: 'GET', path: `${prefix}/models`, platform: 'native', kind: 'models' },
    { method: 'GET', path: `${prefix}/models/{model}`, platform: 'native', kind: 'model' },
  ];
}

function nativeActions(prefix: string): readonly Endpoint[] {
  const kinds = {
    generateContent: 'call',
    streamGenerateContent: 'call',
    countTokens: 'count-tokens',
    embedContent: 'embed',
    batchEmbedContents: 'embed',
  } as const;
  return Object.entries(kinds).map(([action, kind]) => ({
    method: 'POST',
    path: `${prefix}/models/{model}:${action}`,
    platform: 'native',
    kind,
    protocol: 'generate-content',
  }));
}

/** The protocols in which a key of the platform can call a model. */
export function callProtocols(platform: Platform): readonly ProtocolId[] {
  const own = endpoints.flatMap((endpoint) =>
    endpoint.kind === 'call' && endpoint.platform === platform ? [endpoint.protocol] : [],
  );
  return [...new Set(own)];
}

const byPath: ReadonlyMap<string, readonly Endpoint[]> = Map.groupBy(endpoints, (endpoint) => endpoint.path);

/**
 * Finds the endpoint for a path without its query. The path is taken as it came: nothing is normalised, so doubled
 * slashes, dot segments and encoded separators are simply other paths, and those do not exist.
 */
export function matchEndpoint(method: string, path: string): EndpointMatch {
  const exact = byPath.get(path);
  if (exact !== undefined && !path.includes('{')) return choose(method, exact, {});
  const segment = modelSegment(path);
  return segment === null ? { kind: 'none' } : matchModel(method, segment);
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

/** A segment that ends in an action is that action; else it is a model, whose id may have colons of its own. */
function matchModel(method: string, { prefix, segment }: ModelSegment): EndpointMatch {
  const colon = segment.lastIndexOf(':');
  const action = segment.slice(colon + 1);
  const actions = colon === -1 ? undefined : byPath.get(`${prefix}{model}:${action}`);
  const model = decodeModel(actions === undefined ? segment : segment.slice(0, colon));
  if (model === null) return { kind: 'none' };
  if (actions !== undefined) return choose(method, actions, { model, action });
  const reads = byPath.get(`${prefix}{model}`);
  // What a POST names after a colon was meant as an action, and there is no such action.
  if (reads === undefined || (method === 'POST' && colon !== -1)) return { kind: 'none' };
  return choose(method, reads, { model });
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

function choose(method: string, candidates: readonly Endpoint[], params: EndpointParams): EndpointMatch {
  const endpoint = candidates.find((candidate) => candidate.method === method);
  if (endpoint !== undefined) return { kind: 'match', endpoint, params };
  return { kind: 'method-not-allowed', allow: candidates.map((candidate) => candidate.method) };
}

/** In whose shape a failure on this path is told, known endpoint or not. */
export function platformOfPath(path: string): Platform {
  if (/^\/v1(beta|alpha)(\/|$)/.test(path) || /^\/v1\/models\/[^/]*:[a-z]+$/i.test(path)) return 'native';
  return /^\/v1\/messages(\/|$)/.test(path) ? 'messages' : 'completions';
}

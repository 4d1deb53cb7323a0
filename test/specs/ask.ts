import { type Feature, modelOf, type ProtocolSite, type UpstreamProtocol } from '../support/protocol-site.ts';
import { exchange, request } from '../support/raw-http.ts';
import type { Surface } from './surfaces.ts';

export interface Said {
  readonly status: number;
  readonly text: string;
  /** False when the connection broke off. */
  readonly isWhole: boolean;
}

/** Asks for a feature on a channel of that protocol, in the words of the surface. */
export function ask(
  site: ProtocolSite,
  surface: Surface,
  [upstream, feature]: readonly [UpstreamProtocol, Feature],
  stream: boolean,
): Promise<Said> {
  const model = modelOf(feature, upstream);
  return send(site, surface, surface.path(model, stream), surface.body(model, feature, stream));
}

/** A request with the key of the surface: a POST when there is a body. */
export async function send(
  { gateway }: ProtocolSite,
  { platform, keyHeader }: Surface,
  path: string,
  body?: object,
): Promise<Said> {
  const key = keyHeader === 'authorization' ? `Bearer ${gateway.keys[platform]}` : gateway.keys[platform];
  const head = [`${keyHeader}: ${key}`, 'content-type: application/json'];
  const sent =
    body === undefined ? request(`GET ${path}`, head) : request(`POST ${path}`, head, JSON.stringify(body));
  const answer = await exchange(gateway.apiOrigin, sent);
  return { status: answer.status, isWhole: answer.isWhole, text: answer.body.toString() };
}

/** The JSON of every event of a stream; what ends some streams is none. */
export function framesOf(stream: string): readonly unknown[] {
  const data = [...stream.matchAll(/^data: ?(.*?)\r?$/gm)].map(([, text = '']) => text);
  return data.filter((text) => text !== '[DONE]').map((text): unknown => JSON.parse(text));
}

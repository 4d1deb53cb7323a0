import type { ProtocolId } from '@headgate/protocols';

/** One exchange with a real provider, as far as it was recorded. */
export interface Recording {
  /** Collection and file, for the report. */
  readonly name: string;
  readonly collection: string;
  readonly protocol: ProtocolId;
  readonly request: RecordedRequest | null;
  /** Null when only the request was kept. */
  readonly answer: RecordedAnswer | null;
}

export interface RecordedRequest {
  readonly path: string;
  readonly search: string;
  readonly body: Uint8Array;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly kind: 'json' | 'stream';
  readonly body: Uint8Array;
}

/** Paths at which each protocol generates; whatever comes before them is the provider's. */
const endpoints: readonly (readonly [RegExp, ProtocolId])[] = [
  [/\/chat\/completions$/, 'chat-completions'],
  [/\/responses$/, 'responses'],
  [/\/v1\/messages$/, 'messages'],
  [/\/models\/[^/]+:(streamG|g)enerateContent$/, 'generate-content'],
  [/\/images\/(generations|edits)$/, 'images'],
];

/** The protocol spoken at a URL; null when it is none of ours. */
export function protocolAt(url: string): ProtocolId | null {
  const path = url.replace(/\?.*$/s, '');
  return endpoints.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

/** A request to a URL as a caller of ours would send it. */
export function requestTo(url: string, body: Uint8Array): RecordedRequest {
  const [path = '', search = ''] = url.replace(/^https?:\/\/[^/]+/, '').split(/\?(.*)/s);
  return { path, search, body };
}

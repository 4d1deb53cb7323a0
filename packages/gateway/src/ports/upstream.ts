import type { Channel, Credential, ProxyServer } from '../catalogue/catalogue.ts';

/** The headers of an answer. Names are asked for in lower case; a repeated header is joined with ", ". */
export interface UpstreamHeaders extends Iterable<readonly [string, string]> {
  get(name: string): string | undefined;
}

export interface UpstreamHead {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  /** False where certainly no header speaks of rate limits; absent where nobody has looked. */
  readonly tellsLimits?: boolean;
  /** The coding that the body came in although nobody had asked for it, and is read without; absent where it came as it is. */
  readonly decodedFrom?: string;
}

/**
 * Why an exchange ended without a whole answer. `unreachable`: DNS, refusal, TLS or connect time-out ·
 * `reset`: the connection died · `garbled`: not HTTP, or closed in good order before the end it announced ·
 * `forbidden-address`: the guard refused the destination · `aborted`: we let go of it.
 */
export type UpstreamFailureKind =
  | 'unreachable'
  | 'connect-timeout'
  | 'reset'
  | 'garbled'
  | 'forbidden-address'
  | 'aborted';

export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  /** For the log, never for a caller. */
  readonly detail: string;
}

/** Receives the answer. Exactly one of `onEnd` and `onFailure` is called, last, and never synchronously within `send`. */
export interface UpstreamHandler {
  onHead(head: UpstreamHead): void;
  /** The bytes are there only within the call: all sockets read into one place. Whoever keeps them copies them. */
  onData(chunk: Uint8Array): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

/** A request under way. */
export interface UpstreamExchange {
  /** Nothing of the request is read any more: it has left, or never will. */
  readonly isSent: boolean;
  /** Stops reading until `resume`; a few chunks may still come. */
  pause(): void;
  resume(): void;
  /** From here on its bytes may wait some milliseconds to be read together, while the process has more to do than it can. */
  gather(): void;
  /** Closes the connection; `onFailure` follows with `aborted`, not within this call, unless the exchange has ended. */
  abort(): void;
}

/** One request to an origin. Bytes go as given; nothing is added but what HTTP itself needs. */
export interface UpstreamRequest {
  /** Scheme, host and port: `https://api.example.com`. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Name, value, name, value …; names in lower case, without host, content-length and connection. */
  readonly headers: readonly string[];
  /** In pieces, end to end; none for a request without a body. */
  readonly body: readonly Uint8Array[];
  /** The channel on whose connections it travels: channels share no sockets. */
  readonly channelId: string;
  readonly allowPrivate: boolean;
  /** The proxy it goes through; directly if left out. */
  readonly proxy?: ProxyServer | null;
  /** From the look-up of the name to the end of the last handshake; as the client has it if left out. */
  readonly connectTimeoutMs?: number | null;
  /** On a new connection, for what must not be sent twice. */
  readonly fresh: boolean;
}

/**
 * The way out to any origin. A request on a reused connection that dies before the first byte of the answer is sent once
 * more on a fresh connection, without the caller of `send` noticing. Redirects are never followed.
 */
export interface UpstreamClient {
  /** Throws a TypeError when a path or header would break the request's framing: a bug of whoever built it. */
  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange;
  /** Lets go of every connection; what is under way, and what is sent later, fails as `aborted`. */
  close(): Promise<void>;
}

/** All that requests of one kind to a channel have in common. */
export interface UpstreamPlace {
  readonly channel: Channel;
  /** One of the channel's; null where it needs none. */
  readonly credential: Credential | null;
  readonly method: 'GET' | 'POST';
  /** Appended to the channel's base URL. */
  readonly path: string;
  /** Name, value, name, value …, in lower case; neither credential nor host nor length. */
  readonly headers: readonly string[];
}

/** A way to one place whose address, credential and common headers are written already: made once, sent on often. */
export interface UpstreamLine {
  /** `headers` and `body` as in `UpstreamRequest`; the headers are those of this one request. */
  send(
    headers: readonly string[],
    body: readonly Uint8Array[],
    fresh: boolean,
    handler: UpstreamHandler,
  ): UpstreamExchange;
}

/** The way to channels. A place that cannot be sent to has a line all the same, on which every request fails. */
export interface Upstream {
  line(place: UpstreamPlace): UpstreamLine;
}

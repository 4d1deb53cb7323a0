import { connect, type Socket } from 'node:net';

/** One HTTP answer as bytes off the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; a repeated header keeps its last value. */
  readonly headers: ReadonlyMap<string, string>;
  /** With the chunk framing taken off; what there is of it when the answer is not whole. */
  readonly body: Buffer;
  /** The HTTP message is complete: all of `content-length`, or the final chunk. */
  readonly isWhole: boolean;
}

/** How the other side left the connection. */
export type Farewell = 'FIN' | 'RST';

/** A connection on which a test writes what no HTTP client would, and reads what none would show. */
export class RawConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #farewell: Farewell | null = null;
  #wake: () => void = () => {};

  constructor(origin: string) {
    this.#socket = connect(Number(new URL(origin).port), '127.0.0.1');
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('end', () => this.#leave('FIN'));
    this.#socket.on('error', () => this.#leave('RST'));
  }

  send(bytes: string | Uint8Array): this {
    this.#socket.write(bytes);
    return this;
  }

  /** The next answer on the connection, or as much of it as had come when the connection ended. */
  async answer(): Promise<RawAnswer> {
    await this.#until(() => parse(this.#received).isWhole);
    const parsed = parse(this.#received);
    this.#received = this.#received.subarray(parsed.length);
    return parsed;
  }

  /** Resolves once the text has come; rejects when the connection ends without it. */
  async seen(text: string): Promise<void> {
    await this.#until(() => this.#received.includes(text));
    if (!this.#received.includes(text))
      throw new Error(`closed without ${text}: ${this.#received.toString()}`);
  }

  /** How the other side ends the connection, once it does. */
  async farewell(): Promise<Farewell> {
    await this.#until(() => false);
    return this.#farewell ?? 'RST';
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** Stops and starts reading. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Hangs up: politely, or with a reset. */
  close(): void {
    this.#socket.destroy();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && this.#farewell === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    this.#wake();
  }

  #leave(farewell: Farewell): void {
    this.#farewell ??= farewell;
    this.#wake();
  }
}

/** Sends one request on a connection of its own; resolves with the answer, or what had come of it when it broke off. */
export async function exchange(origin: string, request: string | Uint8Array): Promise<RawAnswer> {
  const connection = new RawConnection(origin);
  const answer = await connection.send(request).answer();
  connection.close();
  return answer;
}

/** A request as bytes. `content-length` is added when there is a body. */
export function request(
  target: string,
  headers: readonly string[] = [],
  body: string | Uint8Array = '',
): Buffer {
  const bytes = Buffer.from(body);
  const length = bytes.length === 0 ? [] : [`content-length: ${bytes.length}`];
  const head = [`${target} HTTP/1.1`, 'host: gateway', ...headers, ...length, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

/** A chat completion as bytes; members of the body beside model and messages as given. */
export function chatRequest(
  key: string,
  body: object | string | Uint8Array,
  headers: readonly string[] = [],
): Buffer {
  return callRequest('POST /v1/chat/completions', key, body, headers);
}

/** The same for responses. */
export function responsesRequest(key: string, body: object | string | Uint8Array): Buffer {
  return callRequest('POST /v1/responses', key, body, []);
}

/** The same for messages. */
export function messagesRequest(key: string, body: object | string | Uint8Array): Buffer {
  return callRequest('POST /v1/messages', key, body, []);
}

/** The same for generate-content; `target` is the model, its action and the query, as in `m:generateContent?alt=sse`. */
export function nativeRequest(
  key: string,
  target: string,
  body: object | string | Uint8Array,
  version = 'v1beta',
): Buffer {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const headers = [`x-goog-api-key: ${key}`, 'content-type: application/json'];
  return request(`POST /${version}/models/${target}`, headers, bytes);
}

function callRequest(
  target: string,
  key: string,
  body: object | string | Uint8Array,
  headers: readonly string[],
): Buffer {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const own = [`authorization: Bearer ${key}`, 'content-type: application/json'];
  return request(target, [...own, ...headers], bytes);
}

/** The frames of an event stream, each with its blank line. */
export function framesOf(body: Buffer): readonly string[] {
  return body.toString().split(/(?<=\r?\n\r?\n)/);
}

interface Parsed extends RawAnswer {
  /** Bytes of the message, head included. */
  readonly length: number;
}

const nothing: Parsed = { status: 0, headers: new Map(), body: Buffer.alloc(0), isWhole: false, length: 0 };

function parse(bytes: Buffer): Parsed {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return nothing;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Map(lines.map(splitHeader));
  const payload = bytes.subarray(headEnd + 4);
  const framed =
    headers.get('transfer-encoding') === 'chunked' ? readChunks(payload) : readLength(payload, headers);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    ...framed,
    length: headEnd + 4 + framed.length,
  };
}

function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function readLength(payload: Buffer, headers: ReadonlyMap<string, string>) {
  const length = Number(headers.get('content-length') ?? 0);
  return { body: payload.subarray(0, length), isWhole: payload.length >= length, length };
}

function readChunks(payload: Buffer) {
  const parts: Buffer[] = [];
  let at = 0;
  for (let lineEnd = payload.indexOf('\r\n'); lineEnd !== -1; lineEnd = payload.indexOf('\r\n', at)) {
    const size = Number.parseInt(payload.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) break;
    const start = lineEnd + 2;
    if (size === 0) return { body: Buffer.concat(parts), isWhole: true, length: start + 2 };
    parts.push(payload.subarray(start, start + size));
    at = start + size + 2;
  }
  return { body: Buffer.concat(parts), isWhole: false, length: payload.length };
}

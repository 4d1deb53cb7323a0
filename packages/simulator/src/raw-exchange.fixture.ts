import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

/** How the server left the connection. */
type Farewell = 'FIN' | 'RST';

/** One raw connection to a simulator: nothing between the test and the bytes. */
export interface RawConnection {
  send(text: string): void;
  /** Everything received so far. */
  readonly received: Buffer;
  /** Resolves once what was received satisfies the condition. */
  until(condition: (received: string) => boolean): Promise<void>;
  readonly farewell: Promise<Farewell>;
  close(): void;
}

export function openRaw(origin: string): RawConnection {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  const received = () => Buffer.concat(chunks);
  return {
    send: (text) => void socket.write(text),
    get received() {
      return received();
    },
    until: (condition) => untilReceived(socket, () => condition(received().toString())),
    farewell: farewellOf(socket),
    close: () => void socket.destroy(),
  };
}

function untilReceived(socket: Socket, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (holds()) resolve();
  };
  socket.on('data', look);
  look();
  return promise;
}

function farewellOf(socket: Socket): Promise<Farewell> {
  const { promise, resolve } = Promise.withResolvers<Farewell>();
  socket.once('end', () => resolve('FIN'));
  socket.once('error', () => resolve('RST'));
  return promise;
}

/** A chat-completions request as raw HTTP. */
export function chatRequest(
  model: string,
  members: object = {},
  headerLines: readonly string[] = [],
): string {
  return postRequest('/v1/chat/completions', { model, ...members }, headerLines);
}

/** A messages request as raw HTTP. */
export function messagesRequest(
  model: string,
  members: object = {},
  headerLines: readonly string[] = [],
): string {
  return postRequest('/v1/messages', { model, max_tokens: 1_000, ...members }, headerLines);
}

/** A responses request as raw HTTP; its prompt is three tokens too. */
export function responsesRequest(
  model: string,
  members: object = {},
  headerLines: readonly string[] = [],
): string {
  const own = { messages: undefined, model, input: 'one two three' };
  return postRequest('/v1/responses', { ...own, ...members }, headerLines);
}

/** A generate-content request as raw HTTP; `target` is the model, its action and the query, as in `m:generateContent?alt=sse`. */
export function nativeRequest(target: string, members: object = {}): string {
  const contents = [{ role: 'user', parts: [{ text: 'one two three' }] }];
  return postRequest(`/v1beta/models/${target}`, { messages: undefined, contents, ...members });
}

/** A request for any path; the prompt is three tokens unless the members say otherwise. */
export function postRequest(path: string, members: object, headerLines: readonly string[] = []): string {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'one two three' }], ...members });
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: simulator',
    `content-length: ${Buffer.byteLength(body)}`,
    ...headerLines,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends one request on a connection of its own and waits for a whole answer. */
export async function exchange(origin: string, request: string): Promise<RawAnswer> {
  const raw = openRaw(origin);
  raw.send(request);
  await raw.until(() => readAnswer(raw.received)?.isWhole === true);
  raw.close();
  const answer = readAnswer(raw.received);
  if (answer === null) throw new Error('the answer has no head');
  return answer;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** With the chunk framing taken off. */
  readonly body: string;
  /** The sizes of the HTTP chunks; null when the body is not chunked. */
  readonly chunkSizes: readonly number[] | null;
  /** True once the HTTP message is complete. */
  readonly isWhole: boolean;
}

/** Reads one HTTP message; null when there is no head. */
export function readAnswer(bytes: Buffer): RawAnswer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers: Readonly<Record<string, string>> = Object.fromEntries(lines.map(splitHeader));
  const payload = bytes.subarray(headEnd + 4);
  const framing = headers['transfer-encoding'] === 'chunked' ? readChunks(payload) : null;
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: (framing?.body ?? payload).toString(),
    chunkSizes: framing?.sizes ?? null,
    isWhole: framing?.isWhole ?? payload.length === Number(headers['content-length']),
  };
}

function splitHeader(line: string): readonly [string, string] {
  const [name = '', value = ''] = line.split(': ', 2);
  return [name, value];
}

function readChunks(payload: Buffer) {
  const parts: Buffer[] = [];
  let at = 0;
  let isWhole = false;
  while (!isWhole && payload.indexOf('\r\n', at) >= 0) {
    const start = payload.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(payload.toString('latin1', at, start), 16);
    isWhole = size === 0;
    if (!isWhole) parts.push(payload.subarray(start, start + size));
    at = start + size + 2;
  }
  return { body: Buffer.concat(parts), sizes: parts.map((part) => part.length), isWhole };
}

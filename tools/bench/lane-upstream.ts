import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { ProtocolId } from '@headgate/protocols';
import { answerBody, streamFrames } from './lane-words.ts';

/** The path after the base URL, by protocol. */
export const upstreamPaths = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{action}',
} as const satisfies Partial<Record<ProtocolId, string>>;

export type LaneProtocol = keyof typeof upstreamPaths;

const laneProtocols: readonly LaneProtocol[] = [
  'chat-completions',
  'responses',
  'messages',
  'generate-content',
];

/** Between two frames of a stream, in milliseconds: fast for a model, and slow enough for each to travel alone. */
const framePeriodMs = 0.25;

/** One protocol's answers, ready to be sent. */
interface Answers {
  readonly whole: Buffer;
  readonly frames: readonly Buffer[];
}

/** An upstream that speaks every protocol, with bytes prepared ahead. All streams get their frames at the same pace. */
export class LaneUpstream {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #answers: ReadonlyMap<LaneProtocol, Answers>;
  readonly #streams = new Map<Socket, Iterator<Buffer>>();
  #isFeeding = false;

  private constructor(server: Server, port: number, answers: ReadonlyMap<LaneProtocol, Answers>) {
    this.#server = server;
    this.port = port;
    this.#answers = answers;
    server.on('connection', (socket: Socket) => this.#serve(socket));
  }

  /** `frames`: of content, in every stream. */
  static async start(frames: number): Promise<LaneUpstream> {
    const server = createServer({ noDelay: true });
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null)
      throw new Error('A listening server has an address.');
    const answers = laneProtocols.map(
      (id) => [id, { whole: whole(answerBody(id)), frames: chunked(id, frames) }] as const,
    );
    return new LaneUpstream(server, address.port, new Map(answers));
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    let bytesLeft = 0;
    let path = '';
    let streams = false;
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#streams.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (bytesLeft === 0) {
        bytesLeft = requestBytes(chunk);
        path = chunk.toString('latin1', 0, chunk.indexOf('\r\n'));
        streams = path.includes(':streamGenerateContent');
      }
      bytesLeft -= chunk.length;
      streams ||= chunk.includes('"stream":true');
      if (bytesLeft === 0) this.#answer(socket, protocolOf(path), streams);
    });
  }

  #answer(socket: Socket, protocol: LaneProtocol, streams: boolean): void {
    const answers = this.#answers.get(protocol);
    if (answers === undefined) throw new Error('Every protocol has its answers.');
    if (!streams) {
      socket.write(answers.whole);
      return;
    }
    socket.write(streamHead);
    this.#streams.set(socket, answers.frames.values());
    if (!this.#isFeeding) void this.#feed();
  }

  /** A frame for every stream in every period; turns that are missed come later, one at a time. */
  async #feed(): Promise<void> {
    this.#isFeeding = true;
    for (let fedAt = performance.now(); this.#streams.size > 0; await setImmediate()) {
      if (performance.now() - fedAt < framePeriodMs) continue;
      fedAt = performance.now();
      for (const [socket, frames] of this.#streams) this.#feedOne(socket, frames);
    }
    this.#isFeeding = false;
  }

  #feedOne(socket: Socket, frames: Iterator<Buffer>): void {
    const next = frames.next();
    if (next.done !== true) socket.write(next.value);
    else this.#streams.delete(socket);
  }
}

const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';

function whole(body: Uint8Array): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function chunked(id: LaneProtocol, count: number): readonly Buffer[] {
  const frames = streamFrames(id, count).map((frame) =>
    Buffer.concat([Buffer.from(`${frame.length.toString(16)}\r\n`), frame, Buffer.from('\r\n')]),
  );
  return [...frames, Buffer.from('0\r\n\r\n')];
}

/** The length of a whole request, head included. The head always comes in one piece. */
function requestBytes(chunk: Buffer): number {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(chunk.toString('latin1', 0, headBytes))?.[1];
  if (headBytes < 4 || length === undefined)
    throw new Error('The benchmark expects a whole head with a content-length.');
  return headBytes + Number(length);
}

function protocolOf(path: string): LaneProtocol {
  const id = laneProtocols.find((one) => path.includes(upstreamPaths[one].replace('{model}:{action}', '')));
  if (id === undefined) throw new Error(`No protocol is spoken at ${path}.`);
  return id;
}

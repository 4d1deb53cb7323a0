import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { stampedFrame, streamOpening, wholeAnswer } from './fixed-answer.ts';

/** Streams take turns in this many slots of a frame's period, so that frames do not leave in one burst. */
const slotCount = 10;

/**
 * The fastest upstream that Node can be: bytes are prepared ahead, requests are only counted to their end, and one timer
 * feeds every stream. It lives in the thread that makes the load: two processes on one core would wait for each other's
 * turns.
 */
export class FixedUpstream {
  /** Whether open streams get frames: opening thousands takes long while the open ones keep everybody busy. */
  feeding = false;
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #slots = Array.from({ length: slotCount }, () => new Set<Socket>());
  readonly #slotMs: number;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #nextSlot = 0;
  #fed = 0;

  private constructor(server: Server, port: number, frameRate: number) {
    this.#server = server;
    this.port = port;
    this.#slotMs = 1000 / frameRate / slotCount;
    this.#timer = setInterval(() => this.#feedStreams(), 1);
    server.on('connection', (socket: Socket) => this.#serve(socket));
  }

  /** `frameRate`: frames per second on every stream. */
  static async start(frameRate: number): Promise<FixedUpstream> {
    const server = createServer({ noDelay: true });
    server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 });
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null)
      throw new Error('A listening server has an address.');
    return new FixedUpstream(server, address.port, frameRate);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    let bodyBytesLeft = 0;
    let streams = false;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      if (bodyBytesLeft === 0) {
        const request = readHead(chunk);
        streams = request.streams;
        bodyBytesLeft = request.totalBytes;
      }
      bodyBytesLeft -= chunk.length;
      if (bodyBytesLeft > 0) return;
      bodyBytesLeft = 0;
      if (streams) this.#openStream(socket);
      else socket.write(answer);
    });
    // Whoever measures closes its streams without notice.
    socket.on('error', () => socket.destroy());
  }

  #openStream(socket: Socket): void {
    const slot = this.#slots[this.#nextSlot++ % slotCount];
    socket.write(opening);
    slot?.add(socket);
    socket.once('close', () => slot?.delete(socket));
  }

  /** Feeds the slots whose time has come. */
  #feedStreams(): void {
    const due = Math.floor((performance.now() - this.#startedAt) / this.#slotMs);
    // After a stall the missed turns are lost, as they would be in a model that stalled.
    this.#fed = Math.max(this.#fed, due - slotCount);
    while (this.#fed < due) {
      const frame = stampedFrame(Number(process.hrtime.bigint() / 1000n));
      if (this.feeding) feedSlot(this.#slots[this.#fed % slotCount] ?? new Set(), frame);
      this.#fed++;
    }
  }
}

const answer = wholeAnswer();
const opening = streamOpening();

/** A request's length, head included, and whether it asks for a stream. The head always comes in one piece. */
function readHead(chunk: Buffer): { totalBytes: number; streams: boolean } {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(chunk.toString('latin1', 0, headBytes))?.[1];
  if (headBytes < 4 || length === undefined)
    throw new Error('The benchmark expects a whole head with a content-length.');
  const start = chunk.toString('latin1', headBytes, headBytes + 100);
  return { totalBytes: headBytes + Number(length), streams: start.includes('"stream":true') };
}

/** A stream that is not being read loses the frame instead of queueing it. */
function feedSlot(slot: ReadonlySet<Socket>, frame: Buffer): void {
  for (const socket of slot) {
    if (!socket.writableNeedDrain) socket.write(frame);
  }
}

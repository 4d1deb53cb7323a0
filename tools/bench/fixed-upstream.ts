import { stampDigits, stampedFrame, streamOpening, wholeAnswer } from './fixed-answer.ts';
import { received, type SocketLoop, type SocketOwner } from './sockets.ts';

/** Phases that a stream can have within a frame's period. */
const slotCount = 1000;
/** Phases that are served before something else has its turn: one that is late must not keep callers from reading, too. */
const slotsPerTurn = 50;
/** Frames that a late upstream makes up for; what is older is lost, as it would be in a model that stalled. */
const periodsLateMax = 10;

/**
 * An upstream with bytes prepared ahead, in the thread that makes the load: two processes on one core would wait for each
 * other's turns. Every stream has a phase of its own, so that no two frames come for the same reason: a server that is woken
 * once for many frames looks better than it is.
 */
export class FixedUpstream {
  readonly port: number;
  /** Frames sent to streams that took them. */
  framesSent = 0;
  readonly #loop: SocketLoop;
  readonly #listener: number;
  readonly #slots = Array.from({ length: slotCount }, () => new Set<UpstreamSocket>());
  readonly #slotMs: number;
  readonly #frame = stampedFrame(0);
  readonly #stampAt = this.#frame.indexOf('0'.repeat(stampDigits));
  #fed = 0;
  #streams = 0;

  /** `frameRate`: frames per second on every stream. */
  constructor(loop: SocketLoop, frameRate: number) {
    this.#loop = loop;
    this.#slotMs = 1000 / frameRate / slotCount;
    const { fd, port } = loop.listen();
    this.port = port;
    this.#listener = fd;
    loop.watch(fd, { onReadable: () => this.#acceptAll(), onWritable: () => undefined });
  }

  get openStreams(): number {
    return this.#streams;
  }

  stop(): void {
    this.#loop.close(this.#listener);
  }

  /** Sends frames whose time has come: all of them, where it is not late. */
  feed(): void {
    const nowMs = performance.now();
    const due = Math.floor(nowMs / this.#slotMs);
    if (this.#streams === 0) {
      this.#fed = due;
      return;
    }
    this.#fed = Math.max(this.#fed, due - slotCount * periodsLateMax);
    if (this.#fed < due) this.#stamp(nowMs);
    const fedBy = Math.min(due, this.#fed + slotsPerTurn);
    while (this.#fed < fedBy) {
      this.#fed++;
      for (const socket of this.#slots[this.#fed % slotCount] ?? []) {
        if (socket.sendFrame(this.#frame)) this.framesSent++;
      }
    }
  }

  addStream(socket: UpstreamSocket): () => void {
    const slot = this.#slots[Math.floor(Math.random() * slotCount)];
    slot?.add(socket);
    this.#streams++;
    return () => {
      slot?.delete(socket);
      this.#streams--;
    };
  }

  #stamp(nowMs: number): void {
    let rest = Math.floor(nowMs * 1000);
    for (let digit = stampDigits - 1; digit >= 0; digit--) {
      this.#frame[this.#stampAt + digit] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }

  #acceptAll(): void {
    for (let fd = this.#loop.accept(this.#listener); fd !== null; fd = this.#loop.accept(this.#listener)) {
      this.#loop.watch(fd, new UpstreamSocket(this.#loop, fd, this));
    }
  }
}

const answer = wholeAnswer();
const opening = streamOpening();

/** One connection from a server under test. */
class UpstreamSocket implements SocketOwner {
  readonly #loop: SocketLoop;
  readonly #fd: number;
  readonly #upstream: FixedUpstream;
  #bytesLeft = 0;
  /** The last request, of which the next one is nearly always a repetition. */
  #known = { totalBytes: 0, streams: false };
  #removeStream: (() => void) | null = null;
  /** Part of a frame that did not fit. */
  #rest: Buffer | null = null;

  constructor(loop: SocketLoop, fd: number, upstream: FixedUpstream) {
    this.#loop = loop;
    this.#fd = fd;
    this.#upstream = upstream;
  }

  onReadable(): void {
    const length = this.#loop.read(this.#fd);
    if (length === null) return;
    if (length === 0) return this.#close();
    if (this.#bytesLeft === 0) {
      if (length !== this.#known.totalBytes) this.#known = readHead(length);
      this.#bytesLeft = this.#known.totalBytes;
    }
    this.#bytesLeft -= length;
    if (this.#bytesLeft > 0) return;
    this.#bytesLeft = 0;
    if (!this.#known.streams) {
      this.#loop.write(this.#fd, answer);
      return;
    }
    this.#loop.write(this.#fd, opening);
    this.#removeStream = this.#upstream.addStream(this);
  }

  onWritable(): void {
    if (this.#rest === null) return;
    const sent = this.#loop.write(this.#fd, this.#rest) ?? 0;
    this.#rest = sent < this.#rest.length ? this.#rest.subarray(sent) : null;
    if (this.#rest === null) this.#loop.wantsRoom(this.#fd, false);
  }

  /** A stream that is not being read loses the frame instead of queueing it. */
  sendFrame(frame: Buffer): boolean {
    if (this.#rest !== null) return false;
    const sent = this.#loop.write(this.#fd, frame);
    if (sent === null || sent === 0) return false;
    if (sent < frame.length) {
      this.#rest = Buffer.from(frame.subarray(sent));
      this.#loop.wantsRoom(this.#fd, true);
    }
    return true;
  }

  #close(): void {
    this.#removeStream?.();
    this.#removeStream = null;
    this.#loop.close(this.#fd);
  }
}

/** A request's length, head included, and whether it asks for a stream. The head always comes in one piece. */
function readHead(length: number): { totalBytes: number; streams: boolean } {
  const headBytes = received.subarray(0, length).indexOf('\r\n\r\n') + 4;
  const bodyBytes = /\r\ncontent-length: *(\d+)/i.exec(received.toString('latin1', 0, headBytes))?.[1];
  if (headBytes < 4 || bodyBytes === undefined)
    throw new Error('The benchmark expects a whole head with a content-length.');
  const start = received.toString('latin1', headBytes, headBytes + 100);
  return { totalBytes: headBytes + Number(bodyBytes), streams: start.includes('"stream":true') };
}

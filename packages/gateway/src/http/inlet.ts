import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Takes what a socket reads, and says where the next bytes belong. */
export interface InletOwner {
  /** Bytes in a room that was asked for lie there already; all others are the owner's to keep. */
  onBytes(bytes: Buffer): void;
  /** Says where the next bytes can be put without a copy, not empty; null when nothing is known of them. */
  room(): Buffer | null;
}

/** The size of the place that all sockets read into, one after the other. A large body is read past it. */
export const readBytesMax = 16 * 1024;

/** A socket that can be kept from reading, whoever asks it to flow: what it has been given before goes on. */
class HaltableSocket extends Socket {
  isHalted = false;

  override resume(): this {
    return this.isHalted ? Duplex.prototype.resume.call(this) && this : super.resume();
  }

  override read(size?: number): unknown {
    return this.isHalted ? Duplex.prototype.read.call(this, size) : super.read(size);
  }

  override _read(size: number): void {
    if (!this.isHalted) super._read(size);
  }
}

/**
 * The reading side of a caller's connection. Node allocates 64 KiB for every read of an accepted socket, which is most of what
 * a large body costs, and has no documented way out of it: so the connection under it moves to a socket that reads where
 * we say. Where there is no such connection the socket is read as streams are. What is copied does not lie in Node's pool,
 * of which a few bytes that are kept for long would keep 64 KiB.
 */
export class Inlet {
  readonly socket: Socket;
  /** The same; null where the socket is read as streams are. */
  readonly #moved: HaltableSocket | null;
  #owner: InletOwner;
  /** True from `halt` to `resume`. */
  isHalted = false;
  readonly #shared: Buffer;

  constructor(accepted: Socket, owner: InletOwner, shared: Buffer) {
    this.#owner = owner;
    this.#shared = shared;
    const moved = this.#move(accepted);
    this.#moved = moved;
    this.socket = moved ?? accepted;
    if (moved === null) accepted.on('data', this.#onData);
    // Nothing is read from the stream itself, but its end shows only while it flows.
    else moved.resume();
  }

  /** False where the socket is read as streams are. */
  get isMoved(): boolean {
    return this.#moved !== null;
  }

  /** From here on its bytes are somebody else's. A socket that is read as streams are hands them out as any other. */
  giveTo(owner: InletOwner): void {
    this.#owner = owner;
    this.socket.off('data', this.#onData);
  }

  /** Reads no more for now; not even the next of several reads that a turn of the event loop allows a connection. */
  halt(): void {
    this.isHalted = true;
    if (this.#moved === null) this.socket.pause();
    else this.#moved.isHalted = true;
  }

  /** Reads on. */
  resume(): void {
    if (!this.isHalted) return;
    this.isHalted = false;
    const moved = this.#moved;
    if (moved === null) {
      this.socket.resume();
      return;
    }
    moved.isHalted = false;
    if (!moved.isPaused() && !moved.destroyed) moved._read(0);
  }

  /** Null where a socket has no connection that could be moved: a test's, or one of a Node that keeps it elsewhere. */
  #move(accepted: Socket): HaltableSocket | null {
    const handle: unknown = Reflect.get(accepted, '_handle');
    if (typeof handle !== 'object' || handle === null || !('useUserBuffer' in handle)) return null;
    const onread = {
      buffer: () => this.#owner.room() ?? this.#shared,
      callback: (length: number, place: Uint8Array) => this.#take(place, length),
    };
    // The server counts its connections by what it finds in them.
    const server: unknown = Reflect.get(accepted, '_server');
    Reflect.set(accepted, '_handle', null);
    const options = { handle, onread, allowHalfOpen: accepted.allowHalfOpen };
    const socket: unknown = Reflect.construct(HaltableSocket, [options]);
    return socket instanceof HaltableSocket ? Object.assign(socket, { server, _server: server }) : null;
  }

  #take(place: Uint8Array, length: number): boolean {
    const bytes =
      place === this.#shared ? this.#copyOf(length) : Buffer.from(place.buffer, place.byteOffset, length);
    this.#owner.onBytes(bytes);
    return !this.isHalted;
  }

  /** In Node's pool a few bytes that are kept for long, as those of a head that stops, would keep 64 KiB. */
  #copyOf(length: number): Buffer {
    const copy = Buffer.allocUnsafeSlow(length);
    this.#shared.copy(copy, 0, 0, length);
    return copy;
  }

  readonly #onData = (bytes: Buffer): void => this.#owner.onBytes(bytes);
}

import { Socket } from 'node:net';

/** Takes what a socket reads, and says where the next bytes belong. */
export interface InletOwner {
  /** Bytes in a room that was asked for lie there already; all others are the owner's to keep. */
  onBytes(bytes: Buffer): void;
  /** Says where the next bytes can be put without a copy, not empty; null when nothing is known of them. */
  room(): Buffer | null;
}

/** The size of the place that all sockets read into, one after the other. A large body is read past it. */
export const readBytesMax = 16 * 1024;

/**
 * The reading side of a caller's connection. Node allocates 64 KiB for every read of an accepted socket, which is most of what
 * a large body costs, and has no documented way out of it: so the connection under it moves to a socket that reads where
 * we say. Where there is no such connection the socket is read as streams are. What is copied does not lie in Node's pool,
 * of which a few bytes that are kept for long would keep 64 KiB.
 */
export class Inlet {
  readonly socket: Socket;
  /** Null when the bytes are somebody else's, as of any socket. */
  #owner: InletOwner | null;
  readonly #shared: Buffer;

  constructor(accepted: Socket, owner: InletOwner, shared: Buffer) {
    this.#owner = owner;
    this.#shared = shared;
    const moved = this.#move(accepted);
    this.socket = moved ?? accepted;
    if (moved === null) accepted.on('data', this.#onData);
    // Nothing is read from the stream itself, but its end shows only while it flows.
    else moved.resume();
  }

  /** From here on the socket hands out its bytes as any other. */
  letGo(): void {
    this.#owner = null;
    this.socket.off('data', this.#onData);
  }

  /** Null where a socket has no connection that could be moved: a test's, or one of a Node that keeps it elsewhere. */
  #move(accepted: Socket): Socket | null {
    const handle: unknown = Reflect.get(accepted, '_handle');
    if (typeof handle !== 'object' || handle === null || !('useUserBuffer' in handle)) return null;
    const onread = {
      buffer: () => this.#owner?.room() ?? this.#shared,
      callback: (length: number, place: Uint8Array) => this.#take(place, length),
    };
    // The server counts its connections by what it finds in them.
    const server: unknown = Reflect.get(accepted, '_server');
    Reflect.set(accepted, '_handle', null);
    const options = { handle, onread, allowHalfOpen: accepted.allowHalfOpen };
    const socket: unknown = Reflect.construct(Socket, [options]);
    return socket instanceof Socket ? Object.assign(socket, { server, _server: server }) : null;
  }

  #take(place: Uint8Array, length: number): boolean {
    const bytes =
      place === this.#shared ? this.#copyOf(length) : Buffer.from(place.buffer, place.byteOffset, length);
    if (this.#owner === null) return this.socket.push(bytes);
    this.#owner.onBytes(bytes);
    return true;
  }

  /** In Node's pool a few bytes that are kept for long, as those of a head that stops, would keep 64 KiB. */
  #copyOf(length: number): Buffer {
    const copy = Buffer.allocUnsafeSlow(length);
    this.#shared.copy(copy, 0, 0, length);
    return copy;
  }

  readonly #onData = (bytes: Buffer): void => this.#owner?.onBytes(bytes);
}

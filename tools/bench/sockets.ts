// Sockets straight from the C library. `node:net` costs whoever makes load 20 to 40 µs per call, more than some of the servers
// under test need to serve it; these cost one to two, so the load stays the cheap side and runs on Node alone.
import { dlopen, getInt32 } from 'node:ffi';

const { functions: libc } = dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  listen: { arguments: ['i32', 'i32'], return: 'i32' },
  getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
  connect: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  accept4: { arguments: ['i32', 'u64', 'u64', 'i32'], return: 'i32' },
  fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  recv: { arguments: ['i32', 'buffer', 'u32', 'i32'], return: 'i32' },
  send: { arguments: ['i32', 'buffer', 'u32', 'i32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
  epoll_create1: { arguments: ['i32'], return: 'i32' },
  epoll_ctl: { arguments: ['i32', 'i32', 'i32', 'buffer'], return: 'i32' },
  epoll_wait: { arguments: ['i32', 'buffer', 'i32', 'i32'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
});

const internet = 2;
const stream = 1;
const nonBlocking = 0o4000;
const setStatusFlags = 4;
const solSocket = 1;
const reuseAddress = 2;
const ipProtocolTcp = 6;
const tcpNoDelay = 1;
const noSignal = 0x4000;
const tryAgain = 11;
const epollAdd = 1;
const epollModify = 3;
const readable = 1;
const writable = 4;
/** The kernel packs an event on x64 and nowhere else. */
const eventBytes = process.arch === 'x64' ? 12 : 16;
const eventDataAt = process.arch === 'x64' ? 4 : 8;
const eventsMax = 1024;
const loopback = [127, 0, 0, 1] as const;

/** One socket and what is done when something can be done with it. */
export interface SocketOwner {
  onReadable(): void;
  onWritable(): void;
}

/** Everything that is read lands here; one byte is left for a reader's sentinel. */
export const received = Buffer.alloc(256 * 1024);
const one = Buffer.from(new Int32Array([1]).buffer);

/** Sockets of one thread. Nothing happens but in `turn`. */
export class SocketLoop {
  readonly #poll = must(libc.epoll_create1(0), 'epoll_create1');
  readonly #owners: (SocketOwner | undefined)[] = [];
  readonly #events = Buffer.alloc(eventBytes * eventsMax);
  readonly #event = Buffer.alloc(eventBytes);

  /** Serves what is ready, at once or within the time given. Never sleeps with 0. */
  turn(timeoutMs = 0): void {
    const count = libc.epoll_wait(this.#poll, this.#events, eventsMax, timeoutMs);
    for (let index = 0; index < count; index++) {
      const at = index * eventBytes;
      const what = this.#events.readUInt32LE(at);
      const owner = this.#owners[this.#events.readUInt32LE(at + eventDataAt)];
      if ((what & writable) !== 0) owner?.onWritable();
      // Errors and hang-ups are found out by reading.
      if ((what & ~writable) !== 0) owner?.onReadable();
    }
  }

  /** Connects on loopback, where that takes no time: the kernel answers for whoever listens. */
  connect(port: number): number {
    const fd = must(libc.socket(internet, stream, 0), 'socket');
    must(libc.connect(fd, address(port), 16), 'connect');
    return ready(fd);
  }

  /** Listens on a free port of loopback. */
  listen(): { readonly fd: number; readonly port: number } {
    const fd = must(libc.socket(internet, stream | nonBlocking, 0), 'socket');
    libc.setsockopt(fd, solSocket, reuseAddress, one, 4);
    must(libc.bind(fd, address(0), 16), 'bind');
    must(libc.listen(fd, 4096), 'listen');
    const name = address(0);
    must(libc.getsockname(fd, name, Buffer.from(new Int32Array([16]).buffer)), 'getsockname');
    return { fd, port: name.readUInt16BE(2) };
  }

  /** The next caller who waits, or null. */
  accept(fd: number): number | null {
    const accepted = libc.accept4(fd, 0n, 0n, nonBlocking);
    return accepted < 0 ? null : ready(accepted);
  }

  watch(fd: number, owner: SocketOwner): void {
    this.#owners[fd] = owner;
    this.#control(epollAdd, fd, readable);
  }

  /** Asks to be told, too, when there is room to write; or no longer. */
  wantsRoom(fd: number, wants: boolean): void {
    this.#control(epollModify, fd, wants ? readable | writable : readable);
  }

  /** Bytes read into `received`; 0 at the end and after an error, null when there is nothing yet. */
  read(fd: number): number | null {
    const length = libc.recv(fd, received, received.length - 1, 0);
    if (length >= 0) return length;
    return errno() === tryAgain ? null : 0;
  }

  /** Bytes that the kernel took; null when the other end has gone. */
  write(fd: number, bytes: Buffer): number | null {
    const length = libc.send(fd, bytes, bytes.length, noSignal);
    if (length >= 0) return length;
    return errno() === tryAgain ? 0 : null;
  }

  close(fd: number): void {
    this.#owners[fd] = undefined;
    libc.close(fd);
  }

  #control(operation: number, fd: number, interest: number): void {
    this.#event.writeUInt32LE(interest, 0);
    this.#event.writeUInt32LE(fd, eventDataAt);
    must(libc.epoll_ctl(this.#poll, operation, fd, this.#event), 'epoll_ctl');
  }
}

function ready(fd: number): number {
  libc.setsockopt(fd, ipProtocolTcp, tcpNoDelay, one, 4);
  must(libc.fcntl(fd, setStatusFlags, nonBlocking), 'fcntl');
  return fd;
}

function address(port: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(internet, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(loopback, 4);
  return bytes;
}

function must(result: number, what: string): number {
  if (result < 0) throw new Error(`${what} failed with error ${errno()} of the system.`);
  return result;
}

function errno(): number {
  return getInt32(libc.__errno_location());
}

import type { OnReadOpts } from 'node:net';

/**
 * Takes a socket's bytes out of a buffer that many sockets read into, one after the other. Without it every read costs
 * a fresh buffer of 64 KiB, which is most of the work when a stream's frame has 200 bytes.
 */
export class SocketIntake {
  /** Where the bytes go, as a copy of their own; set before the first can come. */
  receive: (bytes: Buffer) => void = () => {};
  /** Whether to stop after the read that is under way. */
  isPaused = false;
  /** For the options of `net.connect`. */
  readonly onread: OnReadOpts;

  constructor(sharedBuffer: Buffer) {
    this.onread = {
      buffer: sharedBuffer,
      callback: (length) => {
        const bytes = Buffer.allocUnsafe(length);
        sharedBuffer.copy(bytes, 0, 0, length);
        this.receive(bytes);
        return !this.isPaused;
      },
    };
  }
}

import type { Guard } from '../../ports/clock.ts';
import type { HeaderList, Reply } from '../../ports/data-plane.ts';
import type { Gateway } from '../../ports/gateway.ts';
import type { Call } from '../request.ts';

const headers: HeaderList = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];

/** A sign of life for the caller of a stream; null where its surface has no word for one. */
export function openKeepAlive({ inbound, protocol, reply, gateway, request }: Call): KeepAlive | null {
  const { keepAliveFrame } = protocol;
  if (keepAliveFrame === null || request.framing !== 'sse') return null;
  return new KeepAlive(gateway, reply, keepAliveFrame, inbound.receivedAt);
}

/**
 * Tells a caller who waits for a stream that the call lives, whenever nothing has been sent for a while: proxies in between
 * and impatient clients give up on silence. The first sign begins the answer with status 200, so that a later failure can
 * only be told in-band; which channel answers is still open. The time an upstream may take is not prolonged by it.
 */
class KeepAlive implements Guard {
  expiresAt: number;
  index = -1;
  readonly #gateway: Gateway;
  readonly #reply: Reply;
  readonly #sign: Uint8Array;
  #sentAt: number;

  /** `sign` is a frame that every client of the surface ignores; `since` when the silence began. */
  constructor(gateway: Gateway, reply: Reply, sign: Uint8Array, since: number) {
    this.#gateway = gateway;
    this.#reply = reply;
    this.#sign = sign;
    this.#sentAt = since;
    this.expiresAt = since + gateway.limits.keepAliveMs;
    gateway.watchdog.watch(this);
  }

  /** Something of the answer has been sent. */
  noteSent(at: number): void {
    this.#sentAt = at;
  }

  stop(): void {
    this.#gateway.watchdog.release(this);
  }

  onExpire(): void {
    const { clock, limits, watchdog } = this.#gateway;
    const now = clock.monotonic();
    if (this.#reply.gone || now >= watchdog.endsAt) return;
    if (now - this.#sentAt >= limits.keepAliveMs) {
      if (this.#reply.begun) this.#reply.write(this.#sign);
      else this.#reply.begin(200, headers, this.#sign);
      this.#sentAt = now;
    }
    this.expiresAt = this.#sentAt + limits.keepAliveMs;
    watchdog.watch(this);
  }
}

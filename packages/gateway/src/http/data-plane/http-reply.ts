import type { ServerResponse } from 'node:http';
import type { Platform } from '@headgate/protocols';
import type { HeaderList, Reply } from '../../ports/data-plane.ts';

/** Where each surface's SDKs look for the id of a call, beside `x-trace-id`. */
const traceHeaders = { completions: 'x-request-id', messages: 'request-id', native: null } as const;

/** A reply over one response of node:http. Small answers and every head with its first bytes travel in one write. */
export class HttpReply implements Reply {
  readonly platform: Platform;
  gone = false;
  onWritable: (() => void) | null = null;
  onGone: (() => void) | null = null;
  readonly #response: ServerResponse;
  readonly #identity: HeaderList;

  /** `extraHeaders` are sent with every answer, errors included. */
  constructor(response: ServerResponse, platform: Platform, traceId: string, extraHeaders: HeaderList) {
    this.#response = response;
    this.platform = platform;
    const alias = traceHeaders[platform];
    this.#identity =
      alias === null ? ['x-trace-id', traceId, ...extraHeaders] : ['x-trace-id', traceId, alias, traceId, ...extraHeaders];
    response.on('close', () => this.#close());
    response.on('drain', () => this.onWritable?.());
  }

  send(status: number, headers: HeaderList, body: Uint8Array): void {
    if (this.gone) return;
    this.#response.writeHead(status, [...this.#identity, ...headers, 'content-length', String(body.length)]);
    this.#response.end(body);
  }

  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean {
    if (this.gone) return true;
    this.#response.writeHead(status, [...this.#identity, ...headers]);
    return this.#response.write(bytes);
  }

  write(bytes: Uint8Array): boolean {
    return this.gone || this.#response.write(bytes);
  }

  end(bytes: Uint8Array): void {
    if (!this.gone) this.#response.end(bytes);
  }

  breakOff(bytes: Uint8Array): void {
    if (this.gone) return;
    const { socket } = this.#response;
    // The chunk that would end the body is never written: whoever misses the error still sees that the answer is cut.
    this.#response.write(bytes, () => socket?.destroySoon());
  }

  #close(): void {
    if (this.#response.writableFinished) return;
    this.gone = true;
    this.onGone?.();
  }
}

import { once } from 'node:events';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import type { ConnectionParts } from './connection.ts';
import { Connection } from './connection.ts';

/** A port and the connections that came in through it; it can close and open again. */
export class Listener {
  readonly #parts: ConnectionParts;
  readonly #connections = new Set<Connection>();
  #server: Server | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** The port listened on; any free one for 0. Rejects when it is taken. */
  async open(port: number, host: string): Promise<number> {
    const server = createServer((socket) => {
      const connection = new Connection(socket, this.#parts);
      this.#connections.add(connection);
      socket.on('close', () => this.#connections.delete(connection));
    });
    server.listen({ port, host, backlog: 4_096 });
    await once(server, 'listening');
    this.#server = server;
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Connections are refused from here on, and the open ones reset. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = once(server, 'close');
    server.close();
    for (const connection of this.#connections) connection.close('reset');
    await closed;
  }

  closeIdle(): void {
    for (const connection of this.#connections) {
      if (connection.isIdle) connection.close('end');
    }
  }
}

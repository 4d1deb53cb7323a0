import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface ReceivedRequest {
  /** Everything up to the empty line, without it. */
  readonly head: string;
  readonly body: Buffer;
}

/** One connection as the upstream sees it: whole requests come out, raw bytes go in. */
export class ScriptedConnection {
  /** 1 for the first that the upstream accepted. */
  readonly number: number;
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  readonly #closed = Promise.withResolvers<void>();
  #wake = () => {};

  constructor(socket: Socket, number: number) {
    this.socket = socket;
    this.number = number;
    // The script decides what a broken connection means.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#closed.resolve();
      this.#wake();
    });
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
  }

  /** Resolves when the other side has closed or reset the connection. */
  closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Waits for the next whole request. Null when the connection ends before. */
  async request(): Promise<ReceivedRequest | null> {
    while (true) {
      const request = this.#takeRequest();
      if (request !== null || this.socket.destroyed) return request;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  async answer(bytes: string | Uint8Array): Promise<void> {
    await this.request();
    this.write(bytes);
  }

  /** Ends the connection without a word of farewell. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  #takeRequest(): ReceivedRequest | null {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return null;
    const head = this.#received.toString('latin1', 0, headEnd);
    const bodyStart = headEnd + 4;
    const bodyEnd = bodyStart + Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (this.#received.length < bodyEnd) return null;
    const body = this.#received.subarray(bodyStart, bodyEnd);
    this.#received = this.#received.subarray(bodyEnd);
    return { head, body };
  }
}

export type Script = (connection: ScriptedConnection) => Promise<void> | void;

/** A server on a random port of 127.0.0.1 that does on every connection what its script says, byte for byte. */
export interface ScriptedUpstream {
  readonly origin: string;
  readonly port: number;
  /** In the order of their arrival. */
  readonly connections: readonly ScriptedConnection[];
  close(): Promise<void>;
}

export async function openScriptedUpstream(script: Script, tls?: TlsOptions): Promise<ScriptedUpstream> {
  const connections: ScriptedConnection[] = [];
  const accept = (socket: Socket) => {
    const connection = new ScriptedConnection(socket, connections.length + 1);
    connections.push(connection);
    void script(connection);
  };
  const server = tls === undefined ? createTcpServer(accept) : createTlsServer(tls, accept);
  // A client that does not trust the certificate ends the handshake; that is its right.
  server.on('tlsClientError', () => {});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A TCP server's address is never a pipe's name.
  const { port } = server.address() as AddressInfo;
  return {
    origin: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    port,
    connections,
    async close() {
      for (const { socket } of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers every request on every connection with the same bytes. */
export function answerAlways(bytes: string | Uint8Array): Script {
  return async (connection) => {
    while ((await connection.request()) !== null) connection.write(bytes);
  };
}

export const okAnswer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

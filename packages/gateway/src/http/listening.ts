import { type AddressInfo, Server } from 'node:net';

/**
 * A socket that listens, as Node holds it inside of a server. Only as such can it be given to another process without being
 * listened on by the way: all who hold it share one queue, so nobody who waits in it is lost when one of them lets go.
 */
export interface ListeningSocket {
  close(): void;
}

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** In the place of a socket of its own: one that was opened for this address, by another process. */
  readonly socket?: ListeningSocket | undefined;
}

/** Connections that the system keeps for us until they are taken. */
const queueMax = 4096;

/** Lets a server listen. Rejects when the address cannot be had. */
export function listen(server: Server, { host, port, socket }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    if (socket === undefined) server.listen({ host, port, backlog: queueMax });
    else server.listen(socket, queueMax);
  });
}

/** The socket that a server listens on, which stays the server's. Null where Node keeps it elsewhere. */
export function socketOf(server: Server): ListeningSocket | null {
  const handle: unknown = Reflect.get(server, '_handle');
  return isSocket(handle) ? handle : null;
}

export function isSocket(handle: unknown): handle is ListeningSocket {
  return typeof handle === 'object' && handle !== null && 'close' in handle && 'listen' in handle;
}

/** Takes no new connection. Those that are open go on, idle ones too, which an HTTP server's own way would close. */
export function stopListening(server: Server): void {
  if (server.listening) Server.prototype.close.call(server);
}

export function originOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo; // A listening TCP server has no other kind of address.
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

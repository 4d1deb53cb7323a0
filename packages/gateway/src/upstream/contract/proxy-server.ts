import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

/** A proxy's way with a request to open a tunnel; it may do so itself. */
export type OnConnect = (request: ConnectRequest, client: Socket) => 'open' | 'handled';

export interface ConnectRequest {
  /** Host and port, as they stand in the first line. */
  readonly authority: string;
  readonly head: string;
}

/** A proxy on loopback, as houses have them: it knows CONNECT and nothing else. */
export interface TestProxy {
  readonly url: string;
  readonly requests: readonly ConnectRequest[];
  /** Tunnels open now. */
  readonly open: number;
  close(): Promise<void>;
}

export async function openTestProxy(
  onConnect: OnConnect = () => 'open',
  scheme: 'http' | 'https' = 'http',
): Promise<TestProxy> {
  const requests: ConnectRequest[] = [];
  const sockets = new Set<Socket>();
  let open = 0;
  const serve = (client: Socket): void => {
    track(client, sockets);
    let head = '';
    const read = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      client.off('data', read);
      const [, authority = ''] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
      const request = { authority, head };
      requests.push(request);
      if (onConnect(request, client) === 'handled') return;
      open++;
      client.once('close', () => open--);
      join(client, authority, sockets);
    };
    client.on('data', read);
  };
  const server = listen(scheme, serve);
  await once(server, 'listening');
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://${scheme === 'http' ? '127.0.0.1' : 'localhost'}:${port}`,
    requests,
    get open() {
      return open;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function listen(scheme: 'http' | 'https', serve: (client: Socket) => void): Server {
  if (scheme === 'http') return createServer(serve).listen(0, '127.0.0.1');
  const fixture = (name: string) =>
    readFileSync(new URL(`../fixtures/localhost-${name}.pem`, import.meta.url));
  return createTlsServer({ cert: fixture('certificate'), key: fixture('key') }, serve).listen(0, '127.0.0.1');
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('error', () => {}).once('close', () => sockets.delete(socket));
}

function join(client: Socket, authority: string, sockets: Set<Socket>): void {
  const [, host = '', port = ''] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(authority) ?? [];
  const server = connect({ host, port: Number(port) });
  track(server, sockets);
  let isJoined = false;
  server.once('connect', () => {
    isJoined = true;
    client.write('HTTP/1.1 200 Connection established\r\nproxy-agent: test\r\n\r\n');
    client.pipe(server).pipe(client);
  });
  server.once('error', () => {
    // Over TLS there is no such thing as a reset.
    if (isJoined && client instanceof TLSSocket) client.destroy();
    else if (isJoined) client.resetAndDestroy();
    else client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
  });
  server.once('close', (hadError) => {
    if (!hadError) client.end();
  });
  client.once('close', () => server.destroy());
}

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';

/**
 * A TLS server that does nothing but shake hands, in version 1.3 alone: what it costs it to refuse one is what a refused
 * request is measured by. It tells its port at first, and when asked the microseconds of CPU time it has taken.
 */
const fixture = (name: string): string =>
  readFileSync(
    new URL(`../../packages/gateway/src/upstream/fixtures/localhost-${name}.pem`, import.meta.url),
    'utf8',
  );

const options = { cert: fixture('certificate'), key: fixture('key'), minVersion: 'TLSv1.3' as const };
const server = createServer(options, (socket) => socket.destroy());
server.on('tlsClientError', (_, socket) => socket.destroy());
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // A listening TCP server has no other kind of address.
  process.send?.(port);
});
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on('disconnect', () => process.exit());

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Caller } from './caller.ts';
import type { FuzzCase } from './fuzz-case.ts';

const sound: FuzzCase = {
  seed: 1,
  port: 'api',
  pieces: [Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  conduct: 'waits',
  leavesAfterMs: 0,
  isSound: true,
  isHead: false,
};
const answer = 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n';

test.each([
  { name: 'is the machine’s fault where it took its time', blockedMs: 600, status: 204 },
  { name: 'is the gateway’s fault elsewhere', blockedMs: 0, status: 0 },
])('a connection that is closed without a word $name', async ({ blockedMs, status }) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    if (connections === 1) socket.destroy();
    else socket.end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // A TCP server has no other kind of address.
  const caller = new Caller({ api: port, console: port });
  const sent = caller.send(sound);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs);
  const seen = await sent;
  expect(seen.answer.status).toBe(status);
  caller.close();
  server.close();
});

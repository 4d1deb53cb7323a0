import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Flood, FloodFigures } from './flood.ts';

/**
 * Does to a gateway what no honest caller does, on a few connections, as fast as the machine lets it, and opens another
 * one for each that is closed. It has its `Flood` as JSON, and tells its figures whenever it is asked for them.
 */
const flood = JSON.parse(process.argv[2] ?? '{}') as Flood; // Whoever starts it writes it in this shape.
const packetBytes = 64 * 1024;
const copies = flood.manner === 'pipelined' ? Math.ceil(packetBytes / flood.request.length) : 1;
const packet = Buffer.from(flood.request.repeat(copies), 'latin1');
const port = Number(new URL(flood.origin).port);
const figures: FloodFigures = { opened: 0, readBytes: 0 };

function open(): void {
  const socket = connect(port, '127.0.0.1');
  figures.opened += 1;
  socket.setNoDelay(true);
  socket.on('connect', () => (flood.manner === 'pipelined' ? push(socket) : socket.write(packet)));
  socket.on('drain', () => push(socket));
  if (flood.reads === false) socket.pause();
  else socket.on('data', (bytes) => take(socket, bytes.length));
  socket.on('error', () => undefined);
  socket.on('close', () => setImmediate(open));
}

function push(socket: Socket): void {
  if (flood.manner === 'pipelined') while (socket.writable && socket.write(packet));
}

function take(socket: Socket, bytes: number): void {
  figures.readBytes += bytes;
  if (flood.manner === 'single') socket.destroy();
}

// What is measured is how fair the gateway is: the system's own fairness would give a flood most of a small machine.
setPriority(19);
for (let count = 0; count < flood.connections; count++) open();
process.on('message', () => process.send?.(figures));
process.on('disconnect', () => process.exit());

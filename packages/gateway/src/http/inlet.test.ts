import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Inlet, type InletOwner, readBytesMax } from './inlet.ts';

/** A caller's socket, and the inlet of the server's side of it. */
async function open(owner: InletOwner) {
  const shared = Buffer.allocUnsafeSlow(readBytesMax);
  const server = createServer({ allowHalfOpen: true });
  const accepted = Promise.withResolvers<Inlet>();
  server.on('connection', (socket: Socket) => accepted.resolve(new Inlet(socket, owner, shared)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1'); // A TCP server has no other kind of address.
  const inlet = await accepted.promise;
  return { caller, inlet, shared, server };
}

class Recorder implements InletOwner {
  place: Buffer | null = null;
  readonly pieces: Buffer[] = [];

  onBytes(bytes: Buffer): void {
    this.pieces.push(bytes);
  }

  room(): Buffer | null {
    return this.place;
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }
}

test('bytes of no known number are the owner’s own, and the others lie where they belong', async () => {
  const owner = new Recorder();
  const { caller, inlet, shared, server } = await open(owner);
  caller.write('head');
  await expect.poll(() => owner.text).toBe('head');
  expect(owner.pieces[0]?.buffer).not.toBe(shared.buffer);
  // However long it is kept, it keeps no more than itself.
  expect(owner.pieces[0]?.buffer.byteLength).toBe(4);
  const place = Buffer.alloc(8);
  owner.place = place;
  // The place of the next read was asked for behind the last one.
  caller.write('.');
  await expect.poll(() => owner.text).toBe('head.');
  caller.write('body');
  await expect.poll(() => owner.text).toBe('head.body');
  expect(place.toString()).toBe('body\0\0\0\0');
  expect(inlet.socket.destroyed).toBe(false);
  caller.destroy();
  server.close();
});

test('a socket that was let go of hands out its bytes as any other, and is counted by its server', async () => {
  const owner = new Recorder();
  const { caller, inlet, server } = await open(owner);
  caller.write('ours');
  await expect.poll(() => owner.text).toBe('ours');
  inlet.giveTo({ room: () => null, onBytes: (bytes) => void inlet.socket.push(bytes) });
  let text = '';
  inlet.socket.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  caller.write('theirs');
  await expect.poll(() => text).toBe('theirs');
  caller.end();
  await once(inlet.socket, 'end');
  inlet.socket.end();
  server.close();
  await once(server, 'close');
  expect(owner.text).toBe('ours');
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Watchdog } from '../call/watchdog.ts';
import { openPort } from './api.ts';
import { readBytesMax } from './inlet.ts';
import { wasteBytes } from './lingering.ts';
import { createTestPort, testClock } from './port.fixture.ts';
import { everyMillisecond } from './rounds.ts';

/** More than go on in a millisecond. */
const callers = 10;
const milliseconds = 12;
const bodyBytes = 4_000_000;
/** What a millisecond may cost, however many send however much. */
const mostBytes = everyMillisecond.takersMax * wasteBytes;

const head = (fields: string): string => `POST /a HTTP/1.1\r\nhost: x\r\n${fields}\r\n\r\n`;
const small = head('content-length: 0');
const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
const bodies = {
  'of a length': head(`content-length: ${bodyBytes}`) + 'x'.repeat(bodyBytes),
  'in chunks': head('transfer-encoding: chunked') + chunk.repeat(bodyBytes / 0x1000),
  // The twentieth refusal closes its connection.
  'behind the last answer': small.repeat(19) + head('content-length: 250000') + 'x'.repeat(bodyBytes),
};
const cases = (['plain', 'node'] as const).flatMap((lane) =>
  Object.entries(bodies).map(([name, bytes]) => ({ lane, name, bytes })),
);

describe.each(cases)('on lane $lane, bytes that nobody wants, $name', ({ lane, bytes }) => {
  // Only what waits for another millisecond waits for the test.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('are read a few places a millisecond, of however many connections', async () => {
    const sockets = new Set<Socket>();
    const refuse = (exchange: { send(status: number, headers: readonly string[], body: Buffer): void }) =>
      exchange.send(401, [], Buffer.from('x'));
    const port = createTestPort(lane, { answer: refuse }, new Watchdog(testClock), []);
    port.server.on('request', ({ socket }) => void sockets.add(socket));
    const api = await openPort(port, { host: '127.0.0.1', port: 0 });
    const said = Array.from({ length: callers }, () => saying(api.origin, bytes));
    /** What has been read when nothing more is. */
    const readBytes = async (): Promise<number> => {
      let read = -1;
      for (let quietTurns = 0; quietTurns < 50; quietTurns++) {
        await nextTurn();
        for (const { socket } of port.connections) sockets.add(socket);
        const now = [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
        if (now !== read) quietTurns = 0;
        read = now;
      }
      return read;
    };
    await Promise.all(said.map(({ answered }) => answered));
    let before = await readBytes();
    // Heads, and whatever came with them.
    expect(before).toBeLessThanOrEqual(callers * (readBytesMax + wasteBytes));
    for (let left = milliseconds; left > 0; left--) {
      vi.advanceTimersByTime(1);
      const after = await readBytes();
      expect(after - before).toBeLessThanOrEqual(mostBytes);
      before = after;
    }
    // They are read: who sends all of a body before it listens hears its answer.
    expect(before).toBeGreaterThan(callers * readBytesMax);
    for (const { socket } of said) socket.destroy();
    await api.close();
  });
});

function saying(
  origin: string,
  bytes: string,
): { readonly socket: Socket; readonly answered: Promise<unknown> } {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => undefined);
  const answered = once(socket, 'data');
  socket.write(bytes, 'latin1');
  return { socket, answered };
}

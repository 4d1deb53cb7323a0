import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Exchange } from './exchange.ts';
import { converse, openTestPort } from './port.fixture.ts';

const lanes = ['plain', 'node'] as const;
/** The reader that takes a request: the second one only takes what the plain lane does not, which hands it over. */
const requests = { plain: 'GET /list HTTP/1.1\r\n\r\n', 'handed over': 'PUT /list HTTP/1.1\r\n\r\n' };
const cases = lanes.flatMap((lane) =>
  Object.entries(requests).map(([name, request]) => ({ lane, name, request })),
);

function connectTo(origin: string): Socket {
  return connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => undefined);
}

/** Answers, in the order of their requests, with these statuses over and over. */
function answering(statuses: readonly number[]): (exchange: Exchange) => void {
  let count = 0;
  return (exchange) => {
    exchange.send(statuses[count % statuses.length] ?? 200, [], Buffer.from('x'));
    count += 1;
  };
}

function answersIn(text: string): number {
  return text.split('HTTP/1.1 ').length - 1;
}

describe.each(cases)('$name requests on lane $lane', ({ lane, request }) => {
  test('a thousand in one packet are answered one in a turn of the event loop', async () => {
    let turn = 0;
    let isOver = false;
    const answeredIn: number[] = [];
    await using port = await openTestPort(lane, {
      answer: (exchange) => {
        answeredIn.push(turn);
        exchange.send(200, [], Buffer.from('x'));
      },
    });
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const { text } = await converse(port.api, [request.repeat(1000)], 500, 10_000);
    isOver = true;
    expect(answersIn(text)).toBe(1000);
    const most = Math.max(...countsOf(answeredIn));
    // The first of them may come in the turn in which the second one has its time.
    expect(most).toBeLessThanOrEqual(2);
  });

  test('a connection is closed behind twenty refusals in a row, and says so', async () => {
    await using port = await openTestPort(lane, { answer: answering([401]) });
    const { text, isClosed } = await converse(port.api, [request.repeat(100)], 500, 10_000);
    expect(answersIn(text)).toBe(20);
    expect(isClosed).toBe(true);
    expect(text.match(/connection: close/gi)).toHaveLength(1);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toMatch(/connection: close/i);
  });

  test.each(['content-length: 5\r\n\r\nabcde', 'transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'])(
    'refusals close it although each announces a body: %j',
    async (body) => {
      await using port = await openTestPort(lane, { answer: answering([401]) });
      const one = request.replace('\r\n\r\n', `\r\n${body}`);
      const { text, isClosed } = await converse(port.api, [one.repeat(100)], 500, 10_000);
      expect(answersIn(text)).toBe(20);
      expect(isClosed).toBe(true);
      expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toMatch(/connection: close/i);
    },
  );

  test('the last refusal is not lost with a body that is still to come', async () => {
    const length = 4_000_000;
    await using port = await openTestPort(lane, { answer: answering([401]) });
    const before = request.repeat(19);
    const head = request.replace('\r\n\r\n', `\r\ncontent-length: ${length}\r\n\r\n`);
    const body = Buffer.alloc(length / 4);
    const pieces = [before + head, body, body, body, body, request];
    const { text, isClosed } = await converse(port.api, pieces, 500, 10_000);
    expect(answersIn(text)).toBe(21);
    expect(isClosed).toBe(true);
  });

  test.each([
    ['an answer in between', [...Array.from({ length: 19 }, () => 404), 200]],
    ['being too many', [429]],
    ['having no money left', [402]],
    ['failures of ours', [503, 500]],
  ])('refusals do not close it behind %s', async (_, statuses) => {
    await using port = await openTestPort(lane, { answer: answering(statuses) });
    const { text, isClosed } = await converse(port.api, [request.repeat(100)], 300, 10_000);
    expect(answersIn(text)).toBe(100);
    expect(isClosed).toBe(false);
  });

  test('more than a few that are not answered are not begun', async () => {
    const held: Exchange[] = [];
    await using port = await openTestPort(lane, { answer: (exchange) => void held.push(exchange) });
    const socket = connectTo(port.api.origin);
    socket.write(request.repeat(100));
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(held.length).toBeLessThanOrEqual(4);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    for (let answered = 0; answered < 100; answered++) {
      await expect.poll(() => held.length, { interval: 1 }).toBeGreaterThan(answered);
      held[answered]?.send(200, [], Buffer.from('x'));
    }
    await expect.poll(() => answersIn(text)).toBe(100);
    socket.destroy();
  });
});

describe.each(lanes)('lane %s', (lane) => {
  test('a body in chunks of one byte is read, and so is the request behind it', async () => {
    await using port = await openTestPort(lane);
    const chunks = `${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`;
    const head = 'POST /a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const { text } = await converse(port.api, [head + chunks + head + chunks], 500, 10_000);
    expect(answersIn(text)).toBe(2);
    expect(port.seen.map(({ body }) => body.split(':')[0])).toEqual(['10000', '10000']);
  });

  test.each(['POST', 'PUT'])(
    'what waits behind a slow answer to %s has not begun its time',
    async (method) => {
      const timeMs = 300;
      const slow: Exchange[] = [];
      const head = `${method} /a HTTP/1.1\r\nhost: x\r\n`;
      const plain = `${head}content-length: 9\r\n\r\n{"a": "b"}`.slice(0, -1);
      const inChunks = `${head}transfer-encoding: chunked\r\n\r\n2\r\n\r\n\r\n0\r\n\r\n`;
      const told = [plain, inChunks].flatMap((one) => {
        const text = one.repeat(8);
        // Packets that end wherever, also within the ends of lines.
        const bits = Array.from({ length: text.length / 7 + 1 }, (_, place) => text.substr(place * 7, 7));
        return [[text], [text.slice(0, -2), text.slice(-2)], bits];
      });
      await using port = await openTestPort(lane, {
        headersMs: timeMs,
        bodyMs: timeMs,
        onBody: (_, exchange) => {
          if (slow.length < told.length) slow.push(exchange);
          else exchange.send(200, [], Buffer.from('x'));
        },
      });
      const heard = told.map((pieces) => converse(port.api, pieces, 500, 10_000));
      await expect.poll(() => slow.length).toBe(told.length);
      // Node looks at its time-outs once a second.
      await new Promise((resolve) => setTimeout(resolve, 2 * timeMs + 1100));
      for (const exchange of slow) exchange.send(200, [], Buffer.from('x'));
      for (const { text } of await Promise.all(heard)) {
        expect(text).not.toContain('408');
        expect(answersIn(text)).toBe(8);
      }
    },
  );

  test('large bodies one behind the other come whole', async () => {
    await using port = await openTestPort(lane);
    const body = 'x'.repeat(1_000_000);
    const one = `POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const { text } = await converse(port.api, [one.repeat(5)], 500, 10_000);
    expect(answersIn(text)).toBe(5);
    expect(new Set(port.seen.map(({ body: digest }) => digest)).size).toBe(1);
    expect(port.seen[0]?.body).toMatch(/^1000000:/);
  });

  test('large bodies that nobody wants are passed over, one behind the other', async () => {
    await using port = await openTestPort(lane);
    const body = 'x'.repeat(1_000_000);
    const one = `GET /list HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const { text } = await converse(port.api, [one.repeat(5)], 500, 10_000);
    expect(answersIn(text)).toBe(5);
    expect(port.seen).toHaveLength(5);
  });
});

/** How often each value occurs. */
function countsOf(values: readonly number[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()];
}

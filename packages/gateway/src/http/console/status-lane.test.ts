import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StatusFile } from '../../ports/status.ts';
import { StatusLane } from './status-lane.ts';

const file = (path: string, text: string, gzipped: Uint8Array | null = null): StatusFile => ({
  ...{ path, type: 'text/html; charset=utf-8', etag: `"${text}"`, bytes: Buffer.from(text), gzipped },
});

const files = new Map(
  [
    file('/status/en', 'english', Buffer.from('packed')),
    file('/status/zh', 'chinese'),
    file('/status/badge/house/x.svg', 'badge'),
  ].map((each) => [each.path, each]),
);

let source: { files: ReadonlyMap<string, StatusFile> | null; make(): Promise<void> };
let server: ReturnType<typeof createServer>;
let lane: StatusLane;
let port = 0;

beforeEach(async () => {
  source = { files, make: () => Promise.resolve() };
  lane = new StatusLane(
    {
      get files() {
        return source.files;
      },
      make: () => source.make(),
    },
    () => 'zh-CN',
    () => 1_000_000,
  );
  server = createServer((asked, response) => {
    if (!lane.answer(asked, response)) response.end('not of the page');
  });
  lane.putBefore(server, 1000);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.closeAllConnections();
  lane.close();
  await new Promise((resolve) => server.close(resolve));
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Rejects where the connection is cut off. */
function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('the lane of the status page', () => {
  test.each([
    ['', 'chinese'],
    ['en', 'english'],
    ['de, en-GB;q=0.5', 'english'],
    ['en;q=0.1, zh-Hans;q=0.2', 'chinese'],
    ['en;q=0', 'chinese'],
    [`${'x,'.repeat(5000)}`, 'chinese'],
  ])('%s is answered in %s', async (accepted, text) => {
    expect((await ask('/status', { 'accept-language': accepted })).text).toBe(text);
  });

  test('leaves other paths to others, also those that begin alike', async () => {
    for (const path of ['/', '/statuses', '/status.html', '/api/v1/status/incidents'])
      expect((await ask(path)).text).toBe('not of the page');
  });

  test('finds names with escapes, and nothing that is not a file of the page', async () => {
    expect((await ask('/status/badge/house%2Fx.svg')).text).toBe('badge');
    expect((await ask('/status/%E0%A4%A')).status).toBe(404);
    expect((await ask('/status/en?x=1')).text).toBe('english');
  });

  test('is sent packed to who takes it so, and not again to who has it', async () => {
    const packed = await ask('/status/en', { 'accept-encoding': 'br, gzip' });
    expect(packed).toMatchObject({ status: 200, text: 'packed', headers: { 'content-encoding': 'gzip' } });
    const known = await ask('/status/en', { 'if-none-match': String(packed.headers['etag']) });
    expect(known).toMatchObject({ status: 304, text: '' });
    const head = await ask('/status/en', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '7' } });
  });

  test('is made for the first who asks, and 503 where it cannot be', async () => {
    source.files = null;
    expect((await ask('/status/en')).status).toBe(503);
    source.make = () => {
      source.files = files;
      return Promise.resolve();
    };
    expect((await ask('/status/en')).text).toBe('english');
  });

  test('a flood is answered a few at a time, and cut off beyond what may wait', async () => {
    const since = performance.now();
    const asked = await Promise.allSettled(Array.from({ length: 700 }, () => ask('/status/zh')));
    const answered = asked.filter(({ status }) => status === 'fulfilled').length;
    // Seven in each millisecond: what was answered took its time, whatever came.
    expect(answered).toBeGreaterThanOrEqual(500);
    expect(performance.now() - since).toBeGreaterThan((500 - 50) / 7);
    expect((await ask('/status/zh')).text).toBe('chinese');
  });

  test('one connection asks for the page, then for other things, and again for the page', async () => {
    const answers = await talk(['/status/en', '/status/zh', '/other', '/status/en']);
    expect(answers.map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual([
      'english',
      'chinese',
      'not of the page',
      'english',
    ]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*date: /i);
    expect(answers[0]).toContain('connection: keep-alive');
  });

  test('questions that come together are answered one behind the other, in their order', async () => {
    const socket = connect(port, '127.0.0.1');
    const paths = ['/status/en', '/status/zh', '/status/none', '/other', '/status/en'];
    socket.write(
      paths
        .slice(0, -1)
        .map((path) => requestText(path))
        .join(''),
    );
    socket.write(requestText('/status/en', 'connection: close\r\n'));
    let text = '';
    for await (const piece of socket.setEncoding('latin1')) text += piece;
    expect(text.match(/(?<=\r\n\r\n)(?:english|chinese)|There is no such page|not of the page/g)).toEqual([
      'english',
      'chinese',
      'There is no such page',
      'not of the page',
      'english',
    ]);
  });

  test.each([
    ['a body', 'GET /status/en HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc'],
    ['a head in pieces', 'GET /status/en HTTP/1.1\r\nhost: h\r\n|connection: close\r\n\r\n'],
    ['an older version', 'GET /status/en HTTP/1.0\r\nhost: h\r\n\r\n'],
  ])('%s is left to the server behind it, which answers too', async (_, pieces) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    for (const piece of pieces.split('|')) {
      socket.write(piece);
      await setTimeout(20);
    }
    let text = '';
    for await (const piece of socket.setEncoding('latin1')) text += piece;
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*english/);
  });

  test('who sends ahead without end and reads nothing is cut off', async () => {
    const socket = connect(port, '127.0.0.1').pause();
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    const flood = requestText('/status/en').repeat(1000);
    const writing = setInterval(() => socket.write(flood), 1);
    await closed;
    clearInterval(writing);
  });

  test('a connection that says nothing is closed, and each behind its next answer when the process leaves', async () => {
    const silent = connect(port, '127.0.0.1');
    await new Promise((resolve) => silent.resume().on('close', resolve));
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.on('connect', resolve));
    await setTimeout(20);
    lane.retire();
    await new Promise((resolve) => socket.resume().on('close', resolve));
    const late = connect(port, '127.0.0.1');
    late.write(requestText('/status/en'));
    let text = '';
    for await (const piece of late.setEncoding('latin1')) text += piece;
    expect(text).toContain('connection: close');
  });
});

const requestText = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${more}\r\n`;

/** Asks for these on one connection, each when the one before it has been answered. */
async function talk(paths: readonly string[]): Promise<readonly string[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const answers: string[] = [];
  for (const path of paths) {
    socket.write(requestText(path));
    let text = '';
    while (!isWhole(text)) text += await new Promise<string>((resolve) => socket.once('data', resolve));
    answers.push(
      text.replace(/transfer-encoding: chunked\r\n\r\n[\da-f]+\r\n([\s\S]*?)\r\n0\r\n\r\n/i, '\r\n$1'),
    );
  }
  socket.destroy();
  return answers;
}

function isWhole(text: string): boolean {
  const at = text.indexOf('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  return (
    at !== -1 &&
    (length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length === at + 4 + Number(length))
  );
}

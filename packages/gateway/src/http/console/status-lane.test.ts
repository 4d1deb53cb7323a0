import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
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
let port = 0;

beforeEach(async () => {
  source = { files, make: () => Promise.resolve() };
  const lane = new StatusLane(
    {
      get files() {
        return source.files;
      },
      make: () => source.make(),
    },
    'zh-CN',
  );
  server = createServer((asked, response) => {
    if (!lane.answer(asked, response)) response.end('not of the page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.closeAllConnections();
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
});

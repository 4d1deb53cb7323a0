import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf, entryOfModel } from './support/ledger.ts';
import { chatRequest, exchange, RawConnection } from './support/raw-http.ts';

const picture = Buffer.from('not much of a picture, but bytes \u00e9');
const sizeMax = 20 * 1024 * 1024;

type Answer = (response: ServerResponse, origin: string) => void;

function typed(contentType: string, body: Uint8Array = picture): Answer {
  return (response) => response.writeHead(200, { 'content-type': contentType }).end(body);
}

function redirectTo(location: string): Answer {
  return (response, origin) =>
    response.writeHead(302, { location: location.replace('ORIGIN', origin) }).end();
}

const answers: Readonly<Record<string, Answer>> = {
  '/a.png': typed('image/png'),
  '/b.jpg': typed('image/JPEG; quality=low'),
  '/large.png': typed('image/png', Buffer.alloc(200_000, 'x')),
  '/page': typed('text/html'),
  '/packed': (response) =>
    response
      .writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' })
      .end(gzipSync(picture)),
  '/mislabelled': (response) =>
    response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(picture),
  '/wrapped': (response) =>
    response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip, br' }).end(picture),
  '/bomb': (response) =>
    response
      .writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' })
      .end(gzipSync(Buffer.alloc(sizeMax + 1))),
  '/gone': (response) => response.writeHead(404).end(),
  '/moved': redirectTo('/a.png'),
  '/circle': redirectTo('/circle'),
  '/away': redirectTo('file:///etc/passwd'),
  '/announced': (response) =>
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': sizeMax + 1 }).flushHeaders(),
  '/endless': (response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const block = Buffer.alloc(1024 * 1024);
    const write = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', write);
    write();
  },
  '/silent': () => {},
  '/broken': (response) => response.socket?.destroy(),
};

const asked: string[] = [];
/** The answer under way, of those asked for. */
let latest: ServerResponse;
let images: Server;
let origin: string;
let simulator: Simulator;
let open: TestGateway;
let guarded: TestGateway;

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  asked.push(path);
  latest = response;
  (answers[path.split('?')[0] ?? ''] ?? answers['/gone'])?.(response, origin);
}

beforeAll(async () => {
  images = createServer(answer);
  await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve));
  const { port } = images.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  simulator = await startSimulator();
  const channels = [
    {
      id: 'native',
      origin: simulator.origin,
      models: { m: 'sim+tokens=1', left: 'sim+tokens=1', both: 'sim+status=503' },
      protocols: { 'generate-content': '/models/{model}:{action}' },
    },
    {
      id: 'native-too',
      origin: simulator.origin,
      models: { m: 'sim+tokens=1' },
      protocols: { 'generate-content': '/models/{model}:{action}' },
    },
    { id: 'chat', origin: simulator.origin, models: { both: 'sim+tokens=1' } },
    {
      id: 'breaks',
      origin: simulator.origin,
      priority: 0,
      models: { broken: 'sim+fault=cut-mid-stream' },
      protocols: { 'generate-content': '/models/{model}:{action}' },
    },
    { id: 'sound', origin: simulator.origin, priority: 1, models: { broken: 'sim' } },
  ];
  open = await openTestGateway({ channels, rescue: true, flags: { 'media-allow-private': 'true' } });
  guarded = await openTestGateway({ channels });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
  await simulator.close();
  images.closeAllConnections();
  images.close();
});

function bodyOf(urls: readonly string[], model: string) {
  const parts = urls.map((url) => ({ type: 'image_url', image_url: { url } }));
  return { model, messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, ...parts] }] };
}

async function look(gateway: TestGateway, urls: readonly string[], model = 'm') {
  const body = bodyOf(urls, model);
  const answered = await exchange(gateway.apiOrigin, chatRequest(gateway.keys.completions, body));
  return { ...answered, json: JSON.parse(String(answered.body)) as unknown };
}

function lastRequest(): unknown {
  return JSON.parse(Buffer.from(simulator.requests.at(-1)?.body ?? '').toString());
}

const inline = (mimeType: string) => ({ inlineData: { mimeType, data: picture.toString('base64') } });

describe('pictures by URL', () => {
  test('are fetched for an upstream that opens none, once each, over redirects too', async () => {
    asked.length = 0;
    const urls = ['/a.png', '/b.jpg?size=1', '/moved', '/a.png', '/packed'].map((path) => origin + path);
    expect(await look(open, urls)).toMatchObject({ status: 200 });
    const [first, second, third] = [inline('image/png'), inline('image/jpeg'), inline('image/png')];
    expect(lastRequest()).toMatchObject({
      contents: [{ parts: [{ text: 'Look' }, first, second, third, first, first] }],
    });
    expect(asked.toSorted()).toEqual(['/a.png', '/a.png', '/b.jpg?size=1', '/moved', '/packed']);
  });

  test('are left to an upstream of the caller’s own protocol, and to the next when the first cannot be asked', async () => {
    asked.length = 0;
    const { status } = await look(guarded, [`${origin}/a.png`], 'both');
    expect(status).toBe(200);
    expect(JSON.stringify(lastRequest())).toContain(`${origin}/a.png`);
    expect(asked).toEqual([]);
  });

  test.each([
    ['/gone', 'answered with status 404'],
    ['/page', 'something other than an image'],
    ['/mislabelled', 'something other than an image'],
    ['/wrapped', 'something other than an image'],
    ['/bomb', 'something other than an image'],
    ['/circle', 'redirects too often'],
    ['/away', 'is none of http or https'],
    ['/announced', 'more than can be fetched'],
    ['/endless', 'more than can be fetched'],
    ['/broken', 'cannot be reached'],
  ])('%s is refused: it %s', async (path, words) => {
    const before = simulator.requests.length;
    const { status, json, headers } = await look(open, [`${origin}/a.png`, origin + path]);
    expect(status).toBe(400);
    const param = 'messages[].content[].image_url';
    const message: unknown = expect.stringContaining(words);
    expect(json).toMatchObject({ error: { type: 'invalid_request_error', param, message } });
    expect(simulator.requests.length).toBe(before);
    expect(await entryOf(open, headers.get('x-trace-id'))).toMatchObject({ status: 'failed' });
  });

  test.each(['/a.png', '/large.png'])(
    'an answer to %s that breaks off goes on with all of it, or not',
    async (path) => {
      const before = simulator.requests.length;
      const body = { ...bodyOf([origin + path], 'broken'), stream: true };
      const answered = await exchange(open.apiOrigin, chatRequest(open.keys.completions, body));
      const sent = simulator.requests.slice(before).map((request) => Buffer.from(request.body).toString());
      expect(sent).toHaveLength(path === '/a.png' ? 2 : 1);
      expect(sent.filter((text) => text.includes('"Look"'))).toHaveLength(sent.length);
      expect(String(answered.body).includes('"rescued":true')).toBe(path === '/a.png');
    },
  );

  test('are asked for once, however many channels want them', async () => {
    asked.length = 0;
    expect(await look(open, [`${origin}/gone`])).toMatchObject({ status: 400 });
    expect(asked).toEqual(['/gone']);
  });

  test('are let go of when the caller hangs up, who pays nothing', async () => {
    asked.length = 0;
    const content = [{ type: 'image_url', image_url: { url: `${origin}/silent` } }];
    const body = { model: 'left', messages: [{ role: 'user', content }] };
    const caller = new RawConnection(open.apiOrigin).send(chatRequest(open.keys.completions, body));
    await expect.poll(() => asked).toEqual(['/silent']);
    const left = new Promise((resolve) => latest.on('close', resolve));
    const leftAt = performance.now();
    caller.close();
    await left;
    expect(performance.now() - leftAt).toBeLessThan(100);
    expect(await entryOfModel(open, 'left')).toMatchObject({
      status: 'caller_gone',
      unbilledReason: 'caller_gone_before_content',
      attempts: [],
    });
  });

  test('are refused when there are too many of them', async () => {
    const urls = Array.from({ length: 21 }, (_, n) => `${origin}/a.png?${n}`);
    expect(await look(open, urls)).toMatchObject({ status: 400 });
  });
});

describe('addresses that are not public', () => {
  test.each([
    'http://127.0.0.1:PORT/a.png',
    'http://localhost:PORT/a.png',
    'http://localhost.:PORT/a.png',
    'http://2130706433:PORT/a.png',
    'http://0x7f.1:PORT/a.png',
    'http://[::ffff:127.0.0.1]:PORT/a.png',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]:PORT/',
    'http://10.0.0.1/a.png',
  ])('%s are not fetched from, and nothing is told but that', async (url) => {
    asked.length = 0;
    const { status, body } = await look(guarded, [url.replace('PORT', new URL(origin).port)]);
    expect(status).toBe(400);
    expect(String(body)).toContain('cannot be reached at a public address');
    expect(String(body)).not.toMatch(/ECONN|127\.0\.0\.1|169\.254/);
    expect(asked).toEqual([]);
  });

  test('of a URL with a user name are not either, though private ones are allowed', async () => {
    asked.length = 0;
    const { status } = await look(open, [`${origin.replace('//', '//me:secret@')}/a.png`]);
    expect(status).toBe(400);
    expect(asked).toEqual([]);
  });
});

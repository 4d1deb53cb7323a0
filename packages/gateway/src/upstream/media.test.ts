import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uncounted } from '../ports/data-plane.ts';
import type { UpstreamClient } from '../ports/upstream.ts';
import { HttpClient } from './client.ts';
import { type MediaLimits, openMediaFetcher } from './media.ts';

const patienceMs = 5_000;
const unaborted = new AbortController().signal;

let server: Server;
let origin: string;
/** Answers that are never given. */
const silent: ServerResponse[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.startsWith('/silent')) silent.push(response);
    else response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(100));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function fetcher(limits: Partial<MediaLimits>, openClient: () => UpstreamClient = () => new HttpClient()) {
  return openMediaFetcher({ openClient, allowPrivate: true, limits });
}

const failing = (kind: string) => ({ ok: false, error: { problem: { kind } } });

test('what is found is handed over in base64', async () => {
  const urls = [`${origin}/1`, `${origin}/2`];
  const fetched = await fetcher({}).fetch(urls, patienceMs, unaborted, uncounted);
  const found = { mediaType: 'image/png', base64: Buffer.alloc(100).toString('base64') };
  expect(fetched).toEqual({ ok: true, value: new Map(urls.map((url) => [url, found])) });
});

test('a server that says nothing is not waited for', async () => {
  const url = `${origin}/silent`;
  expect(await fetcher({ timeoutMs: 20 }).fetch([url], patienceMs, unaborted, uncounted)).toMatchObject(
    failing('timed-out'),
  );
  expect(await fetcher({}).fetch([url], 20, unaborted, uncounted)).toMatchObject(failing('timed-out'));
});

test('all together take no longer than there is time', async () => {
  const urls = Array.from({ length: 20 }, (_, n) => `${origin}/silent?${n}`);
  const { fetch } = fetcher({ timeoutMs: 80, parallelMax: 1 });
  const startedAt = performance.now();
  expect(await fetch(urls, 100, unaborted, uncounted)).toMatchObject(failing('timed-out'));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test('what is under way is let go of when the caller has gone, and its place is free', async () => {
  const { fetch } = fetcher({ callsMax: 1 });
  const hangUp = new AbortController();
  const fetched = fetch([`${origin}/silent`], patienceMs, hangUp.signal, uncounted);
  await expect.poll(() => silent.length).toBeGreaterThan(0);
  const left = new Promise((resolve) => silent.at(-1)?.on('close', resolve));
  hangUp.abort();
  expect(await fetched).toMatchObject(failing('timed-out'));
  await left;
  expect(await fetch([`${origin}/1`], patienceMs, AbortSignal.abort(), uncounted)).toMatchObject(
    failing('timed-out'),
  );
  expect(await fetch([`${origin}/1`], patienceMs, unaborted, uncounted)).toMatchObject({ ok: true });
});

test.each<[Partial<MediaLimits>, string]>([
  [{ itemBytesMax: 99 }, 'too-large'],
  [{ callBytesMax: 250 }, 'too-large'],
  [{ itemsMax: 2 }, 'too-many'],
  [{ callsMax: 0 }, 'busy'],
])('beyond %j it is %s', async (limits, kind) => {
  const urls = [1, 2, 3].map((n) => `${origin}/${n}`);
  expect(await fetcher(limits).fetch(urls, patienceMs, unaborted, uncounted)).toMatchObject(failing(kind));
});

test('a call that has ended makes room for the next', async () => {
  const { fetch } = fetcher({ callsMax: 1 });
  const both = await Promise.all([
    fetch([`${origin}/1`], patienceMs, unaborted, uncounted),
    fetch([`${origin}/1`], patienceMs, unaborted, uncounted),
  ]);
  expect(both).toMatchObject([{ ok: true }, failing('busy')]);
  expect(await fetch([`${origin}/1`], patienceMs, unaborted, uncounted)).toMatchObject({ ok: true });
});

test('a public server cannot lead to an address that is not', async () => {
  const guarded = new HttpClient();
  const client: UpstreamClient = {
    send(request, handler) {
      if (request.origin !== 'https://public.example') return guarded.send(request, handler);
      setImmediate(() => {
        handler.onHead({ status: 302, headers: new Map([['location', `${origin}/1`]]) });
        handler.onEnd();
      });
      return { isSent: true, pause() {}, resume() {}, gather() {}, abort() {} };
    },
    close: () => guarded.close(),
  };
  const { fetch } = openMediaFetcher({ openClient: () => client, allowPrivate: false });
  expect(await fetch(['https://public.example/a.png'], patienceMs, unaborted, uncounted)).toMatchObject(
    failing('unreachable'),
  );
});

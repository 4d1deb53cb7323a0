import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CellCounts, cellMs, type Subject } from '../packages/gateway/src/ports/status.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';

const credential = 'canary-credential-1b2c3d';
const privateChannel = 'private-eu-7';
const listed: Subject = { kind: 'channel', name: 'acme-backup' };
const hidden: Subject = { kind: 'channel', name: privateChannel };
const model: Subject = { kind: 'model', name: 'house/large' };
const subjects: readonly Subject[] = [model, listed, hidden];

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [
      { id: privateChannel, origin: simulator.origin, models: { 'house/large': 'sim-demo' }, credential },
      {
        ...{ id: 'acme-backup', origin: simulator.origin, models: { 'house/large': 'sim-demo' } },
        alias: 'Backup <route> & "more"',
      },
    ],
    moreKeys: { 'canary-key-id': { name: 'Canary key name', account: 'canary-account' } },
    prices: { 'house/large': { input: '7.654321', output: '8.765432' } },
  });
  await call();
  await writeOutage();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function call(): Promise<void> {
  const answer = await fetch(`${gateway.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.keys.completions}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'house/large', messages: [{ role: 'user', content: 'Hello.' }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
}

/** An hour in the past: all is well, all fails, all is well; and both channels have incidents. */
async function writeOutage(): Promise<void> {
  const { status } = gateway.store;
  const now = Date.now();
  const startMs = now - (now % cellMs) - 12 * cellMs;
  for (let n = 0; n < 11; n++) {
    const isBad = n >= 3 && n < 7;
    const cells = subjects.map((subject): CellCounts => {
      const counts = isBad ? { good: 0, bad: 40 } : { good: 40, bad: 0 };
      return {
        ...subject,
        startMs: startMs + n * cellMs,
        ...counts,
        probesGood: 0,
        probesBad: 0,
        spread: '60:40',
      };
    });
    await status.add(cells, startMs + (n + 1) * cellMs);
    await status.judge(subjects, startMs + (n + 1) * cellMs + 30_000);
  }
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${gateway.consoleOrigin}${path}`, { headers });

const operator = () => ({
  authorization: `Bearer ${readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim()}`,
  'content-type': 'application/json',
});

const post = (path: string, body: unknown) =>
  fetch(`${gateway.consoleOrigin}/api/v1${path}`, {
    method: 'POST',
    headers: operator(),
    body: JSON.stringify(body),
  });

const pages = ['/status', '/status/en', '/status/zh', '/status.json', '/status/feed.xml', '/status/icon.svg'];
const badge = '/status/badge/house/large.svg';

async function everyFile(): Promise<ReadonlyMap<string, string>> {
  const page = await (await get('/status/en')).text();
  const sheet = /href="(\/status\/style-[^"]+)"/.exec(page)?.[1] ?? '';
  const sent = await Promise.all(
    [...pages, sheet, badge].map(async (path) => {
      const answer = await get(path);
      expect(answer.status, path).toBe(200);
      return [path, JSON.stringify([...answer.headers]) + (await answer.text())] as const;
    }),
  );
  const directory = join(gateway.dataDir, 'public');
  const written = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(directory.length), readFileSync(path, 'utf8')] as const;
    });
  return new Map([...sent, ...written.map(([path, text]) => [`static ${path}`, text] as const)]);
}

describe('the status page', () => {
  test('tells of models and of channels that have a name for the public', async () => {
    const page = await (await get('/status/en')).text();
    expect(page).toContain('house/large');
    expect(page).toContain('Backup &#60;route&#62; &#38; &#34;more&#34;');
    expect(page).toContain('house/large and 1 other');
    expect(page).toContain('Resolved after 20 min');
    // What the bars say under a mouse is there for keys and fingers too.
    expect(page).toMatch(/<ul class="days"><li>[^<]*UTC\): [^<]*<\/li>/);
    const { models, channels, incidents } = JSON.parse(await (await get('/status.json')).text()) as {
      readonly [name: string]: readonly { readonly [name: string]: unknown }[];
    };
    expect(models).toMatchObject([{ id: 'house/large', state: 'operational' }]);
    expect(channels).toMatchObject([{ name: 'Backup <route> & "more"', state: 'operational' }]);
    expect(incidents).toHaveLength(1);
  });

  test('names no secret, host, account, key or private channel, in any file', async () => {
    const secrets = [
      ...Object.values(gateway.keys),
      ...Object.values(gateway.moreKeys),
      ...[
        credential,
        privateChannel,
        'acme-backup',
        'p-acme-backup',
        'sim-demo',
        'canary-key-id',
        'Canary key name',
      ],
      ...[simulator.origin, new URL(simulator.origin).host, gateway.apiOrigin, gateway.dataDir],
      ...['operator-token', 'scrape-token'].map((name) =>
        readFileSync(join(gateway.dataDir, name), 'utf8').trim(),
      ),
      ...['canary-account', '7.654321', '8.765432', '7654321'],
      ...[...gateway.catalogue.current.channels.values()].flatMap(({ provider }) => [
        provider.id,
        provider.name,
      ]),
    ];
    const files = await everyFile();
    expect(files.size).toBeGreaterThan(14);
    const leaks = [...files].flatMap(([path, text]) =>
      secrets
        .filter((secret) => text.toLowerCase().includes(secret.toLowerCase()))
        .map((secret) => `${secret} in ${path}`),
    );
    expect(leaks).toEqual([]);
  });

  test('has no script and no style of its own, under a policy that would refuse them', async () => {
    const answer = await get('/status/en');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await answer.text()).not.toMatch(
      /<script|<style|\sstyle=|\son[a-z]+=|https?:\/\/(?!127\.0\.0\.1)/i,
    );
  });

  test('speaks the language that the reader asks for, and names the other', async () => {
    const chinese = await get('/status', { 'accept-language': 'fr, zh-TW;q=0.8, en;q=0.3' });
    expect(chinese.headers.get('content-language')).toBe('zh-CN');
    expect(chinese.headers.get('vary')).toContain('accept-language');
    expect(await chinese.text()).toContain('服务状态');
    const usual = await get('/status', { 'accept-language': 'fr' });
    expect(await usual.text()).toMatch(/<html lang="en">[\s\S]*href="\/status\/zh"/);
  });

  test('is not sent again to who has it', async () => {
    const first = await get('/status.json');
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toContain('max-age');
    expect((await get('/status.json', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('/status.json', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('has a feed whose marks are all closed, and of which every entry has what Atom asks for', async () => {
    const feed = await (await get('/status/feed.xml')).text();
    expectWellFormed(feed);
    const entries = [...feed.matchAll(/<entry>([\s\S]*?)<\/entry>/g)];
    expect(entries).toHaveLength(1);
    for (const [, entry = ''] of entries)
      for (const name of ['id', 'title', 'updated'])
        expect(entry).toMatch(new RegExp(`<${name}>[^<]+</${name}>`));
    for (const path of [badge, '/status/icon.svg']) expectWellFormed(await (await get(path)).text());
  });

  test('has no other pages, and takes no other method', async () => {
    for (const path of ['/status/badge/none.svg', '/status/../operator-token', '/status/%2e%2e/store'])
      expect((await get(path)).status, path).toBe(404);
    const posted = await fetch(`${gateway.consoleOrigin}/status`, { method: 'POST' });
    expect(posted.status).toBe(405);
  });
});

test('the written files are a page of their own: a plain server shows all of it, and every link leads somewhere', async () => {
  const directory = join(gateway.dataDir, 'public');
  const plain = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://plain.test');
    const path = join(directory, decodeURIComponent(pathname));
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    // As the usual web servers do it.
    if (isFolder && !pathname.endsWith('/')) response.writeHead(301, { location: `${pathname}/` }).end();
    else
      readFile(isFolder ? join(path, 'index.html') : path).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      );
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  const seen = new Map<string, string>();
  const waiting = ['/status', '/status.json', badge];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const answer = await fetch(`${origin}${path}`);
    expect(answer.status, path).toBe(200);
    const text = await answer.text();
    seen.set(path, text);
    if (!text.startsWith('<!doctype html>')) continue;
    // Nothing of the page leads back to the gateway, which may be gone.
    expect(text, path).not.toContain(gateway.consoleOrigin);
    for (const [, link = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      const { pathname, hash } = new URL(link, `${origin}${path}`);
      if (hash === '' && !seen.has(pathname) && !waiting.includes(pathname)) waiting.push(pathname);
    }
  }
  await new Promise((resolve) => plain.close(resolve));
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining(['/status', '/status/en', '/status/zh', '/status/feed.xml', '/status/icon.svg']),
  );
  expect(seen.get('/status/zh')).toContain('<html lang="zh-CN">');
  expect([...seen.keys()].some((path) => path.endsWith('.css'))).toBe(true);
});

describe('an operator', () => {
  test('adds words to an incident, and announces maintenance, which the page shows', async () => {
    const words = await post('/status/incidents/1/words', { en: 'A cable was <cut>.', zh: '电缆被切断。' });
    expect(words.status).toBe(201);
    const startsAt = new Date(Date.now() - 60_000).toISOString();
    const endsAt = new Date(Date.now() + 3_600_000).toISOString();
    const work = await post('/status/maintenance', {
      ...{ title: { en: 'Moving house' }, startsAt, endsAt },
      subjects: [model],
    });
    expect(work.status).toBe(201);
    await expect
      .poll(async () => (await get('/status/en')).text())
      .toMatch(/Moving house[\s\S]*Maintenance<\/span>[\s\S]*Operator: A cable was &#60;cut&#62;\./);
    expect(await (await get('/status/zh')).text()).toContain('运营方: 电缆被切断。');
    const { id } = (await work.json()) as { readonly id: string };
    expect((await post(`/status/maintenance/${id}/cancel`, undefined)).status).toBe(200);
    expect((await post(`/status/maintenance/${id}/cancel`, undefined)).status).toBe(404);
    await expect.poll(async () => (await get('/status/en')).text()).not.toContain('Moving house');
  });

  test('is told what is wrong with what it says', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const problems = [
      await post('/status/incidents/1/words', {}),
      await post('/status/incidents/99/words', { en: 'What?' }),
      await post('/status/maintenance', { title: { en: 'x' }, startsAt: soon, endsAt: soon }),
      await post('/status/maintenance', {
        ...{ title: { en: 'x' }, startsAt: new Date().toISOString(), endsAt: soon },
        subjects: [{ kind: 'model', name: 'none' }],
      }),
    ];
    expect(problems.map(({ status }) => status)).toEqual([400, 404, 400, 400]);
    expect(JSON.stringify(await problems[2]?.json())).toContain('must be later than startsAt');
    expect(JSON.stringify(await problems[3]?.json())).toContain('there is no model none');
    const anybody = await get('/api/v1/status/incidents');
    expect(anybody.status).toBe(401);
  });
});

/** Every mark that is opened is closed, in its order. */
function expectWellFormed(xml: string): void {
  const open: string[] = [];
  for (const [mark, isEnd, name = '', isEmpty] of xml.matchAll(/<(\/?)([\w:-]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (isEnd === '/') expect(open.pop(), mark).toBe(name);
    else if (isEmpty !== '/') open.push(name);
  }
  expect(open).toEqual([]);
  expect(xml.replaceAll(/<[^<>]*>/g, '')).not.toMatch(/[<>]|&(?!#\d+;)/);
}

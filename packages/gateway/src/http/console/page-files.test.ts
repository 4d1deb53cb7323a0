import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pageFiles } from './page-files.ts';

const document = '<!doctype html><title>x</title>';
const script = 'export const x = 1;';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-pages-'));
  mkdirSync(join(folder, 'assets'));
  for (const [name, text] of Object.entries({ 'index.html': document, 'assets/index-a1_B-.js': script })) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(folder, 'manifest.json'), '{}');
  writeFileSync(join(folder, 'assets', 'icon-1.svg'), '<svg/>');
});
afterEach(() => rmSync(folder, { recursive: true }));

function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  return pageFiles(folder, () => 'https://api.example.com:8443').request(path, {
    headers: { host: 'console.example.com:4001', ...headers },
  });
}
const browser = { accept: 'text/html,application/xhtml+xml', 'accept-encoding': 'gzip, deflate, br, zstd' };

test.each(['/', '/keys', '/keys/key-1', '/nowhere', '/statusquo/x'])(
  'a browser gets the document at %s',
  async (path) => {
    const answer = await ask(path, browser);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-encoding')).toBe('br');
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
  },
);

test.each([
  '/api',
  '/api/v1/nothing',
  '/metrics',
  '/healthz',
  '/readyz',
  '/status',
  '/status/feed.xml',
  '/status.json',
  '/assets/gone.js',
  '/assets/',
])('a browser gets no document at %s', async (path) => {
  expect((await ask(path, browser)).status).toBe(404);
});

test('a program that asks for no document gets none', async () => {
  expect((await ask('/', { accept: '*/*' })).status).toBe(404);
  expect((await ask('/v1/models')).status).toBe(404);
});

test('the document allows its own files alone, and asks this origin and that of the API', async () => {
  const policy = (await ask('/', browser)).headers.get('content-security-policy') ?? '';
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self' https://api.example.com:8443 https://console.example.com:8443",
    "img-src 'self' data:",
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]);
});

test('a name that is none adds nothing to the policy', async () => {
  const answer = await ask('/', { ...browser, host: "x; script-src 'unsafe-inline'" });
  expect(answer.headers.get('content-security-policy')).toContain(
    "connect-src 'self' https://api.example.com:8443;",
  );
});

test('the document is sent again only when it has changed', async () => {
  const tag = (await ask('/', browser)).headers.get('etag') ?? '';
  const again = await ask('/keys', { ...browser, 'if-none-match': tag });
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag]);
  writeFileSync(join(folder, 'index.html.br'), brotliCompressSync('<!doctype html><title>y</title>'));
  expect((await ask('/', { ...browser, 'if-none-match': tag })).status).toBe(200);
});

test('a file is kept for ever, in the smallest form that is taken', async () => {
  const forms = [
    ['gzip, br', 'br'],
    ['gzip', 'gzip'],
    ['', null],
  ] as const;
  for (const [accepted, encoding] of forms) {
    const answer = await ask('/assets/index-a1_B-.js', { 'accept-encoding': accepted });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding]);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  }
  const small = await ask('/assets/icon-1.svg', browser);
  expect([await small.text(), small.headers.get('content-encoding')]).toEqual(['<svg/>', null]);
});

test.each([
  '/assets/../manifest.json',
  '/assets/%2e%2e/manifest.json',
  '/assets/..%2fmanifest.json',
  '/manifest.json',
  '/assets/.js',
  '/assets/index-a1_B-.js.br',
])('%s is no file of the pages', async (path) => {
  expect((await ask(path)).status).toBe(404);
});

test('without a build it is said how to make one', async () => {
  rmSync(join(folder, 'index.html'));
  rmSync(join(folder, 'index.html.br'));
  rmSync(join(folder, 'index.html.gz'));
  const answer = await ask('/', browser);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('npm run build:console');
});

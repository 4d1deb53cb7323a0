import { expect, test } from 'vitest';
import { keepAliveHintMs, readResponseHead } from './response-head.ts';

test.each([
  ['HTTP/1.1 200 OK\r\ncontent-length: 0', true],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: Close', false],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: x, close', false],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive', true],
  ['HTTP/1.1 200 OK', false],
  ['HTTP/1.0 200 OK\r\ncontent-length: 0', false],
  ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: Keep-Alive', true],
  ['HTTP/1.1 204 N', true],
  ['HTTP/1.1 204 N\r\ncontent-length: 0', true],
  ['HTTP/1.1 204 N\r\ncontent-length: 3', false],
  ['HTTP/1.1 304 N\r\ntransfer-encoding: chunked', false],
])('%j keeps its connection: %s', (text, keepsAlive) => {
  expect(readResponseHead(text)).toMatchObject({ ok: true, value: { keepsAlive } });
});

test.each([
  ['timeout=5', 5000],
  ['timeout=5, max=100', 5000],
  ['max=1, timeout="30"', 30_000],
  ['max=100', null],
  ['timeout=soon', null],
])('the hint "%s" is %s ms', (value, hintMs) => {
  expect(keepAliveHintMs(new Map([['keep-alive', value]]))).toBe(hintMs);
});

test('a header that looks like part of the language is only a header', () => {
  const head = readResponseHead('HTTP/1.1 204 N\r\n__proto__: a\r\nconstructor: b');
  expect(head.ok && [...head.value.headers]).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

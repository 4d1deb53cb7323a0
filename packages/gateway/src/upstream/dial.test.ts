import { expect, test } from 'vitest';
import { readDestination } from './dial.ts';

test.each([
  ['https://api.example.com', 'api.example.com', 443, 'api.example.com', 'api.example.com'],
  ['https://API.Example.com:8443', 'api.example.com', 8443, 'api.example.com:8443', 'api.example.com'],
  ['https://api.example.com.', 'api.example.com', 443, 'api.example.com.', 'api.example.com'],
  ['http://10.0.0.7:8080', '10.0.0.7', 8080, '10.0.0.7:8080', null],
  ['https://[2606:4700::1111]', '2606:4700::1111', 443, '[2606:4700::1111]', null],
])('%s', (origin, hostname, port, authority, serverName) => {
  const secure = origin.startsWith('https');
  expect(readDestination(origin, false)).toEqual({
    ok: true,
    value: { secure, hostname, port, authority, serverName, allowPrivate: false },
  });
});

test.each([
  ['2130706433', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['0177.0.0.01', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['１２７.0.0.1', '127.0.0.1'],
  ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ['[0:0:0:0:0:0:0:1]', '::1'],
])('%s is read as %s before the guard sees it', (spelling, hostname) => {
  expect(readDestination(`http://${spelling}`, false)).toMatchObject({ ok: true, value: { hostname } });
});

test.each([
  'ftp://api.example.com',
  'https://user@api.example.com',
  'https://user:secret@api.example.com',
  'https://api.example.com/v1',
  'https://api.example.com?x=1',
  'https://api.example.com#x',
  'api.example.com',
  'https://',
  '',
])('"%s" is no origin', (origin) => {
  expect(readDestination(origin, true)).toMatchObject({ ok: false, error: { kind: 'forbidden-address' } });
});

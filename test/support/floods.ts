import { generateKey } from '../../packages/gateway/src/admin/keys.ts';
import type { Flood } from './flood.ts';
import { chatRequest } from './raw-http.ts';

/** One way to take a gateway's time, over and over. */
export type FloodKind = Pick<Flood, 'request' | 'manner' | 'reads'>;

const get = (target: string, fields = ''): string => `GET ${target} HTTP/1.1\r\nhost: x\r\n${fields}\r\n`;
const chat = (fields: string, body: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${fields}\r\n${body}`;
const pipelined = (request: string): FloodKind => ({ request, manner: 'pipelined' });
const single = (request: string): FloodKind => ({ request, manner: 'single' });

const nobodysKeys = ['authorization: Bearer ', 'x-api-key: ', 'x-goog-api-key: ', 'x-neutral-api-key: ']
  .map((header) => `${header}${generateKey()}\r\n`)
  .join('');
const manyFields = Array.from({ length: 60 }, (_, place) => `x-${place}: a\r\n`).join('');
const websocket = get('/v1/responses', 'connection: upgrade\r\nupgrade: websocket\r\n');

/** A stranger without a key can say all of these; the first two are tried in the fast form, too. */
export const strangers: readonly (readonly [string, FloodKind])[] = [
  ['requests of eighteen bytes', pipelined('GET / HTTP/1.1\r\n\r\n')],
  ['requests of another parser', pipelined('HEAD / HTTP/1.1\r\n\r\n')],
  ['requests without a key', pipelined(get('/v1/models'))],
  ['four keys that nobody has', pipelined(get('/v1/models', nobodysKeys))],
  ['large heads', pipelined(get('/v1/models', `x: ${'a'.repeat(15_000)}\r\n`))],
  ['many fields', pipelined(get('/v1/models', manyFields))],
  ['large heads of another parser', pipelined(get('/v1/models', `x:\t${'a'.repeat(15_000)}\r\n`))],
  ['bodies that nobody wants', pipelined(chat('content-length: 100000\r\n', 'x'.repeat(100_000)))],
  [
    'chunks of one byte',
    pipelined(chat('transfer-encoding: chunked\r\n', `${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`)),
  ],
  [
    'chunks of one byte, of another parser',
    pipelined(chat('transfer-encoding:\tchunked\r\n', `${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`)),
  ],
  ['answers that are not read', { ...pipelined(get('/v1/models')), reads: false }],
  ['connections for one request each', single(get('/v1/models'))],
  ['connections for one request each, of another parser', single('HEAD / HTTP/1.1\r\n\r\n')],
  ['connections that speak no HTTP', single('\x16\x03\x01\x02\x00\x01\r\n\r\n')],
  ['upgrades', single(websocket)],
];

/** Somebody who has a key can say these. */
export const keyHolders: readonly (readonly [string, (key: string) => FloodKind])[] = [
  ['bodies that are no JSON', (key) => pipelined(chatRequest(key, '{').toString('latin1'))],
  ['lists of models', (key) => pipelined(get('/v1/models', `authorization: Bearer ${key}\r\n`))],
  [
    'calls of unknown models',
    (key) => pipelined(chatRequest(key, { model: 'none', messages: [{}] }).toString('latin1')),
  ],
];

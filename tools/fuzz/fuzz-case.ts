import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Platform } from '@headgate/protocols';
import { SeededRandom } from '../simulate/seeded-random.ts';
import { mutate, textOf, treeOf } from './json-mutation.ts';
import { type Question, questions } from './questions.ts';

/** What a caller does once all of its bytes are sent. */
export type Conduct =
  /** It reads to the end. */
  | 'waits'
  /** It hangs up after a while, with a FIN or with a reset. */
  | 'leaves'
  | 'resets';

/** One request of the fuzz. The same seed and the same site, the same bytes. */
export interface FuzzCase {
  readonly seed: number;
  readonly port: 'api' | 'console';
  /** Written one after another, a turn of the loop between them. */
  readonly pieces: readonly Buffer[];
  readonly conduct: Conduct;
  readonly leavesAfterMs: number;
  /** The head is sound HTTP and all of its body comes: then an answer must come. */
  readonly isSound: boolean;
  readonly isHead: boolean;
}

/** Where cases are sent to, as far as their bytes depend on it. */
export interface Site {
  readonly keys: Readonly<Record<Platform, string>>;
  readonly models: readonly string[];
  readonly operatorToken: string;
}

/** A request as it is written, while it is still changed. */
interface Draft {
  method: string;
  target: string;
  headers: string[];
  body: Buffer;
  /** Null states the true length. */
  framing: string | null;
  isSound: boolean;
}

const unsound = [
  'content-length: 5\r\ntransfer-encoding: chunked',
  'content-length: x',
  'content-length: -1',
  'content-length: 99999999999999999999',
  'content-length: 3\r\ncontent-length: 4',
  'transfer-encoding: gzip, chunked',
  'transfer-encoding: chunked\r\ntransfer-encoding: identity',
  'content-length : 3',
];

const oddHeaders: readonly string[] = [
  'expect: 100-continue',
  'expect: something',
  'connection: close',
  'connection: keep-alive, upgrade\r\nupgrade: websocket',
  'accept-encoding: gzip, br',
  'accept: text/html',
  'content-type: text/plain',
  'content-type: application/json; charset=utf-16',
  'content-type: multipart/form-data; boundary=x',
  'content-type: application/x-www-form-urlencoded',
  'content-encoding: gzip',
  'content-encoding: gzip, zstd',
  'content-encoding: compress',
  '__proto__: x',
  'x-client-request-id: \u00e9\u00ff',
  `x-client-request-id: ${'a'.repeat(4000)}`,
  'x-request-id: ../../x',
  'x-session-id: 1',
  'idempotency-key: 1',
  'anthropic-version: 1',
  'anthropic-beta: a,b',
  'openai-organization: x',
  'x-goog-api-client: x',
  'x-simulate: tokens=1',
  'origin: https://evil.example',
  'forwarded: for=1',
  'range: bytes=0-1',
  'if-none-match: *',
  'cookie: a=b',
  'x-stainless-retry-count: 1',
  'authorization: Bearer ',
  'authorization: Basic eDp5',
  `x-long: ${'a'.repeat(15_000)}`,
];

const methods = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'POST', 'TRACE', 'QUERY'] as const;

const oddPaths = [
  '/',
  '//v1/chat/completions',
  '/v1/chat/completions/',
  '/v1/chat%2fcompletions',
  '/v1/../v1/models',
  '/v1/models/%00',
  '/v1/models/%ff',
  '/v1/models/%F0%9F%98%80',
  '/v1/models/__proto__',
  '/v1beta/models/:generateContent',
  '/v1beta/models/x:',
  '/v1beta/models/a:b:generateContent',
  '/v1beta/models/x:streamGenerateContent?alt=%00',
  '/v1/responses/resp_1',
  '/v1/files',
  '/v1/usage?from=x',
  '/v1/usage?from=0000-01-01&to=9999-12-31&page=-1',
  '/v1/usage?granularity=hour&limit=99999999999',
  '/v1/models?limit=-1&after=%ZZ',
  '/healthz',
  '/metrics',
  '/api/v1/channels',
];

const consolePaths = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/v1/channels',
  '/api/v1/calls/0/route',
  '/',
  '/api',
] as const;

/** The case of a seed. */
export function fuzzCase(seed: number, site: Site): FuzzCase {
  const random = new SeededRandom(seed);
  // Seeds that follow each other begin alike: the first draws tell little.
  random.uniform();
  if (random.below(50) === 0) return consoleCase(seed, site, random);
  const question = random.pick(questions);
  const draft = draftOf(question, site, random);
  if (random.below(6) === 0) misplaceHead(draft, random);
  if (random.below(12) === 0) compress(draft, random);
  return caseOf(seed, 'api', draft, random);
}

function draftOf(question: Question, { keys, models }: Site, random: SeededRandom): Draft {
  const model = random.below(25) === 0 ? oddModel(random) : random.pick(models);
  const stream = random.below(2) === 0;
  const key = random.below(40) === 0 ? 'sk-wrong' : keys[question.platform];
  const target = targetOf(question, model, stream, random);
  const headers = [credentialOf(question.platform, key, random), 'content-type: application/json'];
  const draft: Draft = {
    method: question.endpoint.method,
    target,
    headers,
    body: Buffer.alloc(0),
    framing: null,
    isSound: true,
  };
  if (question.body === null) return draft;
  const body = question.body(model, stream);
  if (question.form && random.below(2) === 0) writeForm(draft, body, random);
  else draft.body = jsonOf(body, random);
  return draft;
}

function targetOf({ path }: Question, model: string, stream: boolean, random: SeededRandom): string {
  const named = path.replace('{model}', encodeURIComponent(model));
  if (/\/usage/.test(path) && random.below(3) > 0) return `${named}?from=2026-01-01`;
  return stream && named.includes(':stream') && random.below(3) > 0 ? `${named}?alt=sse` : named;
}

function oddModel(random: SeededRandom): string {
  return random
    .pick([
      '',
      'none',
      '__proto__',
      '\ud800',
      'é'.repeat(300),
      'a/b',
      '../x',
      'x\u0000',
      `made-up-${random.below(1e9)}`,
    ])
    .toWellFormed();
}

function credentialOf(platform: Platform, key: string, random: SeededRandom): string {
  if (random.below(10) === 0) return `authorization: Bearer ${key}`;
  if (platform === 'messages') return `x-api-key: ${key}`;
  return platform === 'native' ? `x-goog-api-key: ${key}` : `authorization: Bearer ${key}`;
}

/** One body in ten is right: what comes behind wrong ones must be answered as ever. */
function jsonOf(body: object, random: SeededRandom): Buffer {
  const kind = random.below(20);
  if (kind < 2) return Buffer.from(JSON.stringify(body));
  const tree = treeOf(body);
  if (kind < 17) mutate(tree, random);
  const bytes = Buffer.from(textOf(tree));
  return kind < 14 ? bytes : mutatedBytes(bytes, random);
}

const oddBytes = [
  0, 0x0a, 0x22, 0x2c, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x80, 0xc0, 0xed, 0xa0, 0xef, 0xbb, 0xf8, 0xff,
];

/** Other bytes at a few places, a part left out, or something before it. */
function mutatedBytes(bytes: Buffer, random: SeededRandom): Buffer {
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, random.below(bytes.length + 1));
    case 1:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 2:
      return Buffer.concat([bytes, random.below(2) === 0 ? bytes : Buffer.from(' \n{}')]);
    case 3: {
      const from = random.below(bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + random.below(60))]);
    }
    default: {
      const changed = Buffer.from(bytes);
      for (let left = 1 + random.below(6); left > 0 && changed.length > 0; left--)
        changed[random.below(changed.length)] = random.pick(oddBytes);
      return changed;
    }
  }
}

/** Members as the parts of a form, and files where there are images; then wrong somewhere, mostly. */
function writeForm(draft: Draft, body: object, random: SeededRandom): void {
  const boundary = random.pick(['x', 'a'.repeat(70), '----WebKitFormBoundary7', '-']);
  const parts = Object.entries(body).map(([name, value]) => {
    const isFile = typeof value === 'object';
    const file = isFile ? '; filename="a.png"\r\ncontent-type: image/png' : '';
    return `--${boundary}\r\ncontent-disposition: form-data; name="${isFile ? 'image[]' : name}"${file}\r\n\r\n${isFile ? '\u0089PNG' : String(value)}\r\n`;
  });
  if (random.below(3) === 0)
    parts.splice(random.below(parts.length), 1, ...(random.below(2) === 0 ? [] : ['--x\r\n\r\n']));
  const end = random.below(8) === 0 ? '' : `--${boundary}--\r\n`;
  const bytes = Buffer.from(parts.join('') + end, 'latin1');
  draft.body = random.below(3) === 0 ? mutatedBytes(bytes, random) : bytes;
  const stated = random.below(12) === 0 ? '' : `; boundary=${boundary}`;
  draft.headers[1] = `content-type: multipart/form-data${stated}`;
}

function misplaceHead(draft: Draft, random: SeededRandom): void {
  switch (random.below(8)) {
    case 0:
      draft.method = random.pick(methods);
      return;
    case 1:
      draft.target = random.pick(oddPaths);
      return;
    case 2:
      draft.framing = random.pick(unsound);
      draft.isSound = false;
      return;
    case 3:
      draft.headers.splice(random.below(draft.headers.length), 1);
      return;
    case 4:
      draft.target += random.pick([
        '?key=x',
        '?',
        '?a=%',
        '#x',
        '?alt=sse&alt=json',
        `?${'a=b&'.repeat(900)}`,
      ]);
      return;
    case 5:
      draft.headers.push(...Array.from({ length: 90 }, (_, place) => `x-${place}: ${place}`));
      return;
    default:
      for (let left = 1 + random.below(3); left > 0; left--) draft.headers.push(random.pick(oddHeaders));
  }
}

const encodings = {
  gzip: gzipSync,
  deflate: deflateSync,
  'x-gzip': deflateRawSync,
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { 1: 1 } }),
  zstd: zstdCompressSync,
} as const;

/** Compressed as its header says, or not; whole, or not; and at times very much in very few bytes. */
function compress(draft: Draft, random: SeededRandom): void {
  const names = Object.keys(encodings) as (keyof typeof encodings)[];
  const name = random.pick(names);
  const plain =
    random.below(60) === 0 ? Buffer.concat([draft.body, Buffer.alloc(4_000_000, ' ')]) : draft.body;
  const packed = encodings[name](plain);
  draft.body = random.below(3) === 0 ? mutatedBytes(packed, random) : packed;
  draft.headers.push(`content-encoding: ${random.below(5) === 0 ? random.pick(names) : name}`);
}

function consoleCase(seed: number, { operatorToken }: Site, random: SeededRandom): FuzzCase {
  const asks = random.below(2) === 0;
  const token = random.below(3) === 0 ? 'wrong' : operatorToken;
  const question = { key: 'completions', model: 'plain-on-messages', maxOutputTokens: 70, stream: true };
  const draft: Draft = {
    method: asks ? 'POST' : 'GET',
    target: asks ? '/api/v1/route/explain' : random.pick(consolePaths),
    headers: [`authorization: Bearer ${token}`, 'content-type: application/json'],
    body: asks ? jsonOf(question, random) : Buffer.alloc(0),
    framing: null,
    isSound: true,
  };
  if (random.below(4) === 0) draft.headers.push(random.pick(oddHeaders));
  return caseOf(seed, 'console', draft, random);
}

function caseOf(seed: number, port: FuzzCase['port'], draft: Draft, random: SeededRandom): FuzzCase {
  const isChunked = draft.framing === null && draft.body.length > 0 && random.below(5) === 0;
  const framing =
    draft.framing ?? (isChunked ? 'transfer-encoding: chunked' : `content-length: ${draft.body.length}`);
  const lines = [
    `${draft.method} ${draft.target} HTTP/1.1`,
    'host: 127.0.0.1',
    ...draft.headers,
    framing,
    '',
    '',
  ];
  const body = isChunked ? chunked(draft.body, random) : draft.body;
  const whole = Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]);
  const isCut = random.below(40) === 0;
  const bytes = isCut ? whole.subarray(0, 1 + random.below(whole.length)) : whole;
  const conduct = random.below(25) === 0 ? random.pick(['leaves', 'resets'] as const) : 'waits';
  return {
    seed,
    port,
    pieces: piecesOf(bytes, random),
    // Waiting for what a cut request gets takes a time-out, which few cases may take.
    conduct: isCut && conduct === 'waits' && random.below(4) > 0 ? 'resets' : conduct,
    leavesAfterMs: random.below(3) === 0 ? 0 : random.below(60),
    isSound: draft.isSound && !isCut,
    isHead: draft.method === 'HEAD',
  };
}

function chunked(body: Buffer, random: SeededRandom): Buffer {
  const size = 1 + random.below(body.length);
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    if (parts.length > 300) return Buffer.concat([...parts, ...rest(body.subarray(at + size))]);
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function rest(body: Buffer): Buffer[] {
  const end = Buffer.from('0\r\n\r\n');
  return body.length === 0
    ? [end]
    : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n'), end];
}

function piecesOf(bytes: Buffer, random: SeededRandom): readonly Buffer[] {
  if (random.below(8) > 0) return [bytes];
  const at = random.below(bytes.length);
  return [bytes.subarray(0, at), bytes.subarray(at)].filter((piece) => piece.length > 0);
}

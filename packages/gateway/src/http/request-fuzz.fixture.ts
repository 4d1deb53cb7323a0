/** Chance that repeats itself: mulberry32, as good as a fuzz needs. */
class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to `count` - 1. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  }

  /** True one time in `count`. */
  once(count: number): boolean {
    return this.below(count) === 0;
  }

  of<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0];
  }
}

/** Bytes of one caller, in the pieces in which they come. */
export interface FuzzCase {
  readonly seed: number;
  readonly pieces: readonly Buffer[];
}

/** Headers by which a lane could be misled, and a few that it only has to carry. */
export const headerNames = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'proxy-connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'content-type',
  'content-encoding',
  'authorization',
  'x-a',
  'x-b',
  'cookie',
] as const;

const usualLines = ['host: gateway', 'authorization: Bearer sk-1', 'content-type: application/json'];

/** One request, often with something wrong with it, sometimes with a sound one behind it. Latin-1, in pieces. */
export function fuzzCase(seed: number): FuzzCase {
  const chance = new Seeded(seed);
  const first = requestText(chance);
  const mutated = chance.once(6) ? mutatedText(first, chance) : first;
  const whole = chance.once(10) && mutated === first ? first + soundRequest : mutated;
  return { seed, pieces: piecesOf(Buffer.from(whole, 'latin1'), chance) };
}

const soundRequest = 'POST /next HTTP/1.1\r\nhost: gateway\r\ncontent-length: 4\r\n\r\nnext';

function requestText(chance: Seeded): string {
  const body = 'x'.repeat(chance.of([0, 1, 2, 7, 16, 40]));
  const isChunked = chance.once(3);
  const framing = isChunked ? chunkedLines(chance) : lengthLines(body.length, chance);
  const lines = [...usualLines, ...framing];
  for (let more = chance.below(4); more > 0; more--)
    lines.splice(chance.below(lines.length + 1), 0, fieldLine(chance));
  const end = chance.once(20)
    ? chance.of(['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '\r\n\t', '\0\r\n'])
    : '\r\n';
  const head = [requestLine(chance), ...lines].map((line, place) =>
    place === 0 || !chance.once(6) ? `${line}\r\n` : line + end,
  );
  const emptyLine = chance.once(30) ? chance.of(['\n', '\r', '', ' \r\n']) : '\r\n';
  return head.join('') + emptyLine + (isChunked ? chunkedBody(body, chance) : body);
}

function requestLine(chance: Seeded): string {
  const oddly = chance.once(10);
  const method = oddly
    ? chance.of([
        'GET',
        'HEAD',
        'PUT',
        'OPTIONS',
        'DELETE',
        'get',
        'BREW',
        'M-SEARCH',
        '',
        'POST,',
        'CONNECT',
        'PRI',
      ])
    : chance.of(['POST', 'POST', 'GET']);
  const target = chance.once(6)
    ? chance.of(oddTargets)
    : chance.of(['/v1/chat/completions', '/a?b=c&d=%20', '/', '//x', '/a:b']);
  const version = chance.once(20)
    ? chance.of([
        'HTTP/1.0',
        'HTTP/1.2',
        'HTTP/2.0',
        'HTTP/0.9',
        'http/1.1',
        'HTTP/1.1 ',
        'HTTP/11',
        '',
        'HTTP/1.',
      ])
    : 'HTTP/1.1';
  const blank = chance.once(40) ? chance.of(['  ', '\t', '', '\u00a0']) : ' ';
  return `${chance.once(30) ? '\r\n' : ''}${method}${blank}${target} ${version}`;
}

const oddTargets: readonly [string, ...string[]] = [
  '*',
  'http://evil/v1/models',
  'gateway:80',
  '/a b',
  '/a\u0001b',
  '/caf\u00e9',
  '/a#b',
  '/a"b<c>',
  '/[x]|{y}^`',
  '/\u007f',
  '',
  'a',
  '/../..;/x',
  `/${'a'.repeat(17_000)}`,
  '?',
];

function lengthLines(length: number, chance: Seeded): readonly string[] {
  if (!chance.once(7)) return [`${spelt('content-length', chance)}: ${length}`];
  return chance.of<readonly string[]>([
    [],
    [`content-length: ${length}`, `content-length: ${length}`],
    [`content-length: ${length}`, 'content-length: 3'],
    [`content-length: +${length}`],
    [`content-length: 0${length}`],
    [`content-length: ${length}, ${length}`],
    [`content-length: 0x${length.toString(16)}`],
    [`content-length: -${length}`],
    ['content-length: 99999999999999999999999'],
    ['content-length: 18446744073709551617'],
    ['content-length: 5000000'],
    ['content-length:'],
    [`content-length : ${length}`],
    [`content-length:\t${length} \t`],
    [`content-length: ${length} 1`],
    [`content-length: ${length}\u000b`],
    [`content-length: ${length}`, 'transfer-encoding: chunked'],
    ['transfer-encoding: chunked', `content-length: ${length}`],
    [`content-length: ${length}`, 'transfer-encoding: identity'],
  ]);
}

function chunkedLines(chance: Seeded): readonly string[] {
  if (!chance.once(7)) return [`${spelt('transfer-encoding', chance)}: chunked`];
  return chance.of<readonly string[]>([
    ['transfer-encoding: Chunked'],
    ['transfer-encoding: chunked, identity'],
    ['transfer-encoding: identity, chunked'],
    ['transfer-encoding: gzip, chunked'],
    ['transfer-encoding: xchunked'],
    ['transfer-encoding: chunked', 'transfer-encoding: chunked'],
    ['transfer-encoding: chunked', 'transfer-encoding: identity'],
    ['transfer-encoding:\u000bchunked'],
    ['transfer-encoding: "chunked"'],
    ['transfer-encoding: chunked;q=1'],
    ['transfer-encoding : chunked'],
    ['transfer-encoding:chunked '],
    ['transfer-encoding:'],
  ]);
}

function fieldLine(chance: Seeded): string {
  if (!chance.once(8)) {
    const value = chance.of(['', 'v', '  v  ', '\tv\t', 'a, b', 'a'.repeat(300), '"q"', 'a:b']);
    return `${spelt(chance.of(['x-a', 'x-b', 'cookie', 'te', 'keep-alive', 'trailer']), chance)}: ${value}`;
  }
  return chance.of([
    'connection: close',
    'connection: keep-alive',
    'Connection: Keep-Alive',
    'connection: Close',
    'connection: keep-alive, close',
    'connection: upgrade',
    'connection: foo',
    'connection:',
    'proxy-connection: close',
    'upgrade: websocket',
    'upgrade: h2c',
    'expect: 100-continue',
    'expect: something',
    'content-encoding: identity',
    'x-a: \u00e9',
    'x-a: a\0b',
    'x-a: a\u007fb',
    'x-a: a\rb',
    'x-a: a\u0008b',
    ' folded: yes',
    'x-a : v',
    'x a: v',
    ': v',
    'no colon',
    '__proto__: v',
    'x\0y: v',
    'x\u00e9: v',
    'x(y): v',
    `x-a: ${'a'.repeat(17_000)}`,
    Array.from({ length: 70 }, (_, place) => `x-${place}: v`).join('\r\n'),
    'host: other',
    'authorization: Bearer sk-2',
  ]);
}

function chunkedBody(body: string, chance: Seeded): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const size = 1 + chance.below(Math.min(9, body.length - at));
    text += `${sizeText(size, chance)}${chance.once(30) ? chance.of(['\n', '\r', ' \r\n', '\r\r\n']) : '\r\n'}`;
    text += `${body.slice(at, at + size)}${chance.once(30) ? chance.of(['\n', '\r', '', '\r\n\r\n', 'x\r\n']) : '\r\n'}`;
    at += size;
  }
  if (!chance.once(5)) return `${text}0\r\n\r\n`;
  return text + chance.of(chunkedEnds);
}

const chunkedEnds: readonly [string, ...string[]] = [
  '',
  '0',
  '0\r\n',
  '00\r\n\r\n',
  '0;last\r\n\r\n',
  '0\r\nx-a: trailer\r\n\r\n',
  '0\r\ncontent-length: 5\r\n\r\n',
  '0\r\ntransfer-encoding: chunked\r\n\r\n',
  '0\r\n folded\r\n\r\n',
  '0\r\nno colon\r\n\r\n',
  '0\n\n',
  '0\r\n\n',
  '-1\r\n\r\n',
  '0x0\r\n\r\n',
  'fffffffffffffffff\r\n',
  '10000000000000000\r\nx',
  'ffffffff\r\nx',
  ' 0\r\n\r\n',
];

function sizeText(size: number, chance: Seeded): string {
  const hex = size.toString(16);
  if (!chance.once(12)) return chance.once(4) ? hex.toUpperCase() : hex;
  return chance.of([
    `0${hex}`,
    `0000000000000000000${hex}`,
    `${hex};a=b`,
    `${hex};a="b;c"`,
    `${hex} `,
    ` ${hex}`,
    `0x${hex}`,
    `+${hex}`,
    `${hex};`,
    `${hex}; a`,
    `${hex}g`,
    '',
  ]);
}

/** In lower case, as people write it, or in capitals. */
function spelt(name: string, chance: Seeded): string {
  const capitals = name.replaceAll(/(^|-)[a-z]/g, (part) => part.toUpperCase());
  return chance.of([name, capitals, name.toUpperCase()]);
}

const strangeBytes: readonly [string, ...string[]] = [
  '\0',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  '\u0080',
  '\u00ff',
  ';',
  ',',
  '\u007f',
  '0',
  '\u000b',
  'A',
  '"',
];

/** One byte more, one less or another, up to three times. */
function mutatedText(text: string, chance: Seeded): string {
  let mutated = text;
  for (let more = 1 + chance.below(3); more > 0; more--) {
    const at = chance.below(mutated.length + 1);
    const removed = chance.below(2);
    const added = chance.once(3) ? '' : chance.of(strangeBytes);
    mutated = mutated.slice(0, at) + added + mutated.slice(at + removed);
  }
  return mutated;
}

function piecesOf(bytes: Buffer, chance: Seeded): readonly Buffer[] {
  const count = chance.once(3) ? 1 + chance.below(chance.once(8) ? 16 : 4) : 1;
  const cuts = Array.from({ length: count - 1 }, () => chance.below(bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, place) => bytes.subarray(from, cuts[place] ?? bytes.length))
    .filter((piece) => piece.length > 0);
}

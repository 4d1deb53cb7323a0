import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { isSlow } from '../../../../test/support/slow-form.ts';
import { Watchdog } from '../call/watchdog.ts';
import type { Port } from './api.ts';
import { converse, createTestPort, type Heard, openTestPort, type Seen, testClock } from './port.fixture.ts';
import { type FuzzCase, fuzzCase, headerNames } from './request-fuzz.fixture.ts';

/** How many requests both lanes are shown. */
const count = Number(process.env['HEADGATE_FUZZ_HEADS'] ?? (isSlow ? 2_000_000 : 8_000));
/** Few enough for what a batch leaves behind to be swept while it is young. */
const batchSize = 60;

/** A socket without a network: the test is its other side. */
class TestSocket extends Duplex {
  written = '';

  constructor() {
    super({ allowHalfOpen: true });
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.written += chunk.toString('latin1');
    done();
  }
}

/** One lane, and what it makes of cases. */
class Lane {
  /** Connections that the plain lane read to their end. */
  plain = 0;
  readonly #port: Port;
  /** What the echo noted is in its answer, too: it is let go, or the garbage collector goes through millions of notes. */
  readonly #seen: Seen[] = [];

  constructor(lane: 'plain' | 'node') {
    this.#port = createTestPort(lane, { headerNames }, new Watchdog(testClock), this.#seen);
  }

  async take(cases: readonly FuzzCase[]): Promise<readonly string[]> {
    const sockets = cases.map(({ pieces }) => {
      const socket = new TestSocket();
      this.#port.server.emit('connection', socket);
      for (const piece of pieces) socket.push(piece);
      return socket;
    });
    await silence(sockets);
    this.plain += this.#port.connections.size;
    const told = sockets.map(toldOn);
    for (const socket of sockets) socket.destroy();
    this.#seen.length = 0;
    return told;
  }
}

/** Resolves when nothing has been written for some turns of the event loop. */
async function silence(sockets: readonly TestSocket[]): Promise<void> {
  let before = -1;
  for (let quiet = 0; quiet < 4; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const written = sockets.reduce((sum, socket) => sum + socket.written.length, 0);
    quiet = written === before ? quiet + 1 : 0;
    before = written;
  }
}

/**
 * The difference that is meant (ADR 18): where what comes behind a sound request is broken, or should not come at all,
 * `node:http` refuses it in the place of the answer, and the plain lane behind it, or not at all on a connection that
 * closes anyway. Behind an answer, `node:http` closes with a refusal or without one, as the bytes happened to come.
 */
function isRefusedLater(told: string, expected: string): boolean {
  if (closesWithRefusal(told, expected) || closesWithRefusal(expected, told)) return true;
  if (!expected.startsWith('HTTP/1.1 400 ') || !told.startsWith('HTTP/1.1 200 ')) return false;
  return told.endsWith(expected) || /^HTTP\/1.1 200 OK\nconnection: close\n.*\(closed\)$/s.test(told);
}

/** True when `longer` is `shorter` with a refusal before the connection closes. */
function closesWithRefusal(longer: string, shorter: string): boolean {
  const answers = shorter.replace(/\(closed\)$/, '');
  if (answers === '' || answers === shorter || !longer.startsWith(answers)) return false;
  return /^HTTP\/1\.1 400 .*\(closed\)$/s.test(longer.slice(answers.length));
}

/** Everything a caller was told, and whether it was let go. */
function toldOn(socket: TestSocket): string {
  const isClosed = socket.writableEnded || socket.destroyed;
  return `${normalised(socket.written)}${isClosed ? '(closed)' : '(open)'}`;
}

/** Heads with their names in lower case and in order, without the time. */
function normalised(text: string): string {
  return text.replaceAll(/HTTP\/1\.1 \d[\s\S]*?\r\n\r\n/g, (head) => {
    const [status, ...lines] = head.trimEnd().split('\r\n');
    const fields = lines.map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()));
    const told = fields.filter((line) => !line.startsWith('date:')).sort();
    return `${[status, ...told].join('\n')}\n\n`;
  });
}

/** Every other request ends in an error that nobody reads: where it was made takes a sixth of the time to find out. */
function withoutTraces(): Disposable {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  return {
    [Symbol.dispose]() {
      Error.stackTraceLimit = before;
    },
  };
}

test('both lanes tell a caller the same, and have seen the same of its request', {
  timeout: 3_600_000,
}, async () => {
  const seed = Number(process.env['HEADGATE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
  const plain = new Lane('plain');
  const node = new Lane('node');
  const different: string[] = [];
  using _ = withoutTraces();
  for (let done = 0; done < count && different.length < 5; done += batchSize) {
    const cases = Array.from({ length: batchSize }, (_, place) => fuzzCase(seed + done + place));
    const [told, expected] = [await plain.take(cases), await node.take(cases)];
    for (const [place, { seed: own, pieces }] of cases.entries()) {
      const [mine = '', theirs = ''] = [told[place], expected[place]];
      if (mine === theirs || isRefusedLater(mine, theirs)) continue;
      const text = pieces.map((piece) => JSON.stringify(piece.toString('latin1'))).join(' | ');
      different.push(`HEADGATE_FUZZ_SEED=${own}\n${text}\nplain:\n${mine}\nnode:\n${theirs}`);
    }
  }
  console.log(`${count} requests from seed ${seed}; ${plain.plain} read by the plain lane itself`);
  expect(different.join('\n\n')).toBe('');
  // A lane that gave everything away would agree, too.
  expect(plain.plain).toBeGreaterThan(count / 5);
});

test('the same over real sockets', { timeout: 60_000 }, async () => {
  await using plain = await openTestPort('plain', { headerNames });
  await using node = await openTestPort('node', { headerNames });
  const cases = Array.from({ length: isSlow ? 5000 : 300 }, (_, place) => fuzzCase(place));
  for (let done = 0; done < cases.length; done += 300) {
    const batch = cases.slice(done, done + 300);
    const [told, expected] = await Promise.all(
      [plain.api, node.api].map((api) =>
        Promise.all(batch.map(({ pieces }) => converse(api, pieces, 400, 3000))),
      ),
    );
    for (const [place, { seed }] of batch.entries()) {
      const [mine = '', theirs = ''] = [told, expected].map((heard) => heardText(heard?.[place]));
      if (!isRefusedLater(mine, theirs)) expect({ seed, told: mine }).toEqual({ seed, told: theirs });
    }
  }
});

function heardText(heard: Heard | undefined): string {
  return heard === undefined ? '' : `${normalised(heard.text)}${heard.isClosed ? '(closed)' : '(open)'}`;
}

import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Watchdog } from '../call/watchdog.ts';
import { uncounted } from '../ports/data-plane.ts';
import { type Api, createPort, openPort, type Port, type PortOptions, sweepOften } from './api.ts';
import type { Departure, Exchange } from './exchange.ts';

/** One request as a handler saw it: whatever a lane could misread. */
export interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As `digestOf` tells it, or the code of the fault in its place. */
  readonly body: string;
}

const bodyBytesMax = 4 * 1024 * 1024;
export const testClock = { now: () => Date.now(), monotonic: () => performance.now() };

export interface TestPortOptions extends Partial<PortOptions> {
  /** Names of the headers that are looked at. */
  readonly headerNames?: readonly string[];
  /** Takes the place of the answer. */
  readonly answer?: (exchange: Exchange) => void;
  readonly onBody?: (body: Uint8Array, exchange: Exchange) => void;
  readonly departure?: Departure;
  readonly limits?: { readonly stallMs: number; readonly callMs: number };
}

/** A port that answers every request with what it saw of it, before it listens. */
export function createTestPort(
  lane: PortOptions['lane'],
  options: TestPortOptions,
  watchdog: Watchdog,
  seen: Seen[],
): Port {
  return createPort(
    {
      lane,
      headerBytesMax: 16_384,
      keepAliveMs: 5000,
      headersMs: 5000,
      bodyMs: 5000,
      connectionsMax: 10_000,
      ...options,
    },
    {
      clock: testClock,
      watchdog,
      limits: options.limits ?? { stallMs: 5000, callMs: 5000 },
      observer: { refused: () => undefined },
      random: { next: () => 0.5, traceId: () => '0'.repeat(32) },
      departure: options.departure ?? { isLeaving: false, isDraining: false },
    },
    (exchange, expectation) => {
      if (options.answer !== undefined) options.answer(exchange);
      else if (expectation === null || expectation === '100-continue') echo(exchange, options, seen);
      else exchange.send(417, [], Buffer.from(''));
    },
  );
}

/** The same, listening. */
export interface TestPort extends AsyncDisposable {
  readonly api: Api;
  readonly seen: readonly Seen[];
}

export async function openTestPort(
  lane: PortOptions['lane'],
  options: TestPortOptions = {},
): Promise<TestPort> {
  const watchdog = new Watchdog(testClock);
  const seen: Seen[] = [];
  const port = createTestPort(lane, options, watchdog, seen);
  const endSweeping = sweepOften(watchdog, testClock, 20);
  const api = await openPort(port, { host: '127.0.0.1', port: 0 });
  return {
    api,
    seen,
    async [Symbol.asyncDispose]() {
      endSweeping();
      await api.close();
    },
  };
}

/** GET of this path is answered by its head alone, as lists are; everything else when its body has come. */
const listPath = '/list';

function echo(exchange: Exchange, { headerNames = [], onBody }: TestPortOptions, seen: Seen[]): void {
  exchange.address('completions', ['x-trace-id', '0']);
  const answer = (status: number, body: string): void => {
    const { method, target } = exchange;
    const headers = Object.fromEntries(headerNames.map((name) => [name, exchange.header(name)]));
    seen.push({ method, target, headers, body });
    const text = `${method} ${target} ${body}`;
    const told = headerNames.length === 0 ? text : `${text} ${JSON.stringify(headers)}`;
    exchange.send(status, ['content-type', 'text/plain'], Buffer.from(told));
  };
  if (exchange.target === listPath) {
    answer(200, '');
    return;
  }
  exchange.takeBody(
    {
      onBody: (body, loan) => {
        if (onBody !== undefined) return onBody(body, exchange);
        answer(200, digestOf(body));
        loan.giveBack();
      },
      onNoBody: ({ status, code }) => answer(status, code),
    },
    bodyBytesMax,
    uncounted,
  );
}

/** A short body itself, a long one by its length and hash. */
export function digestOf(body: Uint8Array): string {
  if (body.length < 64) return Buffer.from(body).toString('latin1');
  return `${body.length}:${createHash('sha256').update(body).digest('hex').slice(0, 16)}`;
}

export interface Heard {
  readonly text: string;
  readonly isClosed: boolean;
}

/**
 * Sends pieces one after another, each in a packet of its own; resolves when the port closes, or says no more for so long.
 * Before it has said anything it is given `patienceMs`, since the machine may be busy.
 */
export function converse(
  { origin }: Api,
  pieces: readonly (string | Uint8Array)[],
  silenceMs: number,
  patienceMs = silenceMs,
): Promise<Heard> {
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(new URL(origin).port), '127.0.0.1');
    let text = '';
    let silence: NodeJS.Timeout | undefined;
    const finish = (isClosed: boolean): void => {
      clearTimeout(silence);
      socket.destroy();
      resolve({ text, isClosed });
    };
    const wait = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => finish(false), text === '' ? patienceMs : silenceMs);
    };
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (piece: string) => {
      text += piece;
      wait();
    });
    socket
      .on('error', () => undefined)
      .on('close', () => finish(true))
      .on('end', () => finish(true));
    void sendAll(socket, pieces).then(wait);
  });
}

async function sendAll(socket: Socket, pieces: readonly (string | Uint8Array)[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)));
  }
}

import { quantile } from '../harness/statistics.ts';
import { callPath, modelName } from './fixed-answer.ts';
import type { FixedUpstream } from './fixed-upstream.ts';
import { received, type SocketLoop, type SocketOwner } from './sockets.ts';

/** Nothing that is measured takes this long to answer. */
const silenceMsMax = 20_000;

/** The thread that makes load and answers it. It never sleeps while something is measured: a sleeping peer is woken by whoever
 * writes to it, and on a virtual machine that takes 7 µs of the writer's time. Across a network nobody pays it. */
export class LoadMachine {
  readonly loop: SocketLoop;
  readonly upstream: FixedUpstream;

  constructor(loop: SocketLoop, upstream: FixedUpstream) {
    this.loop = loop;
    this.upstream = upstream;
  }

  runWhile(goesOn: (nowMs: number) => boolean): void {
    while (goesOn(performance.now())) {
      this.loop.turn();
      this.upstream.feed();
    }
  }

  runFor(durationMs: number): void {
    const endMs = performance.now() + durationMs;
    this.runWhile((nowMs) => nowMs < endMs);
  }

  /** Serves what comes while this process does something else; until the returned function is called. */
  serveBeside(): () => void {
    const timer = setInterval(() => this.loop.turn(), 2);
    return () => clearInterval(timer);
  }
}

/** The yield of one window of closed-loop load. */
export interface LoadWindow {
  readonly requests: number;
  readonly durationMs: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

/** A window ends with the first of its bounds. */
export interface LoadBounds {
  readonly durationMs: number;
  /** Calls, give or take those under way. */
  readonly callsMax?: number;
}

/** Kept-alive connections to one server, each of which sends its next request when the answer to the one before is complete. */
export class Callers {
  readonly #machine: LoadMachine;
  readonly #callers: readonly Caller[];

  /** With several requests a connection takes them in turn. */
  constructor(machine: LoadMachine, port: number, requests: readonly Buffer[], concurrency: number) {
    this.#machine = machine;
    this.#callers = Array.from(
      { length: concurrency },
      (_, index) => new Caller(machine.loop, port, requests, index),
    );
  }

  /** Throws when a connection breaks or an answer is anything but 200. */
  window({ durationMs, callsMax = Number.POSITIVE_INFINITY }: LoadBounds): LoadWindow {
    const startedAt = performance.now();
    const run: CallRun = { endMs: startedAt + durationMs, callsMax, latenciesUs: [], busy: 0 };
    for (const caller of this.#callers) caller.begin(run);
    const givesUpAt = run.endMs + silenceMsMax;
    this.#machine.runWhile((nowMs) => {
      if (nowMs > givesUpAt) throw new Error(`${run.busy} calls were never answered.`);
      return run.busy > 0;
    });
    const endedAt = performance.now();
    return {
      requests: run.latenciesUs.length,
      durationMs: endedAt - startedAt,
      p50Us: quantile(run.latenciesUs, 0.5),
      p99Us: quantile(run.latenciesUs, 0.99),
    };
  }

  close(): void {
    for (const caller of this.#callers) caller.close();
  }
}

interface CallRun {
  readonly endMs: number;
  readonly callsMax: number;
  readonly latenciesUs: number[];
  busy: number;
}

class Caller implements SocketOwner {
  readonly #loop: SocketLoop;
  readonly #port: number;
  readonly #requests: readonly Buffer[];
  #next: number;
  #fd: number | null = null;
  #run: CallRun | null = null;
  #sentAtMs = 0;
  #unsent: Buffer | null = null;
  #bytesLeft = 0;
  /** Length of the last answer, of which the next one is nearly always a repetition. */
  #knownBytes = 0;

  constructor(loop: SocketLoop, port: number, requests: readonly Buffer[], first: number) {
    this.#loop = loop;
    this.#port = port;
    this.#requests = requests;
    this.#next = first;
  }

  begin(run: CallRun): void {
    if (this.#fd === null) {
      this.#fd = this.#loop.connect(this.#port);
      this.#loop.watch(this.#fd, this);
    }
    this.#run = run;
    run.busy++;
    this.#send();
  }

  close(): void {
    if (this.#fd !== null) this.#loop.close(this.#fd);
    this.#fd = null;
  }

  onReadable(): void {
    if (this.#fd === null) return;
    const length = this.#loop.read(this.#fd);
    if (length === null) return;
    if (length === 0) return this.#hungUp();
    if (this.#bytesLeft === 0) this.#bytesLeft = this.#answerBytes(length);
    this.#bytesLeft -= length;
    if (this.#bytesLeft === 0) this.#answered();
  }

  onWritable(): void {
    if (this.#unsent !== null) this.#write(this.#unsent);
  }

  #send(): void {
    this.#sentAtMs = performance.now();
    const request = this.#requests[this.#next++ % this.#requests.length];
    if (request !== undefined) this.#write(request);
  }

  #write(bytes: Buffer): void {
    if (this.#fd === null) return;
    const sent = this.#loop.write(this.#fd, bytes) ?? bytes.length;
    const wasWaiting = this.#unsent !== null;
    this.#unsent = sent < bytes.length ? bytes.subarray(sent) : null;
    if (wasWaiting !== (this.#unsent !== null)) this.#loop.wantsRoom(this.#fd, this.#unsent !== null);
  }

  #answered(): void {
    const run = this.#run;
    if (run === null) return;
    const nowMs = performance.now();
    run.latenciesUs.push((nowMs - this.#sentAtMs) * 1000);
    if (nowMs < run.endMs && run.latenciesUs.length < run.callsMax) {
      this.#send();
      return;
    }
    run.busy--;
    this.#run = null;
  }

  #hungUp(): void {
    this.close();
    if (this.#run !== null) throw new Error('The server closed a connection under a call.');
  }

  /** Bytes of an answer, head included. */
  #answerBytes(length: number): number {
    if (length === this.#knownBytes && received[9] === 0x32) return length;
    const headBytes = received.subarray(0, length).indexOf('\r\n\r\n') + 4;
    const head = received.toString('latin1', 0, headBytes);
    const bodyBytes = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (!head.startsWith('HTTP/1.1 200') || bodyBytes === undefined)
      throw new Error(`Unexpected answer: ${received.toString('latin1', 0, Math.min(length, 500))}`);
    this.#knownBytes = headBytes + Number(bodyBytes);
    return this.#knownBytes;
  }
}

/** The bytes of a call with the body given. */
export function requestOf(key: string, body: string): Buffer {
  return Buffer.from(
    `POST ${callPath} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\nuser-agent: headgate-bench\r\n` +
      `content-type: application/json\r\naccept: */*\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** A body of about the given size, nearly all of it one text. */
export function textBody(bodyBytes: number, { stream = false, model = modelName } = {}): string {
  const words = 'The quick brown fox jumps over the lazy dog. ';
  const overhead = 110;
  const content = words.repeat(Math.ceil(bodyBytes / words.length)).slice(0, bodyBytes - overhead);
  return JSON.stringify({ model, stream, messages: [{ role: 'user', content }] });
}

/** A body of about the given size, nearly all of it structure: the many small members of an agent's tools. */
export function denseBody(bodyBytes: number): string {
  const tools: unknown[] = [];
  for (let bytes = 300; bytes < bodyBytes; bytes += JSON.stringify(tools.at(-1)).length + 1)
    tools.push(denseTool(tools.length));
  return JSON.stringify({
    model: modelName,
    stream: false,
    messages: [{ role: 'user', content: 'Go on.' }],
    tools,
  });
}

function denseTool(number: number) {
  const property = { type: 'string', enum: ['a', 'b', 'c'], minLength: 1 };
  const properties = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`field_${index}`, property]),
  );
  const parameters = { type: 'object', properties, required: ['field_0', 'field_1'] };
  return { type: 'function', function: { name: `tool_${number}`, description: 'One of many.', parameters } };
}

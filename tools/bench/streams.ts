import { cpuTimeUs, residentKib } from '../harness/process-usage.ts';
import { median, quantile } from '../harness/statistics.ts';
import { frameMark, stampDigits } from './fixed-answer.ts';
import { type LoadMachine, requestOf, textBody } from './load.ts';
import type { ServerName, ServerUnderTest } from './servers.ts';
import { received, type SocketLoop, type SocketOwner } from './sockets.ts';

/** Frames per second on every stream. */
export const frameRate = 50;

/** One server with a number of concurrent streams; medians of the rounds. */
export interface StreamFigures {
  readonly server: ServerName;
  readonly streams: number;
  /** Frames that arrived, of those that an ideal upstream would have sent. */
  readonly shareOfIdeal: number;
  /** Frames that the upstream put into its sockets, of the same: below 1 the load itself was late or was pushed back. */
  readonly shareSent: number;
  /** From the making of a frame in the upstream to its arrival at the caller. */
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  /** From a call to the first bytes of its answer, while streams are opened and those before it run. */
  readonly firstFrameMedianMs: number;
  readonly firstFrameWorstMs: number;
  readonly cpuUsPerFrame: number | null;
  /** Growth of resident memory over the idle server, by stream: the most of all rounds. */
  readonly kibPerStream: number | null;
}

export interface StreamPlan {
  readonly streams: number;
  readonly rounds: number;
  /** Over which the streams are opened, evenly. */
  readonly openingMs: number;
  readonly settleMs: number;
  readonly durationMs: number;
}

const warmUpPlan = { streams: 400, openingMs: 1_000, durationMs: 1_500 };

type StreamWindow = Omit<StreamFigures, 'server' | 'streams'>;

/** Resident memory of each server, in KiB; taken when it is warm and has not seen a stream. */
export function idleMemory(servers: readonly ServerUnderTest[]): ReadonlyMap<ServerName, number> {
  return new Map(
    servers.flatMap(({ name, pid }) => (pid === null ? [] : [[name, residentKib(pid)] as const])),
  );
}

/** Holds the same number of streams open through each server in turn, again and again. */
export function compareStreams(
  machine: LoadMachine,
  servers: readonly ServerUnderTest[],
  plan: StreamPlan,
  idleKib: ReadonlyMap<ServerName, number>,
): StreamFigures[] {
  const measured = servers.map((server) => ({ server, windows: [] as StreamWindow[] }));
  // Code that streams is not that of whole answers, and is not compiled yet.
  for (const { port, key } of servers) holdStreams(machine, port, key, warmUpPlan);
  for (let round = 0; round < plan.rounds; round++) {
    for (const { server, windows } of measured)
      windows.push(loadStreams(machine, server, plan, idleKib.get(server.name) ?? 0));
  }
  return measured.map(({ server, windows }) => figures(server, plan.streams, windows));
}

function figures(
  { name: server, pid }: ServerUnderTest,
  streams: number,
  windows: readonly StreamWindow[],
): StreamFigures {
  const middle = (of: (window: StreamWindow) => number | null) => median(windows.map((one) => of(one) ?? 0));
  return {
    server,
    streams,
    shareOfIdeal: middle((one) => one.shareOfIdeal),
    shareSent: middle((one) => one.shareSent),
    delayP50Ms: middle((one) => one.delayP50Ms),
    delayP99Ms: middle((one) => one.delayP99Ms),
    firstFrameMedianMs: middle((one) => one.firstFrameMedianMs),
    firstFrameWorstMs: middle((one) => one.firstFrameWorstMs),
    cpuUsPerFrame: pid === null ? null : middle((one) => one.cpuUsPerFrame),
    kibPerStream: pid === null ? null : Math.max(0, ...windows.map((one) => one.kibPerStream ?? 0)),
  };
}

function loadStreams(
  machine: LoadMachine,
  server: ServerUnderTest,
  plan: StreamPlan,
  idleKib: number,
): StreamWindow {
  const sink = new FrameSink();
  const request = requestOf(server.key, textBody(1_500, { stream: true }));
  const callers = openAll(machine, plan, () => new StreamCaller(machine.loop, server.port, request, sink));
  machine.runFor(plan.settleMs);
  const [startedAt, cpuBefore, sentBefore] = [
    performance.now(),
    server.pid === null ? 0 : cpuTimeUs(server.pid),
    machine.upstream.framesSent,
  ];
  sink.restart();
  machine.runFor(plan.durationMs);
  const ideal = (plan.streams * frameRate * (performance.now() - startedAt)) / 1000;
  const cpuUs = server.pid === null ? 0 : cpuTimeUs(server.pid) - cpuBefore;
  const window = {
    shareOfIdeal: sink.frames / ideal,
    shareSent: (machine.upstream.framesSent - sentBefore) / ideal,
    delayP50Ms: quantile(sink.delaysMs, 0.5),
    delayP99Ms: quantile(sink.delaysMs, 0.99),
    ...firstFrames(callers),
    cpuUsPerFrame: cpuUs / sink.frames,
    kibPerStream: server.pid === null ? 0 : (residentKib(server.pid) - idleKib) / plan.streams,
  };
  for (const caller of callers) caller.close();
  closeAll(machine);
  return window;
}

/** The same load without an account of it. */
export function holdStreams(
  machine: LoadMachine,
  port: number,
  key: string,
  plan: Pick<StreamPlan, 'streams' | 'openingMs' | 'durationMs'>,
): void {
  const sink = new FrameSink();
  const request = requestOf(key, textBody(1_500, { stream: true }));
  const callers = openAll(machine, plan, () => new StreamCaller(machine.loop, port, request, sink));
  machine.runFor(plan.durationMs);
  for (const caller of callers) caller.close();
  closeAll(machine);
}

/** Opens the streams one after the other, each when its time has come, while those before it run. */
function openAll(
  machine: LoadMachine,
  plan: Pick<StreamPlan, 'streams' | 'openingMs'>,
  open: () => StreamCaller,
): StreamCaller[] {
  const callers: StreamCaller[] = [];
  const startedAt = performance.now();
  machine.runWhile((nowMs) => {
    const due = Math.min(plan.streams, ((nowMs - startedAt) / plan.openingMs) * plan.streams);
    if (callers.length < due) callers.push(open());
    return callers.length < plan.streams;
  });
  return callers;
}

function firstFrames(callers: readonly StreamCaller[]) {
  // A stream that has not begun has waited at least until now.
  const now = performance.now();
  const waits = callers.map(({ openedAtMs, firstAtMs }) => (firstAtMs ?? now) - openedAtMs);
  return { firstFrameMedianMs: median(waits), firstFrameWorstMs: Math.max(...waits) };
}

/** Lets the server find out that its callers have gone, and hang up on the upstream. */
function closeAll(machine: LoadMachine): void {
  const givesUpAt = performance.now() + 5_000;
  machine.runWhile((nowMs) => machine.upstream.openStreams > 0 && nowMs < givesUpAt);
  machine.runFor(200);
}

/** Every so many reads, one time stamp is looked at. */
const sampleEvery = 8;
const markByte = frameMark.charCodeAt(0);

class FrameSink {
  frames = 0;
  delaysMs: number[] = [];
  #reads = 0;

  restart(): void {
    this.frames = 0;
    this.delaysMs = [];
  }

  /** Counts frames by their marks: how a server cuts its chunks is its own affair. */
  receive(length: number): void {
    // Stops the search where the bytes of this read end.
    received[length] = markByte;
    let at = received.indexOf(markByte);
    if (at < length && this.#reads++ % sampleEvery === 0) this.#sample(at + 1, length);
    while (at < length) {
      this.frames++;
      at = received.indexOf(markByte, at + 1);
    }
  }

  #sample(start: number, length: number): void {
    if (start + stampDigits > length) return;
    this.delaysMs.push(
      performance.now() - Number(received.toString('latin1', start, start + stampDigits)) / 1000,
    );
  }
}

class StreamCaller implements SocketOwner {
  readonly openedAtMs = performance.now();
  firstAtMs: number | null = null;
  readonly #loop: SocketLoop;
  readonly #sink: FrameSink;
  readonly #fd: number;
  #isOpen = true;

  constructor(loop: SocketLoop, port: number, request: Buffer, sink: FrameSink) {
    this.#loop = loop;
    this.#sink = sink;
    this.#fd = loop.connect(port);
    loop.watch(this.#fd, this);
    loop.write(this.#fd, request);
  }

  onReadable(): void {
    if (!this.#isOpen) return;
    const length = this.#loop.read(this.#fd);
    if (length === null) return;
    if (length === 0) throw new Error('The server closed a stream.');
    if (this.firstAtMs === null) {
      if (received.toString('latin1', 0, 12) !== 'HTTP/1.1 200')
        throw new Error(`Unexpected answer: ${received.toString('latin1', 0, Math.min(length, 500))}`);
      this.firstAtMs = performance.now();
    }
    this.#sink.receive(length);
  }

  onWritable(): void {}

  close(): void {
    this.#isOpen = false;
    this.#loop.close(this.#fd);
  }
}

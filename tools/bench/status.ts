import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { serveHeadgate, temporaryDirectory } from '../../test/support/process.ts';
import { loadCore, pinRunning, serverCore } from '../harness/pinned-process.ts';
import { cpuTimeUs } from '../harness/process-usage.ts';
import { median, quantile } from '../harness/statistics.ts';

/**
 * Prints what it does to callers, and costs, that the status page is asked for so many times a second: windows with and without these
 * readers alternate, and the gateway has a core of its own.
 *
 *     npm run bench:status -- --rate 5000 --rounds 5 --seconds 4
 */
const connections = 64;
const callsPerSecond = 100;

/** A thread that asks for the page at an even pace, on connections that stay open. */
class Readers {
  readonly #worker: Worker;

  constructor(port: number, rate: number) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { port, rate } });
  }

  /** Answers that have come so far. */
  async answers(): Promise<number> {
    const answers = new Promise<number>((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage('count');
    return answers;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Every answer has its own length in its head; one that has come whole makes its connection free for the next question. */
function read(port: number, rate: number): void {
  const question = 'GET /status/en HTTP/1.1\r\nhost: 127.0.0.1\r\naccept-encoding: gzip\r\n\r\n';
  let [answers, asked] = [0, 0];
  const free: Socket[] = [];
  const open = (): void => {
    const socket = connect(port, '127.0.0.1', () => free.push(socket));
    let left = 0;
    socket.on('data', (bytes: Buffer) => {
      if (left === 0) {
        const end = bytes.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0);
        left = end + 4 + length;
      }
      left -= bytes.length;
      if (left > 0) return;
      left = 0;
      answers++;
      free.push(socket);
    });
    socket.on('error', () => open());
  };
  for (let n = 0; n < connections; n++) open();
  const since = performance.now();
  setInterval(() => {
    // Questions that found no free connection are made up for, a tenth of a second of them at the most.
    const due = ((performance.now() - since) / 1000) * rate;
    asked = Math.max(asked, due - rate / 10);
    for (; asked < due; asked++) {
      const socket = free.shift();
      if (socket === undefined) break;
      socket.write(question);
    }
  }, 1);
  parentPort?.on('message', () => parentPort?.postMessage(answers));
}

/** Calls at an even pace for some seconds; their times in milliseconds. */
async function callFor(seconds: number, origin: string, key: string): Promise<readonly number[]> {
  const times: number[] = [];
  const call = async (): Promise<void> => {
    const since = performance.now();
    const answer = await fetch(`${origin}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    times.push(performance.now() - since);
  };
  const running: Promise<void>[] = [];
  for (let n = 0; n < seconds * callsPerSecond; n++) {
    running.push(call());
    await setTimeout(1000 / callsPerSecond);
  }
  await Promise.all(running);
  return times;
}

interface Window {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answersPerSecond: number;
  /** CPU of the gateway, of a second of a core. */
  readonly cpuShare: number;
}

const medianOf = (windows: readonly Window[], figure: keyof Window) =>
  median(windows.map((each) => each[figure]));

async function main(rate: number, rounds: number, seconds: number): Promise<void> {
  using directory = temporaryDirectory();
  const environment = {
    HEADGATE_DEMO_HISTORY: 'true',
    HEADGATE_LOG_LEVEL: 'error',
    HEADGATE_CALL_LOG: 'false',
  };
  await using serving = await serveHeadgate({ dataDir: directory.path, environment });
  const { apiOrigin, consoleOrigin, keys } = serving.ready;
  const pid = serving.process.pid ?? 0;
  const key = keys?.completions ?? '';
  pinRunning(pid, serverCore);
  pinRunning(process.pid, loadCore);
  // The history is filled, and the page made, before anything is measured.
  await setTimeout(5_000);
  const page = await fetch(`${consoleOrigin}/status/en`).then((answer) => answer.arrayBuffer());
  const window = async (readers: Readers | null): Promise<Window> => {
    const [before, cpuBefore, since] = [(await readers?.answers()) ?? 0, cpuTimeUs(pid), performance.now()];
    const times = await callFor(seconds, apiOrigin, key);
    const tookMs = performance.now() - since;
    return {
      p50Ms: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
      answersPerSecond: ((((await readers?.answers()) ?? 0) - before) / tookMs) * 1000,
      cpuShare: (cpuTimeUs(pid) - cpuBefore) / 1000 / tookMs,
    };
  };
  const [alone, beside]: [Window[], Window[]] = [[], []];
  await callFor(2, apiOrigin, key);
  for (let round = 0; round < rounds; round++) {
    alone.push(await window(null));
    const readers = new Readers(Number(new URL(consoleOrigin).port), rate);
    await setTimeout(500);
    beside.push(await window(readers));
    await readers.stop();
  }
  const answers = medianOf(beside, 'answersPerSecond');
  const costUs = ((medianOf(beside, 'cpuShare') - medianOf(alone, 'cpuShare')) * 1e6) / answers;
  console.log(`status page, ${page.byteLength} bytes unpacked, medians of ${rounds} rounds of ${seconds} s`);
  console.log(
    `${Math.round(answers)} answers a second on ${connections} connections, ${costUs.toFixed(1)} µs of CPU each`,
  );
  for (const [name, windows] of [
    ['alone', alone],
    ['beside', beside],
  ] as const)
    console.log(
      `callers ${name}: p50 ${medianOf(windows, 'p50Ms').toFixed(2)} ms, p99 ${medianOf(windows, 'p99Ms').toFixed(2)} ms`,
    );
  const ratio = medianOf(beside, 'p99Ms') / medianOf(alone, 'p99Ms');
  console.log(`p99 of callers beside, of alone: ${ratio.toFixed(2)}`);
}

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      rate: { type: 'string', default: '5000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '4' },
    },
  });
  await main(Number(values.rate), Number(values.rounds), Number(values.seconds));
} else {
  const { port, rate } = workerData as { readonly port: number; readonly rate: number };
  read(port, rate);
}

import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { serveHeadgate, temporaryDirectory } from '../../test/support/process.ts';

// How many times a second the status page is answered, and what that does to callers: `npm run bench:status -- --seconds 10`.

const connections = 64;
const callsPerSecond = 100;

/** A thread that asks for the page over and over, on connections that stay open. */
class Hammer {
  readonly #worker: Worker;

  constructor(port: number) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { port } });
  }

  /** Ends it, and tells how many answers it had. */
  async stop(): Promise<number> {
    const answers = new Promise<number>((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage('stop');
    const count = await answers;
    await this.#worker.terminate();
    return count;
  }
}

/** Every answer has its own length in its head; one that has come whole is followed by the next question. */
function hammer(port: number): void {
  const question = 'GET /status/en HTTP/1.1\r\nhost: 127.0.0.1\r\naccept-encoding: gzip\r\n\r\n';
  let answers = 0;
  const sockets: Socket[] = [];
  const open = (): void => {
    const socket = connect(port, '127.0.0.1', () => socket.write(question));
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
      socket.write(question);
    });
    socket.on('error', () => open());
    sockets.push(socket);
  };
  for (let n = 0; n < connections; n++) open();
  parentPort?.on('message', () => {
    parentPort?.postMessage(answers);
    for (const socket of sockets) socket.destroy();
  });
}

/** Calls at an even pace for some seconds; their times in milliseconds, ascending. */
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
    await new Promise((resolve) => setTimeout(resolve, 1000 / callsPerSecond));
  }
  await Promise.all(running);
  return times.sort((a, b) => a - b);
}

const at = (times: readonly number[], share: number) =>
  (times[Math.floor(times.length * share)] ?? 0).toFixed(2);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } });
  const seconds = Number(values.seconds);
  using directory = temporaryDirectory();
  const environment = {
    HEADGATE_DEMO_HISTORY: 'true',
    HEADGATE_LOG_LEVEL: 'error',
    HEADGATE_CALL_LOG: 'false',
  };
  await using serving = await serveHeadgate({ dataDir: directory.path, environment });
  const { apiOrigin, consoleOrigin, keys } = serving.ready;
  const key = keys?.completions ?? '';
  // The history is filled, and the page made, before anything is measured.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await fetch(`${consoleOrigin}/status`).then((answer) => answer.arrayBuffer());
  await callFor(2, apiOrigin, key);
  const alone = await callFor(seconds, apiOrigin, key);
  const hammering = new Hammer(Number(new URL(consoleOrigin).port));
  const since = performance.now();
  const beside = await callFor(seconds, apiOrigin, key);
  const answers = (await hammering.stop()) / ((performance.now() - since) / 1000);
  console.log(`status page: ${Math.round(answers)} answers a second on ${connections} connections`);
  console.log(`callers alone:  p50 ${at(alone, 0.5)} ms, p99 ${at(alone, 0.99)} ms`);
  console.log(`callers beside: p50 ${at(beside, 0.5)} ms, p99 ${at(beside, 0.99)} ms`);
}

if (isMainThread) await main();
else hammer((workerData as { readonly port: number }).port);

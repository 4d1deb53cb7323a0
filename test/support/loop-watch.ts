import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a gateway's process before it: measures how long its event loop is held, and tells the longest hold since it was
 * last asked to each who connects. A hold is the processor time that its main thread has used between two looks at the clock:
 * what other processes take of a busy machine is not counted.
 */
const lookEveryMs = 1;

if (isMainThread) watch();

function watch(): void {
  let longestMs = 0;
  let before = { wall: performance.now(), worked: workedMs() };
  setInterval(() => {
    const now = { wall: performance.now(), worked: workedMs() };
    longestMs = Math.max(longestMs, Math.min(now.wall - before.wall, now.worked - before.worked));
    before = now;
  }, lookEveryMs).unref();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(String(longestMs));
    longestMs = 0;
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object' && address !== null) process.stderr.write(`loop-watch ${address.port}\n`);
  });
  server.unref();
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

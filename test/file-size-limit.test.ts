import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { startSimulatorWorker } from '@headgate/simulator';
import { expect, test, vi } from 'vitest';
import { configureDirectory, runCommand, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, exchange, type RawAnswer } from './support/raw-http.ts';

const limiter = '/usr/bin/prlimit';
const messages = [{ role: 'user', content: 'Hello.' }];
const models = { quick: 'sim-fast+tokens=2,ttft=1ms,rate=1000/s' };

test.runIf(existsSync(limiter))(
  'files that may not grow: 503, nothing acknowledged is lost, and calls are taken when they may',
  { timeout: 60_000 },
  async () => {
    const simulator = await startSimulatorWorker();
    await using _ = { [Symbol.asyncDispose]: () => simulator.close() };
    using directory = temporaryDirectory();
    const { key, options } = configureDirectory(directory.path, {
      channels: [{ id: 'simulated', origin: simulator.origin, models }],
    });
    await using serving = await serveHeadgate(options);
    const { apiOrigin, consoleOrigin } = serving.ready;
    const call = () => exchange(apiOrigin, chatRequest(key, { model: 'quick', messages }));
    const limit = (bytes: string) =>
      execFileSync(limiter, ['--pid', String(serving.process.pid), `--fsize=${bytes}:`]);
    const isReady = async () => (await fetch(`${consoleOrigin}/readyz`)).ok;
    const acknowledged: RawAnswer[] = [];
    // No byte of any file: the journal is what meets it first. None of the database beyond its first pages: then the feeder does.
    for (const [bytes, alarm] of [
      ['0', 'EFBIG'],
      ['70000', 'the store is not fed'],
    ] as const) {
      acknowledged.push(await call());
      const saidBefore = serving.process.stderr.length;
      limit(bytes);
      await vi.waitFor(
        async () => {
          const answer = await call();
          if (answer.status === 200) acknowledged.push(answer);
          expect(answer.status).toBe(503);
          expect(serving.process.stderr.slice(saidBefore)).toContain(alarm);
        },
        { timeout: 20_000, interval: 50 },
      );
      limit('unlimited');
      await vi.waitFor(async () => expect((await call()).status).toBe(200), {
        timeout: 10_000,
        interval: 200,
      });
      await vi.waitFor(async () => expect(await isReady()).toBe(true));
    }
    acknowledged.push(await call());
    expect(new Set(acknowledged.map(({ status }) => status))).toEqual(new Set([200]));
    serving.process.signal('SIGTERM');
    expect(await serving.process.ended).toMatchObject({ code: 0 });
    const verified = await runCommand(['ledger', 'verify', '--json'], options);
    expect(JSON.parse(verified.stdout)).toMatchObject({ findings: [] });
    const exported = await runCommand(['ledger', 'export'], options);
    for (const { headers } of acknowledged) expect(exported.stdout).toContain(headers.get('x-trace-id'));
  },
);

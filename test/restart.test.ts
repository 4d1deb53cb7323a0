import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SimulatorWorker, startSimulatorWorker } from '../packages/simulator/src/index.ts';
import {
  type ConfiguredDirectory,
  configureDirectory,
  runCommand,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, framesOf, type RawAnswer, RawConnection } from './support/raw-http.ts';
import { isSlow } from './support/slow-form.ts';

// Every test starts processes, and shares the machine with other tests that do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const models = { quick: 'sim-fast+tokens=2', unhurried: 'sim-fast+tokens=40,rate=20/s' };
const restarts = isSlow ? 5 : 2;

let simulator: SimulatorWorker;
beforeAll(async () => {
  simulator = await startSimulatorWorker();
});
afterAll(() => simulator.close());

const messages = [{ role: 'user', content: 'Tell me a story.' }];

/** A gateway of its own for one test, with its directory. */
async function openGateway() {
  await using opened = new AsyncDisposableStack();
  const directory = opened.use(temporaryDirectory());
  const configuration = { channels: [{ id: 'simulated', origin: simulator.origin, models }] };
  const configured = configureDirectory(directory.path, configuration);
  const serving = opened.use(await serveHeadgate({ ...configured.options, flags: ['--idle-timeout', '2s'] }));
  const everything = opened.move();
  return { configured, serving, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

/** Callers that go on until they are told to stop, and all the answers that they got. */
class Callers {
  readonly answers: RawAnswer[] = [];
  readonly streams: RawAnswer[] = [];
  /** Connections that were refused, reset or closed without an answer. */
  readonly failures: string[] = [];
  readonly #origin: string;
  readonly #key: string;
  #isOver = false;

  constructor({ ready }: ServingProcess, { key }: ConfiguredDirectory) {
    this.#origin = ready.apiOrigin;
    this.#key = key;
  }

  async #ask(connection: RawConnection, stream: boolean): Promise<RawAnswer> {
    connection.send(chatRequest(this.#key, { model: stream ? 'unhurried' : 'quick', stream, messages }));
    const answer = await connection.answer();
    if (answer.status !== 200 || !answer.isWhole)
      this.failures.push(`${stream ? 'a stream' : 'an answer'}: ${answer.status} ${answer.body.toString()}`);
    (stream ? this.streams : this.answers).push(answer);
    return answer;
  }

  /** One connection after the other, a call on each. */
  async #knock(stream: boolean): Promise<void> {
    while (!this.#isOver) {
      const connection = new RawConnection(this.#origin);
      await this.#ask(connection, stream);
      connection.close();
    }
  }

  /** One connection for as long as the gateway keeps it, with pauses. */
  async #stay(): Promise<void> {
    while (!this.#isOver) {
      const connection = new RawConnection(this.#origin);
      let isKept = true;
      while (isKept && !this.#isOver) {
        isKept = (await this.#ask(connection, false)).headers.get('connection') !== 'close';
        await delay(5);
      }
      connection.close();
    }
  }

  /** Connections that are opened all at once, and speak a moment later: most lie in the queue when they are taken over. */
  async #crowd(): Promise<void> {
    while (!this.#isOver) {
      const crowd = Array.from({ length: 40 }, () => new RawConnection(this.#origin));
      await Promise.all(
        crowd.map(async (connection) => {
          await this.#ask(connection, false);
          connection.close();
        }),
      );
    }
  }

  async during(work: () => Promise<void>): Promise<void> {
    const each = <Value>(count: number, make: () => Value) => Array.from({ length: count }, make);
    const all = Promise.all([
      ...each(2, () => this.#knock(false)),
      ...each(4, () => this.#knock(true)),
      ...each(4, () => this.#stay()),
      this.#crowd(),
    ]);
    await work();
    this.#isOver = true;
    await all;
  }
}

interface Restarted {
  readonly processId: number;
}

async function restart({ options }: ConfiguredDirectory) {
  const { code, stdout, stderr } = await runCommand(['restart', '--json'], options);
  return { code, stderr, said: stdout === '' ? null : (JSON.parse(stdout) as Restarted) };
}

async function entriesOf({ options }: ConfiguredDirectory): Promise<readonly { readonly status: string }[]> {
  const verified = await runCommand(['ledger', 'verify', '--json'], options);
  expect(JSON.parse(verified.stdout)).toMatchObject({ findings: [] });
  const exported = await runCommand(['ledger', 'export'], options);
  const lines = exported.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as { readonly status: string });
}

test('restarts under load refuse no connection, cut no stream, and write one entry for each call', async () => {
  await using gateway = await openGateway();
  const { configured, serving } = gateway;
  const callers = new Callers(serving, configured);
  const served = new Set<number>();
  await callers.during(async () => {
    for (let count = 0; count < restarts; count++) {
      const { code, said } = await restart(configured);
      expect(code).toBe(0);
      served.add(said?.processId ?? 0);
      await delay(300);
    }
  });
  expect(callers.failures).toEqual([]);
  expect(served.size).toBe(restarts);
  expect(callers.answers.length).toBeGreaterThan(40 * restarts);
  expect(callers.streams.length).toBeGreaterThan(restarts);
  for (const { body } of callers.streams) expect(framesOf(body).at(-1)).toBe('data: [DONE]\n\n');
  serving.process.signal('SIGTERM');
  expect(await serving.process.ended).toEqual({ code: 0, signal: null });
  const entries = await entriesOf(configured);
  expect(entries).toHaveLength(callers.answers.length + callers.streams.length);
  for (const { status } of entries) expect(status).toBe('complete');
});

test('a new process that cannot start changes nothing, and says why', async () => {
  await using gateway = await openGateway();
  const { configured, serving } = gateway;
  configured.write('settings: { ports: nowhere }');
  const token = readFileSync(join(configured.options.dataDir, 'operator-token'), 'utf8').trim();
  const response = await fetch(`${serving.ready.consoleOrigin}/api/v1/restart`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({
    code: 'not_restarted',
    detail: expect.stringContaining('headgate.yaml:1') as string,
  });
  await vi.waitFor(() => expect(serving.process.stderr).toContain('restart failed'));
  expect((await restart(configured)).code).toBe(3);
  const answer = await new RawConnection(serving.ready.apiOrigin)
    .send(chatRequest(configured.key, { model: 'quick', messages }))
    .answer();
  expect(answer.status).toBe(200);
});

test('a signal does the same; without its guardian nothing goes on', async () => {
  await using gateway = await openGateway();
  const { serving } = gateway;
  serving.process.signal('SIGUSR2');
  await vi.waitFor(() => expect(serving.process.stderr).toContain('another process serves'), {
    timeout: 30_000,
  });
  const health = `${serving.ready.consoleOrigin}/healthz`;
  expect((await fetch(health)).status).toBe(200);
  serving.process.signal('SIGKILL');
  await vi.waitFor(() => expect(fetch(health)).rejects.toThrow(), { timeout: 30_000, interval: 100 });
});

test.each([100, 400])('told to stop %i ms into a restart, all of it ends, and soon', async (laterMs) => {
  await using gateway = await openGateway();
  const { serving } = gateway;
  serving.process.signal('SIGUSR2');
  await delay(laterMs);
  serving.process.signal('SIGTERM');
  const stillRuns = delay(30_000, null, { ref: false });
  expect(await Promise.race([serving.process.ended, stillRuns])).toEqual({ code: 0, signal: null });
  await expect(fetch(`${serving.ready.consoleOrigin}/healthz`)).rejects.toThrow();
});

test('where none runs, the command says so', async () => {
  using directory = temporaryDirectory();
  const { code, stderr } = await runCommand(['restart'], { dataDir: directory.path });
  expect(code).toBe(4);
  expect(stderr).toContain('no gateway runs on');
});

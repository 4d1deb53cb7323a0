import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { Inspector, type Invocations } from './support/inspector.ts';
import { configureDirectory, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, RawConnection } from './support/raw-http.ts';

/**
 * How far a call may travel in our own code, from the bytes of its caller to the end of its answer: a whole answer, passed
 * through, on the main thread. They may only be lowered, or raised by a commit that says for what: the count for the status page takes
 * two files and two functions, and large answers that are read elsewhere one file and four functions.
 */
const filesMax = 82;
const functionsMax = 530;
const invocationsMax = 966;
const allocatedKibMax = 60;

/** The counts of the shorter run are taken from those of the longer one, so that starts and first times are in neither. */
const [fewCalls, manyCalls] = [10, 110];
/** Until functions are compiled, lists have grown and connections are open. */
const warmUpCalls = 150;
const idleMs = 500;

test('a passthrough call stays within its files, functions, invocations and bytes', {
  timeout: 60_000,
}, async () => {
  using directory = temporaryDirectory();
  const simulator = await startSimulatorWorker();
  const { key, options } = configureDirectory(directory.path, {
    channels: [{ id: 'simulated', origin: simulator.origin, models: { m: 'sim-fast+tokens=7' } }],
  });
  // The bounds are of the plain lane, whichever lane the tests around this one run on.
  const environment = {
    ...options.environment,
    HEADGATE_HTTP: 'plain',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
  };
  await using serving = await serveHeadgate({ ...options, environment, runsFiles: true });
  const connection = new RawConnection(serving.ready.apiOrigin);
  const body = { model: 'm', messages: [{ role: 'user', content: 'one two three' }] };
  const call = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++)
      expect(await connection.send(chatRequest(key, body)).answer()).toMatchObject({ status: 200 });
  };
  const inspector = await Inspector.connect(serving.process.stderr);
  await call(warmUpCalls);

  const idle = await countedFor(inspector, () => setTimeout(idleMs));
  const few = await countedFor(inspector, () => call(fewCalls));
  const many = await countedFor(inspector, () => call(manyCalls));
  const hops = hopsOf(few, many, idle);
  const bytes = await inspector.allocatedDuring(() => call(fewCalls));
  const moreBytes = await inspector.allocatedDuring(() => call(manyCalls));
  const allocatedKib = (moreBytes - bytes) / (manyCalls - fewCalls) / 1024;
  inspector.close();
  connection.close();
  await simulator.close();

  const figures = { files: hops.byFile.size, functions: hops.functions, invocations: hops.invocations };
  console.log(
    `a passthrough call: ${JSON.stringify({ ...figures, allocatedKib: Math.round(allocatedKib) })}`,
  );
  const travelled = [...hops.byFile].sort(([, a], [, b]) => b - a).map(([file, count]) => `${count} ${file}`);
  expect(figures.files, travelled.join('\n')).toBeLessThanOrEqual(filesMax);
  expect(figures.functions, travelled.join('\n')).toBeLessThanOrEqual(functionsMax);
  expect(figures.invocations, travelled.join('\n')).toBeLessThanOrEqual(invocationsMax);
  expect(allocatedKib).toBeLessThanOrEqual(allocatedKibMax);
  // A counter that counts nothing would pass for ever.
  expect(figures.files).toBeGreaterThan(5);
  expect(allocatedKib).toBeGreaterThan(1);
});

interface Counted {
  readonly invocations: Invocations;
  readonly tookMs: number;
}

async function countedFor(inspector: Inspector, work: () => Promise<void>): Promise<Counted> {
  const startedAt = performance.now();
  const invocations = await inspector.invocationsDuring(work);
  return { invocations, tookMs: performance.now() - startedAt };
}

/**
 * Counts functions that ran for at least every second call. What timers run goes by the clock: as much as ran while nobody called
 * is left out, since on a busy machine a call takes longer than from one tick to the next.
 */
function hopsOf(few: Counted, many: Counted, idle: Counted) {
  const byFile = new Map<string, number>();
  let functions = 0;
  let invocations = 0;
  const tickedShare = Math.max(0, many.tookMs - few.tookMs) / idle.tookMs;
  for (const [id, { file, count }] of many.invocations) {
    const ticked = (idle.invocations.get(id)?.count ?? 0) * tickedShare;
    const called = count - (few.invocations.get(id)?.count ?? 0) - ticked;
    const perCall = called / (manyCalls - fewCalls);
    if (perCall < 0.5) continue;
    functions += 1;
    invocations += perCall;
    byFile.set(file, (byFile.get(file) ?? 0) + Math.round(perCall));
  }
  return { functions, invocations: Math.round(invocations), byFile };
}

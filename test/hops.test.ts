import { expect, test } from 'vitest';
import { startSimulatorWorker } from '../packages/simulator/src/index.ts';
import { Inspector, type Invocations } from './support/inspector.ts';
import { configureDirectory, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, RawConnection } from './support/raw-http.ts';

/**
 * How far a call may travel in our own code, from the bytes of its caller to the end of its answer: a whole answer, passed
 * through, on the main thread. They may only be lowered.
 */
const filesMax = 79;
const functionsMax = 525;
const invocationsMax = 960;
const allocatedKibMax = 60;

/** The counts of the shorter run are taken from those of the longer one, so that starts and first times are in neither. */
const [fewCalls, manyCalls] = [10, 110];
/** Until functions are compiled, lists have grown and connections are open. */
const warmUpCalls = 150;

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
  await using serving = await serveHeadgate({ ...options, environment });
  const connection = new RawConnection(serving.ready.apiOrigin);
  const body = { model: 'm', messages: [{ role: 'user', content: 'one two three' }] };
  const call = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++)
      expect(await connection.send(chatRequest(key, body)).answer()).toMatchObject({ status: 200 });
  };
  const inspector = await Inspector.connect(serving.process.stderr);
  await call(warmUpCalls);

  const few = await inspector.invocationsDuring(() => call(fewCalls));
  const many = await inspector.invocationsDuring(() => call(manyCalls));
  const hops = hopsOf(few, many);
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

/** Counts functions that ran for at least every second call: the timers' own run less often. */
function hopsOf(few: Invocations, many: Invocations) {
  const byFile = new Map<string, number>();
  let functions = 0;
  let invocations = 0;
  for (const [id, { file, count }] of many) {
    const perCall = (count - (few.get(id)?.count ?? 0)) / (manyCalls - fewCalls);
    if (perCall < 0.5) continue;
    functions += 1;
    invocations += perCall;
    byFile.set(file, (byFile.get(file) ?? 0) + Math.round(perCall));
  }
  return { functions, invocations: Math.round(invocations), byFile };
}

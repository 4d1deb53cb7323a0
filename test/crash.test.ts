import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSimulatorWorker } from '../packages/simulator/src/index.ts';
import {
  configureDirectory,
  type ProcessOptions,
  runCommand,
  type ServingProcess,
  serveHeadgate,
  temporaryDirectory,
} from './support/process.ts';
import { chatRequest, exchange } from './support/raw-http.ts';
import { isSlow } from './support/slow-form.ts';

const kills = Number(process.env['HEADGATE_CRASH_KILLS'] ?? (isSlow ? 100 : 3));
const callers = 200;
/** A ledger is read whole after each kill, so a long loop goes on with a new one now and then. */
const killsPerLedger = 25;
/** Every so many kills the process is killed while another one takes its place. */
const killsPerRestart = 3;

/** Calls of every age when the process dies: over in a moment, just past their `open` row, and never to be finished. */
const models = {
  brief: 'sim-fast+tokens=3,ttft=30ms,rate=100/s',
  steady: 'sim-fast+tokens=9,rate=20/s',
  endless: 'sim-fast+tokens=2000,rate=20/s',
  rescued: 'sim-fast+tokens=9,rate=20/s',
};
/** A channel that comes first, and breaks off streams that the other one continues. */
const breaking = { rescued: `${models.rescued},fault=cut-mid-stream,share=30%` };
type ModelId = keyof typeof models;
const modelIds: readonly ModelId[] = ['brief', 'steady', 'endless', 'rescued'];

/** One call as its caller saw it. */
interface Sighting {
  readonly model: ModelId;
  readonly traceId: string | undefined;
  readonly sawEnd: boolean;
  /** A limit had no room for it. */
  readonly isRefused: boolean;
  /** Its end came from another channel than its beginning. */
  readonly wasRescued: boolean;
}

/** 200 callers, each with its next call as soon as one has ended, until the process is gone. */
class Load {
  readonly sightings: Sighting[] = [];
  /** Resolves once a call that had its `open` row has ended: older ones have theirs by then. */
  readonly underWay: Promise<void>;
  readonly over: Promise<unknown>;
  #declareUnderWay = (): void => {};

  constructor(origin: string, key: string) {
    this.underWay = new Promise((resolve) => {
      this.#declareUnderWay = resolve;
    });
    this.over = Promise.all(
      Array.from({ length: callers }, (_, index) =>
        this.#callOnAndOn(origin, key, modelIds[index % modelIds.length] ?? 'brief'),
      ),
    );
  }

  async #callOnAndOn(origin: string, key: string, model: ModelId): Promise<void> {
    const body = { model, stream: true, messages: [{ role: 'user', content: 'Tell me a story.' }] };
    for (;;) {
      const answer = await exchange(origin, chatRequest(key, body));
      const sawEnd = answer.body.includes('data: [DONE]');
      const wasRescued = answer.body.includes('"rescued":true');
      const isRefused = answer.status === 402 || answer.status === 429;
      const traceId = answer.headers.get('x-trace-id');
      this.sightings.push({ model, traceId, sawEnd, isRefused, wasRescued });
      if (model === 'steady' && sawEnd) this.#declareUnderWay();
      if (!answer.isWhole) return;
    }
  }
}

interface Entry {
  readonly traceId: string;
  readonly status: string;
  readonly chargeNanoUsd: string;
}

/** Kills a gateway at a moment nobody chose, with the one that may be taking its place. */
async function kill(serving: ServingProcess, key: string, restarts: boolean): Promise<Load> {
  const load = new Load(serving.ready.apiOrigin, key);
  await load.underWay;
  if (restarts) serving.process.signal('SIGUSR2');
  // A hand-over takes a second or two, in which either process serves, or both.
  await setTimeout(50 + Math.random() * (restarts ? 2_500 : 450));
  serving.process.killGroup();
  await load.over;
  await serving.process.ended;
  return load;
}

/** Holds what the ledger says against what callers saw. Returns how many of these calls are interrupted. */
async function expectNothingLost(
  sightings: readonly Sighting[],
  since: string,
  options: ProcessOptions,
): Promise<number> {
  const [verified, exported] = await Promise.all([
    runCommand(['ledger', 'verify', '--json'], options),
    runCommand(['ledger', 'export', '--from', since], options),
  ]);
  expect(JSON.parse(verified.stdout)).toMatchObject({ findings: [], counts: { open: 0 } });
  expect([verified.code, exported.code]).toEqual([0, 0]);
  const entries = exported.stdout
    .trimEnd()
    .split('\n')
    // Each line of an export is one entry.
    .map((line) => JSON.parse(line) as Entry);
  const durable = new Set(
    entries
      .filter(({ status, chargeNanoUsd }) => status === 'complete' && BigInt(chargeNanoUsd) > 0n)
      .map(({ traceId }) => traceId),
  );
  // What a killed process had leased is there for the next one: places enough for two rounds would not do for three.
  expect(sightings.filter(({ isRefused }) => isRefused)).toEqual([]);
  const lost = sightings.filter(({ traceId = '', sawEnd }) => sawEnd && !durable.has(traceId));
  expect(lost).toEqual([]);
  const interrupted = entries.filter(({ status }) => status === 'interrupted');
  expect(interrupted.filter(({ chargeNanoUsd }) => chargeNanoUsd !== '0')).toEqual([]);
  return interrupted.length;
}

/** How many calls there were, how many of their ends were seen, and how many were interrupted. */
interface Total {
  calls: number;
  ended: number;
  rescued: number;
  interrupted: number;
}

async function killOnOneLedger(times: number, total: Total): Promise<void> {
  using directory = temporaryDirectory();
  const simulator = await startSimulatorWorker();
  const { key, options } = configureDirectory(directory.path, {
    channels: [
      { id: 'breaking', origin: simulator.origin, models: breaking },
      { id: 'simulated', origin: simulator.origin, models },
    ],
    rescue: true,
    accounts: { default: { budgets: { month: '10000' }, limits: { requestsPerMinute: 1_000_000 } } },
    groups: {
      completions: {
        budgets: { day: '1000', total: '100000' },
        limits: { concurrency: 2 * callers, tokensPerMinute: 100_000_000 },
      },
    },
  });
  let serving = await serveHeadgate({ ...options, leadsGroup: true });
  try {
    for (let round = 0; round < times; round++) {
      const since = new Date().toISOString();
      const { sightings } = await kill(serving, key, round % killsPerRestart === 0);
      serving = await serveHeadgate({ ...options, leadsGroup: true });
      const interrupted = await expectNothingLost(sightings, since, options);
      expect(interrupted).toBeGreaterThan(0);
      total.calls += sightings.length;
      total.ended += sightings.filter(({ sawEnd }) => sawEnd).length;
      total.rescued += sightings.filter(({ sawEnd, wasRescued }) => sawEnd && wasRescued).length;
      total.interrupted += interrupted;
    }
  } finally {
    serving.process.killGroup();
    await serving.process.ended;
    await simulator.close();
  }
}

test(
  `loses no call whose end was seen, killed ${kills} times under ${callers} streams`,
  async () => {
    const total: Total = { calls: 0, ended: 0, rescued: 0, interrupted: 0 };
    for (let left = kills; left > 0; left -= killsPerLedger)
      await killOnOneLedger(Math.min(left, killsPerLedger), total);
    console.log(
      `crash loop: ${kills} kills, ${total.calls} calls, ${total.ended} ends seen (${total.rescued} of rescued streams) and none lost, ${total.interrupted} interrupted and unbilled`,
    );
  },
  60_000 + kills * 20_000,
);

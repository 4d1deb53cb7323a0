// Growth: a call of a model with many channels beside one with a single channel, and a gateway with many keys beside one with a single key.
import { hashKey } from '../../packages/gateway/src/admin/keys.ts';
import { keyHint } from '../../packages/gateway/src/catalogue/key.ts';
import { newKey, type RunningHeadgate, startConfigured } from '../harness/headgate-process.ts';
import { serverCore } from '../harness/pinned-process.ts';
import { differences, median, minimum } from '../harness/statistics.ts';
import { type CallPlan, measureWindow } from './calls.ts';
import { Callers, type LoadMachine, requestOf, textBody } from './load.ts';
import { MemoryProbe } from './memory-probe-reader.ts';
import { configurationHead, singleModelConfiguration } from './servers.ts';

/** Cost of one call with so many channels or keys. */
export interface GrowthFigures {
  readonly of: 'channels' | 'keys';
  readonly count: number;
  readonly cpuUsMin: number;
  readonly cpuUsMedian: number;
  /** Over a single one: the median of the rounds' differences. */
  readonly extraUs: number;
  /** Over a single one, of resident memory after a collection; null where both are in one process. */
  readonly extraMib: number | null;
}

export interface GrowthPlan extends CallPlan {
  readonly warmUpCalls: number;
  readonly warmUpMsMax: number;
  /** The first is what the others are compared with. */
  readonly counts: readonly number[];
}

const concurrency = 32;
const bodyBytes = 1_500;

interface Grown {
  readonly count: number;
  readonly pid: number;
  readonly callers: Callers;
  readonly residentMib: number | null;
}

/** One gateway with a model for every number of channels: two processes differ by more than some channels cost. */
export async function compareChannels(machine: LoadMachine, plan: GrowthPlan): Promise<GrowthFigures[]> {
  const key = newKey();
  const gateway = await startConfigured({
    yaml: channelsConfiguration(machine.upstream.port, plan.counts),
    environment: { HEADGATE_BENCH_KEY: key },
    core: serverCore,
  });
  try {
    const grown = plan.counts.map((count) => {
      const request = requestOf(key, textBody(bodyBytes, { model: modelWith(count) }));
      const callers = new Callers(machine, gateway.port, [request], concurrency);
      return { count, pid: gateway.pid, callers, residentMib: null };
    });
    // Twice, since code that was compiled for one is compiled again for the others.
    for (const { callers } of [...grown, ...grown])
      callers.window({ durationMs: plan.warmUpMsMax / 2, callsMax: plan.warmUpCalls / 2 });
    return compare('channels', machine, grown, plan);
  } finally {
    await gateway.stop();
  }
}

/** Two gateways, since keys are those of a whole process; every call comes with another key. */
export async function compareKeys(machine: LoadMachine, plan: GrowthPlan): Promise<GrowthFigures[]> {
  const keys = Array.from({ length: Math.max(...plan.counts) }, newKey);
  const gateways: RunningHeadgate[] = [];
  const grown: Grown[] = [];
  try {
    for (const count of plan.counts) {
      const probe = new MemoryProbe(`keys-${count}`);
      const gateway = await startConfigured({
        yaml: keysConfiguration(machine.upstream.port, keys.slice(0, count)),
        environment: { HEADGATE_PEPPER: `1:${pepperText}`, ...probe.environment },
        core: serverCore,
        nodeOptions: probe.nodeOptions,
      });
      gateways.push(gateway);
      const requests = keys.slice(0, count).map((key) => requestOf(key, textBody(bodyBytes)));
      const callers = new Callers(machine, gateway.port, requests, concurrency);
      callers.window({ durationMs: plan.warmUpMsMax, callsMax: plan.warmUpCalls });
      const { resident } = await probe.read(gateway.pid);
      grown.push({ count, pid: gateway.pid, callers, residentMib: resident / 2 ** 20 });
    }
    return compare('keys', machine, grown, plan);
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
}

function compare(
  of: GrowthFigures['of'],
  machine: LoadMachine,
  grown: readonly Grown[],
  plan: GrowthPlan,
): GrowthFigures[] {
  const cpuUs = grown.map((): number[] => []);
  for (let round = 0; round < plan.windows; round++) {
    for (const [index, { pid, callers }] of grown.entries()) {
      const window = measureWindow(machine, pid, callers, plan);
      cpuUs[index]?.push(window.cpuUs / window.requests);
    }
  }
  return grown.map(({ count, callers, residentMib }, index) => {
    callers.close();
    const its = cpuUs[index] ?? [];
    const single = grown[0]?.residentMib ?? null;
    return {
      of,
      count,
      cpuUsMin: minimum(its),
      cpuUsMedian: median(its),
      extraUs: median(differences(its, cpuUs[0] ?? its)),
      extraMib: residentMib === null || single === null ? null : residentMib - single,
    };
  });
}

/** All names have one length, so that bodies have, too. */
function modelWith(channels: number): string {
  return `bench-${String(channels).padStart(4, '0')}`;
}

function channelsConfiguration(upstreamPort: number, counts: readonly number[]): string {
  const models = counts.map(modelWith);
  const channels = counts.flatMap((count) =>
    Array.from(
      { length: count },
      (_, index) =>
        `  of-${count}-${index}: { provider: bench, allowPrivate: true, models: [${modelWith(count)}] }`,
    ),
  );
  return `${configurationHead(upstreamPort)}
models:
${models.map((model) => `  ${model}: {}`).join('\n')}
prices:
${models.map((model) => `  ${model}: { input: "1.25", cacheRead: "0.125", output: "10" }`).join('\n')}
channels:
${channels.join('\n')}
groups:
  bench: { platform: completions }
keys:
  bench: { group: bench, secret: { environment: HEADGATE_BENCH_KEY } }
`;
}

const pepperText = 'a-pepper-of-the-benchmark-and-of-nothing-else';
const pepper = { version: 1, secret: new TextEncoder().encode(pepperText) };

/** Declares the keys by their hashes, as an export does: no variable each, which would lie in the memory that is measured. */
function keysConfiguration(upstreamPort: number, keys: readonly string[]): string {
  const lines = keys.map(
    (key, index) =>
      `  key-${index}: { group: bench, secret: { hash: ${hashKey(key, pepper)}, hint: "${keyHint(key)}" } }`,
  );
  return `${singleModelConfiguration(upstreamPort)}
keys:
${lines.join('\n')}
`;
}

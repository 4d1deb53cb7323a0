import { connect, type Socket } from 'node:net';
import { newKey, type RunningHeadgate, startConfigured } from '../harness/headgate-process.ts';
import { serverCore } from '../harness/pinned-process.ts';
import { cpuTimeUs } from '../harness/process-usage.ts';
import { minimum } from '../harness/statistics.ts';
import { type LaneProtocol, LaneUpstream, upstreamPaths } from './lane-upstream.ts';
import { requestBody } from './lane-words.ts';
import { stayAwake } from './stay-awake.ts';

/** From whom to whom: the same protocol twice is the passthrough lane. */
export interface LaneCase {
  readonly surface: LaneProtocol;
  readonly upstream: LaneProtocol;
}

export interface LanePlan {
  readonly cases: readonly LaneCase[];
  readonly rounds: number;
  /** Calls with 100 KB in every lane before the first round, to have its code compiled. */
  readonly warmUpCalls: number;
  /** Calls with 100 KB in a round, one after the other. */
  readonly calls: number;
  /** Streams in a round, side by side, and the frames of content in each. */
  readonly streams: number;
  readonly frames: number;
}

/** The gateway's cost of a lane, in the cheapest round. */
export interface LaneFigures extends LaneCase {
  /** CPU of one call with a body of 100 KB. */
  readonly requestCpuUs: number;
  /** Over the passthrough lane of the same surface: it gets the same bytes. Null where that was not measured. */
  readonly requestRatio: number | null;
  /** CPU of one stream, from its request to its end. */
  readonly streamCpuUs: number;
  /** Over the passthrough lane of the same upstream: it relays the same bytes. */
  readonly streamRatio: number | null;
}

const largeBytes = 100_000;
const smallBytes = 2_000;

/** Calls one gateway in every lane in turn, again and again, when the code of all of them is compiled. */
export async function compareLanes(plan: LanePlan): Promise<LaneFigures[]> {
  const upstream = await LaneUpstream.start(plan.frames);
  const maySleep = stayAwake();
  const keys = { completions: newKey(), messages: newKey(), native: newKey() };
  const gateway = await startConfigured({
    yaml: laneConfiguration(upstream.port),
    environment: {
      HEADGATE_BENCH_COMPLETIONS: keys.completions,
      HEADGATE_BENCH_MESSAGES: keys.messages,
      HEADGATE_BENCH_NATIVE: keys.native,
    },
    core: serverCore,
  });
  const lanes = plan.cases.map((one) => ({ one, requestUs: [] as number[], streamUs: [] as number[] }));
  const measure = (one: LaneCase, calls: number) =>
    measureLane(gateway, one, keys[platformOf(one.surface)], { ...plan, calls });
  for (const { one } of lanes) await measure(one, plan.warmUpCalls);
  for (let round = 0; round < plan.rounds; round++) {
    for (const { one, requestUs, streamUs } of lanes) {
      const [request, stream] = await measure(one, plan.calls);
      requestUs.push(request);
      streamUs.push(stream);
    }
  }
  await gateway.stop();
  upstream.stop();
  maySleep();
  return figures(
    lanes.map(({ one, requestUs, streamUs }) => ({
      ...one,
      requestCpuUs: minimum(requestUs),
      streamCpuUs: minimum(streamUs),
    })),
  );
}

function figures(measured: readonly Omit<LaneFigures, 'requestRatio' | 'streamRatio'>[]): LaneFigures[] {
  const passthrough = (id: LaneProtocol) =>
    measured.find(({ surface, upstream }) => surface === id && upstream === id) ?? null;
  return measured.map((lane) => {
    const sameRequest = passthrough(lane.surface)?.requestCpuUs ?? null;
    const sameStream = passthrough(lane.upstream)?.streamCpuUs ?? null;
    return {
      ...lane,
      requestRatio: sameRequest === null ? null : lane.requestCpuUs / sameRequest,
      streamRatio: sameStream === null ? null : lane.streamCpuUs / sameStream,
    };
  });
}

/** CPU of one call and of one stream, in microseconds. */
async function measureLane(
  gateway: RunningHeadgate,
  lane: LaneCase,
  key: string,
  { calls, streams }: Pick<LanePlan, 'calls' | 'streams'>,
): Promise<readonly [number, number]> {
  const call = laneRequest(lane, key, false);
  const stream = laneRequest(lane, key, true);
  const atFirst = cpuTimeUs(gateway.pid);
  for (let n = 0; n < calls; n++) await callOnce(gateway.port, call);
  const between = cpuTimeUs(gateway.pid);
  await Promise.all(Array.from({ length: streams }, () => callOnce(gateway.port, stream)));
  const atLast = cpuTimeUs(gateway.pid);
  return [(between - atFirst) / calls, (atLast - between) / streams];
}

function laneRequest({ surface, upstream }: LaneCase, key: string, stream: boolean): Buffer {
  const model = modelOf(upstream);
  const body = requestBody({ surface, model, stream, bodyBytes: stream ? smallBytes : largeBytes });
  const credential =
    surface === 'generate-content' ? `x-goog-api-key: ${key}` : `authorization: Bearer ${key}`;
  const head = `POST ${callPathOf(surface, model, stream)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${credential}\r\nconnection: close\r\n`;
  return Buffer.concat([
    Buffer.from(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);
}

/** Sends a request and waits for the end of the answer. Rejects when it is no success or is cut short. */
function callOnce(port: number, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let start = '';
    let end = '';
    const receive = (chunk: Buffer) => {
      if (start === '') start = chunk.toString('latin1', 0, 500);
      end = chunk.toString('latin1', Math.max(0, chunk.length - 5));
    };
    const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.on('data', receive);
    socket.once('connect', () => socket.write(request));
    socket.once('error', reject);
    socket.once('close', () => {
      const isWhole = /content-length/i.test(start) || end === '0\r\n\r\n';
      if (start.startsWith('HTTP/1.1 200') && isWhole) resolve();
      else reject(new Error(`Unexpected answer: ${start}`));
    });
  });
}

function callPathOf(surface: LaneProtocol, model: string, stream: boolean): string {
  switch (surface) {
    case 'chat-completions':
      return '/v1/chat/completions';
    case 'responses':
      return '/v1/responses';
    case 'messages':
      return '/v1/messages';
    case 'generate-content':
      return `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
    default:
      return surface satisfies never;
  }
}

function platformOf(surface: LaneProtocol): 'completions' | 'messages' | 'native' {
  if (surface === 'messages') return 'messages';
  return surface === 'generate-content' ? 'native' : 'completions';
}

/** A model of its own for every protocol of the upstream decides the lane. */
function modelOf(upstream: LaneProtocol): string {
  return `bench-${upstream}`;
}

function laneConfiguration(upstreamPort: number): string {
  const spoken = Object.entries(upstreamPaths);
  const lines = (line: (id: string, path: string) => string) =>
    spoken.map(([id, path]) => `  bench-${id}: ${line(id, path)}`).join('\n');
  return `
settings:
  api: { port: 0 }
  console: { port: 0 }
  log: { format: json }
providers:
${lines((id, path) => `{ name: "${id}", baseUrl: "http://127.0.0.1:${upstreamPort}", protocols: { ${id}: "${path}" }, credential: { scheme: none } }`)}
models:
${lines(() => '{}')}
prices:
${lines(() => '{ input: "1.25", output: "10" }')}
channels:
${lines((id) => `{ provider: bench-${id}, allowPrivate: true, models: [bench-${id}] }`)}
groups:
  completions: { platform: completions }
  messages: { platform: messages }
  native: { platform: native }
keys:
  completions: { group: completions, secret: { environment: HEADGATE_BENCH_COMPLETIONS } }
  messages: { group: messages, secret: { environment: HEADGATE_BENCH_MESSAGES } }
  native: { group: native, secret: { environment: HEADGATE_BENCH_NATIVE } }
`;
}

import { Worker } from 'node:worker_threads';
import { type ProtocolId, protocols } from '@headgate/protocols';
import { startSimulatorFleet, startSimulatorWorker } from '@headgate/simulator';
import type { Sample } from './garbler-worker.ts';

/** All that the gateway asks while it is fuzzed. */
export interface Upstreams {
  /** Answers as models' names command. */
  readonly simulator: string;
  /** Answers that are wrong somewhere. */
  readonly garbler: string;
  /** Answers nobody but the bystander, and is never behind. */
  readonly quiet: string;
  close(): Promise<void>;
}

/** Threads of their own, so that whoever loads the gateway does not answer it, too. */
export async function startUpstreams(): Promise<Upstreams> {
  const [fleet, quiet] = await Promise.all([startSimulatorFleet([{}]), startSimulatorWorker()]);
  const simulator = fleet.members[0]?.origin ?? '';
  const samples = await Promise.all(sampleAsks.map((ask) => sampleOf(simulator, ask)));
  const worker = new Worker(new URL('./garbler-worker.ts', import.meta.url), { workerData: samples });
  const port = await new Promise<number>((resolve, reject) =>
    worker.once('message', resolve).once('error', reject),
  );
  return {
    simulator,
    garbler: `http://127.0.0.1:${port}`,
    quiet: quiet.origin,
    async close() {
      await quiet.close();
      await worker.terminate();
      await fleet.close();
    },
  };
}

interface SampleAsk {
  readonly path: string;
  readonly stream: boolean;
  readonly body: object;
}

const commands = ['sim+tokens=6', 'sim+calls=2', 'sim+reasoning=3,tokens=3', 'sim+refusal'];
const weather = { name: 'get_weather', description: 'd' };
const schema = { type: 'object', properties: { city: { type: 'string' } } };

const sampleAsks: readonly SampleAsk[] = commands.flatMap((model) =>
  [false, true].flatMap((stream) => [
    {
      path: '/chat/completions',
      stream,
      body: {
        model,
        stream,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: 'Hi' }],
        ...(model.includes('calls')
          ? { tools: [{ type: 'function', function: { ...weather, parameters: schema } }] }
          : {}),
      },
    },
    {
      path: '/responses',
      stream,
      body: {
        model,
        stream,
        input: 'Hi',
        ...(model.includes('calls') ? { tools: [{ type: 'function', ...weather, parameters: schema }] } : {}),
      },
    },
    {
      path: '/messages',
      stream,
      body: {
        model,
        stream,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Hi' }],
        ...(model.includes('calls') ? { tools: [{ ...weather, input_schema: schema }] } : {}),
      },
    },
    {
      path: `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      stream,
      body: {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        ...(model.includes('calls')
          ? { tools: [{ functionDeclarations: [{ ...weather, parameters: schema }] }] }
          : {}),
      },
    },
    { path: '/images/generations', stream, body: { model: 'sim', stream, prompt: 'Hi', size: '16x16' } },
  ]),
);

async function sampleOf(origin: string, { path, stream, body }: SampleAsk): Promise<Sample> {
  const version = path.startsWith('/models/') ? '/v1beta' : '/v1';
  const answer = await fetch(`${origin}${version}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const own = path.split('?')[0] ?? path;
  const end = path.startsWith('/models/') ? own.slice(own.lastIndexOf(':')) : own;
  return {
    path: end,
    stream,
    contentType: answer.headers.get('content-type') ?? '',
    body: await answer.text(),
  };
}

const texts = Object.keys(protocols) as ProtocolId[];

/** What models do at their upstreams: most do as they are asked, and each fault has a model in every protocol. */
const faults: readonly (readonly [name: string, command: string])[] = [
  ['plain', 'sim+tokens=3'],
  ['tools', 'sim+calls=2'],
  ['thinking', 'sim+reasoning=3,tokens=2'],
  ['split', 'sim+tokens=4,split=seed:42,crlf,comments'],
  ['usageless', 'sim+tokens=3,usage=never'],
  ['refused', 'sim+refusal'],
  ['empty-words', 'sim+tokens=0'],
  ...[400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529].map(
    (status) => [`status-${status}`, `sim+fault=${status},share=60%`] as const,
  ),
  ...['html', 'html-403', 'empty', 'wrong-type'].map((name) => [name, `sim+fault=${name}`] as const),
  ...['reset', 'end', 'cut', 'garble', 'error'].flatMap((act) =>
    ['before-head', 'before-content', 'mid-stream', 'before-done']
      .filter((place) => act !== 'error' || place !== 'before-head')
      .map((place) => [`${act}-${place}`, `sim+tokens=6,fault=${act}-${place},share=70%`] as const),
  ),
  // Seldom: each holds a caller up for a time-out.
  ...['before-head', 'before-content', 'mid-stream'].map(
    (place) => [`stall-${place}`, `sim+tokens=6,fault=stall-${place},share=4%`] as const,
  ),
];

/** A channel of the fuzz: one model in one protocol, so that no fault puts another model out of service. */
export interface FuzzChannel {
  readonly id: string;
  readonly model: string;
  readonly upstreamModel: string;
  readonly protocol: ProtocolId;
  readonly origin: string;
  readonly priority: number;
}

export function channelsOf({ simulator, garbler }: Upstreams): readonly FuzzChannel[] {
  const one = (
    model: string,
    upstreamModel: string,
    protocol: ProtocolId,
    origin: string,
    priority = 0,
  ): FuzzChannel => ({
    id: `${model}.${priority}`,
    model,
    upstreamModel,
    protocol,
    origin,
    priority,
  });
  return texts.flatMap((protocol) => [
    ...faults.map(([name, command]) => one(`${name}-on-${protocol}`, command, protocol, simulator)),
    one(`garbled-on-${protocol}`, 'sim', protocol, garbler),
    // One that fails half of the time before one that does not: what is begun there ends elsewhere.
    one(`pair-on-${protocol}`, 'sim+tokens=6,fault=cut-mid-stream,share=30%', protocol, simulator),
    one(`pair-on-${protocol}`, 'sim', protocol, garbler, 1),
    one(`pair-on-${protocol}`, 'sim+tokens=6', 'chat-completions', simulator, 2),
  ]);
}

/** The models of callers, those that do as they are asked as often as all others together. */
export function modelsOf(channels: readonly FuzzChannel[]): readonly string[] {
  const all = [...new Set(channels.map(({ model }) => model))];
  const sound = all.filter((model) => /^(plain|tools|thinking|split|garbled|pair)-/.test(model));
  return [...all, ...Array.from({ length: Math.ceil(all.length / sound.length) }, () => sound).flat()];
}

import { type ProtocolId, protocols } from '@headgate/protocols';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { openTestGateway, type TestGateway } from './gateway.ts';

export const upstreams = [
  'chat-completions',
  'responses',
  'messages',
  'generate-content',
] as const satisfies readonly ProtocolId[];

export type UpstreamProtocol = (typeof upstreams)[number];

/** The behaviour of a model, as the simulator is told. */
const features = {
  plain: 'sim+tokens=4',
  tools: 'sim+calls=2',
  schema: 'sim',
  thinking: 'sim+reasoning=3,tokens=2',
  'thinking-tools': 'sim+reasoning=3,calls=2',
  vision: 'sim+tokens=2',
  short: 'sim+tokens=50',
  refused: 'sim+refusal',
  slow: 'sim+tokens=2000,rate=50/s',
  cut: 'sim+fault=reset-mid-stream',
  'error-400': 'sim+fault=400',
  'error-429': 'sim+fault=429',
  'error-503': 'sim+fault=503',
} as const;

export type Feature = keyof typeof features;

/** Probes ask for the least that a protocol allows. */
const smallestOutput = /"max\w*tokens":(1|16)\b/i;

/** Bodies of the requests that callers asked for; where calls have failed, the gateway's probes are among all of them. */
export function bodiesOf({ requests }: Simulator): readonly string[] {
  const bodies = requests.map(({ body }) => Buffer.from(body).toString());
  return bodies.filter((body) => !smallestOutput.test(body));
}

/** Each protocol is served by a channel that speaks nothing else. */
export interface ProtocolSite {
  readonly simulator: Simulator;
  readonly gateway: TestGateway;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The public id of the model that does this on the channel of that protocol. */
export function modelOf(feature: Feature, upstream: UpstreamProtocol): string {
  return `${feature}-on-${upstream}`;
}

/** A gateway with a channel for each of the protocols, and every feature on each of them. */
export async function openProtocolSite(): Promise<ProtocolSite> {
  const simulator = await startSimulator();
  const channels = upstreams.map((upstream) => ({
    id: upstream,
    origin: simulator.origin,
    models: modelsOn(upstream),
    protocols: { [upstream]: protocols[upstream].usualPath },
  }));
  const reasoning = upstreams.flatMap((upstream) => [
    modelOf('thinking', upstream),
    modelOf('thinking-tools', upstream),
  ]);
  const gateway = await openTestGateway({ channels, reasoning });
  return {
    simulator,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await simulator.close();
    },
  };
}

function modelsOn(upstream: UpstreamProtocol): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(features).map(([feature, command]) => [`${feature}-on-${upstream}`, command]),
  );
}

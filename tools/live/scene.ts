import { protocols } from '@headgate/protocols';
import { SeededRandom } from '../simulate/seeded-random.ts';

/** A model callers may ask for. Prices in whole USD per million tokens. */
export interface SceneModel {
  readonly id: string;
  readonly inputUsd: number;
  readonly outputUsd: number;
}

/** One channel: a simulator on a port of its own. */
export interface SceneChannel {
  readonly id: string;
  /** Protocols it speaks and their paths. */
  readonly protocols: Readonly<Record<string, string>>;
  /** Ids of the models it serves. */
  readonly models: readonly string[];
  /** Its price, as a share of the list price. */
  readonly costShare: number;
  /** How it answers when all is well, in the simulator's words. */
  readonly script: string;
}

export interface Scene {
  readonly models: readonly SceneModel[];
  readonly channels: readonly SceneChannel[];
}

const channelCount = 60;
const modelCount = 12;
const outputTokens = 12;

/** Sixty channels of varied price and speed over twelve models, each served by ten of them. The same for a seed. */
export function drawScene(seed: number): Scene {
  const random = new SeededRandom(seed);
  const models = Array.from({ length: modelCount }, (_, place) => ({
    id: `model-${place + 1}`,
    inputUsd: 1 + (place % 4),
    outputUsd: 4 + 2 * (place % 5),
  }));
  const channels = Array.from({ length: channelCount }, (_, place) => ({
    id: `channel-${place + 1}`,
    protocols: protocolsOf(place),
    models: modelsOf(place),
    costShare: random.between(0.4, 1),
    script: `tokens=${outputTokens},ttft=${Math.round(random.betweenRatios(60, 350))}ms,rate=${Math.round(random.between(30, 60))}/s`,
  }));
  return { models, channels };
}

/** Two for each channel, and never the same two for all the channels of a model. */
function modelsOf(place: number): readonly string[] {
  const first = place % modelCount;
  const second = (first + 1 + (Math.floor(place / modelCount) % (modelCount - 1))) % modelCount;
  return [first, second].map((model) => `model-${model + 1}`);
}

/** Most speak chat completions; where none speaks a caller's protocol cheaply, its calls are translated. */
function protocolsOf(place: number): Readonly<Record<string, string>> {
  switch (place % 10) {
    case 5:
    case 6:
      return { messages: protocols.messages.usualPath };
    case 7:
      return {
        'chat-completions': protocols['chat-completions'].usualPath,
        messages: protocols.messages.usualPath,
      };
    case 8:
      return { responses: protocols.responses.usualPath };
    case 9:
      return { 'generate-content': protocols['generate-content'].usualPath };
    default:
      return { 'chat-completions': protocols['chat-completions'].usualPath };
  }
}

/** Places of the cheapest channels of every model. Throws when a model would be left without a healthy one. */
export function cheapestOfAllModels({ models, channels }: Scene, count: number): readonly number[] {
  const byCost = channels.map((channel, place) => ({ channel, place })).sort(byCostShare);
  const serving = (model: string) => byCost.filter(({ channel }) => channel.models.includes(model));
  const hit = new Set(
    models.flatMap(({ id }) =>
      serving(id)
        .slice(0, count)
        .map(({ place }) => place),
    ),
  );
  const helpless = models.find(({ id }) => serving(id).every(({ place }) => hit.has(place)));
  if (helpless !== undefined) throw new Error(`${helpless.id} would have no healthy channel left`);
  return [...hit].sort((a, b) => a - b);
}

function byCostShare(a: { readonly channel: SceneChannel }, b: { readonly channel: SceneChannel }): number {
  return a.channel.costShare - b.channel.costShare;
}

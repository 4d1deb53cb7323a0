import type { ChannelSketch, Condition, Incident } from './condition.ts';
import type { Scene } from './run.ts';
import { SeededRandom } from './seeded-random.ts';

/** A mishap of a channel, drawn with everything else of the family nobody tuned for. */
interface Mishap {
  readonly channel: number;
  readonly from: number;
  readonly to: number;
  readonly happen: (condition: Condition) => void;
}

const manyChannels = 60;
const manyModels = 20;
const modelsOfChannel = 9;
const durationS = 1200;

/** Sixty channels, each serving nine of twenty models, a third of them in trouble at some time. */
export function sixtyChannels(seed: number): Scene {
  const random = new SeededRandom(seed * 31 + 5);
  const channels = Array.from({ length: manyChannels }, () => drawChannel(random, 2));
  const models = Array.from({ length: manyModels }, (): number[] => []);
  for (let channel = 0; channel < manyChannels; channel++) {
    for (let place = 0; place < modelsOfChannel; place++)
      models[(channel * 7 + place * 3) % manyModels]?.push(channel);
  }
  const mishaps = Array.from({ length: manyChannels / 3 }, () =>
    drawMishap(random, random.below(manyChannels)),
  );
  return {
    channels,
    models,
    incident: incidentOf(mishaps),
    priceChanges: [],
    callsPerSecond: 30,
    from: 0,
    to: durationS,
    window: { from: 200, to: 1000 },
  };
}

/** A world whose every parameter is drawn: never the same, and never looked at while the router was made. */
export function heldOut(seed: number): Scene {
  const random = new SeededRandom(seed * 6007 + 41);
  const count = 4 + random.below(9);
  const callsPerSecond = random.betweenRatios(1, 40);
  const share = (callsPerSecond * random.between(3, 6)) / count;
  const channels = Array.from({ length: count }, () => drawChannel(random, share));
  const healthy = random.below(count);
  const mishaps = Array.from({ length: 2 + random.below(4) }, () =>
    drawMishap(random, (healthy + 1 + random.below(count - 1)) % count),
  );
  return {
    channels,
    models: [channels.map((_, channel) => channel)],
    incident: incidentOf(mishaps),
    priceChanges: [],
    callsPerSecond,
    from: 0,
    to: durationS,
    window: { from: 200, to: 1000 },
  };
}

function drawChannel(random: SeededRandom, callsPerSecond: number): ChannelSketch {
  return {
    multiplier: random.betweenRatios(0.4, 2),
    callsPerSecond: callsPerSecond * random.betweenRatios(0.5, 2),
    firstContentMs: random.betweenRatios(400, 2000),
    sigma: random.between(0.3, 0.6),
    tokensPerSecond: random.between(40, 100),
    errorShare: random.betweenRatios(0.001, 0.03),
  };
}

function drawMishap(random: SeededRandom, channel: number): Mishap {
  const from = random.between(200, 700);
  const happen = random.pick<Mishap['happen']>([
    (it) => {
      it.down = 'refused';
    },
    (it) => {
      it.down = 'hung';
    },
    (it) => {
      it.errorShare = 0.3;
    },
    (it) => {
      it.firstContentMs *= 6;
    },
    (it) => {
      it.callsPerSecond *= 0.15;
      it.retryAfterMs = 5000;
    },
    (it) => {
      it.breakShare = 0.2;
    },
  ]);
  return { channel, from, to: from + random.between(60, 300), happen };
}

function incidentOf(mishaps: readonly Mishap[]): Incident {
  return (channel, seconds, condition) => {
    for (const mishap of mishaps) {
      if (mishap.channel === channel && seconds >= mishap.from && seconds < mishap.to)
        mishap.happen(condition);
    }
  };
}

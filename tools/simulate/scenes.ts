import type { ChannelSketch, Incident } from './condition.ts';
import type { Scene } from './run.ts';

/** Eight ways to one model: the cheap ones are narrow and less reliable, as they are. */
const eight: readonly ChannelSketch[] = [
  [0.5, 6, 1100, 0.5, 55, 0.015],
  [0.6, 6, 900, 0.5, 60, 0.01],
  [0.7, 8, 1300, 0.6, 50, 0.012],
  [0.8, 8, 800, 0.4, 70, 0.008],
  [0.9, 10, 700, 0.4, 75, 0.006],
  [1.0, 15, 600, 0.35, 80, 0.004],
  [1.2, 20, 600, 0.35, 80, 0.004],
  [1.5, 30, 500, 0.3, 90, 0.002],
].map(
  ([
    multiplier = 1,
    callsPerSecond = 1,
    firstContentMs = 1,
    sigma = 1,
    tokensPerSecond = 1,
    errorShare = 0,
  ]) => ({
    multiplier,
    callsPerSecond,
    firstContentMs,
    sigma,
    tokensPerSecond,
    errorShare,
  }),
);

export interface Scenario {
  readonly name: string;
  readonly incident: Incident;
  readonly priceChanges?: readonly number[];
  /** Seconds from and to which something happens. */
  readonly window: readonly [number, number];
}

/** Seconds between a channel's turns in "flapping". */
const flapS = 20;

export const scenarios: readonly Scenario[] = [
  { name: 'steady', window: [300, 600], incident: () => {} },
  {
    name: 'outage, refused',
    window: [300, 600],
    incident: during(300, 600, [0], (it) => (it.down = 'refused')),
  },
  { name: 'outage, hung', window: [300, 600], incident: during(300, 600, [1], (it) => (it.down = 'hung')) },
  {
    name: 'brown-out 30 %',
    window: [300, 700],
    incident: during(300, 700, [0, 1], (it) => (it.errorShare = 0.3)),
  },
  {
    name: 'latency ×10',
    window: [300, 700],
    incident: during(300, 700, [0, 1], (it) => (it.firstContentMs *= 10)),
  },
  {
    name: '429 storm',
    window: [300, 700],
    incident: during(300, 700, [0, 1, 2], (it) => (it.callsPerSecond *= 0.1)),
  },
  { name: 'slow recovery', window: [300, 700], incident: slowRecovery },
  {
    name: 'flapping 20 s',
    window: [300, 900],
    incident: (channel, seconds, condition) => {
      const isOut = seconds >= 300 && seconds < 900 && Math.floor(seconds / flapS) % 2 === 0;
      if (channel === 0 && isOut) condition.down = 'refused';
    },
  },
  {
    name: 'price change',
    window: [400, 800],
    priceChanges: [400, 600],
    incident: (channel, seconds, condition) => {
      if (channel === 0 && seconds >= 400) condition.multiplier *= 3;
      if (channel === 5 && seconds >= 600) condition.multiplier *= 0.3;
    },
  },
  {
    name: '6 of 8 down',
    window: [300, 480],
    incident: during(300, 480, [0, 1, 2, 3, 4, 5], (it) => (it.down = 'refused')),
  },
  {
    name: 'total outage',
    window: [300, 360],
    incident: during(300, 360, [0, 1, 2, 3, 4, 5, 6, 7], (it) => (it.down = 'refused')),
  },
  {
    name: 'mid-stream 30 %',
    window: [300, 700],
    incident: during(300, 700, [0], (it) => (it.breakShare = 0.3)),
  },
];

/** Calls per second, and the seconds in which they come. */
export interface Load {
  readonly name: string;
  readonly callsPerSecond: number;
  /** How much wider the channels are than those above. */
  readonly wider: number;
  readonly from: number;
  readonly to: number;
  readonly seeds: number;
  readonly quickSeeds: number;
  readonly isGated: boolean;
}

const day = { wider: 1, from: 0, to: 1200, isGated: true } as const;
const busy = { callsPerSecond: 100, from: 240, to: 740, quickSeeds: 0 } as const;

/**
 * Few calls take more seeds for 1 % of them to mean anything. The channels above take 103 calls a second in
 * all: for a hundred a second they are wider; what comes of it when they are not is shown, and held to nothing.
 */
export const loads: readonly Load[] = [
  { ...day, name: '0.3', callsPerSecond: 0.3, seeds: 60, quickSeeds: 60 },
  { ...day, name: '15', callsPerSecond: 15, seeds: 10, quickSeeds: 1 },
  { ...busy, name: '100', wider: 100 / 15, seeds: 10, isGated: true },
  { ...busy, name: '100, narrow', wider: 1, seeds: 1, isGated: false },
];

export function sceneOf(
  { incident, priceChanges = [], window: [from, to] }: Scenario,
  { callsPerSecond, wider, ...load }: Load,
): Scene {
  return {
    callsPerSecond,
    from: load.from,
    to: load.to,
    channels: eight.map((sketch) => ({ ...sketch, callsPerSecond: sketch.callsPerSecond * wider })),
    models: [eight.map((_, channel) => channel)],
    incident,
    priceChanges,
    window: { from, to },
  };
}

function during(
  from: number,
  to: number,
  channels: readonly number[],
  happen: (condition: Parameters<Incident>[2]) => void,
): Incident {
  return (channel, seconds, condition) => {
    if (seconds >= from && seconds < to && channels.includes(channel)) happen(condition);
  };
}

function slowRecovery(channel: number, seconds: number, condition: Parameters<Incident>[2]): void {
  if (channel !== 0 || seconds < 300 || seconds >= 700) return;
  condition.errorShare = seconds < 400 ? 0.95 : 0.95 - (0.93 * (seconds - 400)) / 300;
}

import type { ChannelSketch } from './condition.ts';
import { EventQueue } from './event-queue.ts';
import { headgate } from './headgate.ts';
import { SeededRandom } from './seeded-random.ts';
import { World } from './world.ts';

const channelCount = 60;
const warmUpPlans = 20_000;
const measuredPlans = 40_000;
const batches = 80;

/** Microseconds to plan one call over sixty channels of one model, each with a history; the best of many short batches: a busy machine slows some of them. */
export function planningUs(): number {
  const random = new SeededRandom(1);
  const queue = new EventQueue(0);
  const channels = Array.from({ length: channelCount }, () => sketch(random));
  const world = new World(channels, () => {}, queue, random);
  const models = [channels.map((_, channel) => channel)];
  const policy = headgate('synthetic')({ world, models, priceChanges: [], uniform: random.uniform });
  let nowMs = 0;
  const plan = () => {
    nowMs += 5;
    const call = {
      atMs: nowMs,
      model: 0,
      inputTokens: 1000,
      outputTokens: 300,
      tried: new Set<number>(),
      attemptsLeft: 3,
    };
    const channel = policy.choose(call, nowMs) ?? 0;
    return { call, channel };
  };
  for (let n = 0; n < warmUpPlans; n++) {
    const { call } = plan();
    const follower = policy.sent(call, n % channelCount, nowMs);
    follower.began(nowMs);
    follower.ended(true, nowMs);
  }
  const times = Array.from({ length: batches }, () => {
    // Of this thread alone: other work on the machine is none of planning.
    const before = process.threadCpuUsage();
    for (let n = 0; n < measuredPlans / batches; n++) plan();
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) * batches) / measuredPlans;
  });
  return Math.min(...times);
}

function sketch(random: SeededRandom): ChannelSketch {
  return {
    multiplier: random.betweenRatios(0.5, 1.5),
    callsPerSecond: 100,
    firstContentMs: 800,
    sigma: 0.4,
    tokensPerSecond: 60,
    errorShare: 0.01,
  };
}

import type { Condition } from './condition.ts';
import { costOf, perFailureUsd, perMsUsd } from './condition.ts';
import {
  attemptsMax,
  type Call,
  type Follower,
  type PolicyMaker,
  plainPolicy,
  type Setting,
} from './policy.ts';

/** Each channel in its turn. */
export const roundRobin: PolicyMaker = ({ models }) => {
  let turn = 0;
  return {
    ...plainPolicy,
    choose: (call) => {
      const open = untried(models, call);
      turn++;
      return open[turn % Math.max(1, open.length)] ?? null;
    },
  };
};

const coolDownMs = 5000;

/** A shuffle that leaves a channel out for 5 s after a 429, or when most of this minute's calls have failed. */
export const coolDownShuffle: PolicyMaker = ({ world, models, uniform }) => {
  const states = world.channels.map(() => ({ outUntilMs: 0, minute: -1, good: 0, bad: 0 }));
  const note = (channel: number, nowMs: number, isGood: boolean, isLimit: boolean) => {
    const state = states[channel];
    if (state === undefined) return;
    const minute = Math.floor(nowMs / 60_000);
    if (state.minute !== minute) Object.assign(state, { minute, good: 0, bad: 0 });
    state[isGood ? 'good' : 'bad']++;
    const calls = state.good + state.bad;
    if (!isGood && (isLimit || (calls >= 5 && state.bad / calls > 0.5)))
      state.outUntilMs = nowMs + coolDownMs;
  };
  return {
    ...plainPolicy,
    choose: (call, nowMs) => {
      const open = untried(models, call);
      const fit = open.filter((channel) => (states[channel]?.outUntilMs ?? 0) <= nowMs);
      const choice = fit.length > 0 ? fit : open;
      return choice[Math.floor(uniform() * choice.length)] ?? null;
    },
    sent: (_call, channel) => noting((nowMs, isGood, isLimit) => note(channel, nowMs, isGood, isLimit)),
  };
};

const memoryMs = 30_000;

/** 1/price² among the channels without an outage in the last 30 s. */
export const inverseSquare: PolicyMaker = ({ world, models, uniform }) => {
  const events = world.channels.map((): { atMs: number; isGood: boolean }[] => []);
  const isOut = (channel: number, nowMs: number) => {
    const seen = events[channel] ?? [];
    while ((seen[0]?.atMs ?? nowMs) < nowMs - memoryMs) seen.shift();
    return seen.length >= 5 && seen.filter(({ isGood }) => !isGood).length / seen.length > 0.3;
  };
  return {
    ...plainPolicy,
    choose: (call, nowMs) => {
      const open = untried(models, call);
      const stable = open.filter((channel) => !isOut(channel, nowMs));
      const choice = stable.length > 0 ? stable : open;
      const weights = choice.map((channel) => world.conditionNow(channel).multiplier ** -2);
      let left = uniform() * weights.reduce((sum, weight) => sum + weight, 0);
      return (
        choice.find((_, place) => {
          left -= weights[place] ?? 0;
          return left <= 0;
        }) ??
        choice.at(-1) ??
        null
      );
    },
    sent: (_call, channel) => noting((atMs, isGood) => events[channel]?.push({ atMs, isGood })),
  };
};

/** Knows what is true of every channel at the moment, though not what chance will make of it. */
export const oracle: PolicyMaker = ({ world, models }) => ({
  ...plainPolicy,
  choose: (call) => {
    let best: number | null = null;
    let lowest = Number.POSITIVE_INFINITY;
    for (const channel of untried(models, call)) {
      const condition = world.conditionNow(channel);
      if (condition.down !== null || !world.hasRoom(channel, condition)) continue;
      const cost = expectedCost(call, condition);
      if (cost < lowest) [lowest, best] = [cost, channel];
    }
    return best;
  },
});

function expectedCost(call: Call, condition: Condition): number {
  const chance = (1 - condition.errorShare) * (1 - condition.breakShare);
  const price = costOf(call, condition);
  const waitMs = condition.firstContentMs * Math.exp(condition.sigma ** 2 / 2);
  const failing = ((1 - chance) / chance) * (perMsUsd * 1000 + 0.02 * perFailureUsd);
  const breaking = (condition.breakShare / chance) * (perFailureUsd + price / 2);
  return price + perMsUsd * waitMs + failing + breaking;
}

function noting(note: (nowMs: number, isGood: boolean, isLimit: boolean) => void): Follower {
  return {
    ...plainPolicy.sent(),
    began: (nowMs) => note(nowMs, true, false),
    failed: ({ kind }, nowMs) => note(nowMs, false, kind === 'rate-limited'),
  };
}

/** None when the attempts of the call are spent: each counts whole. */
function untried(models: Setting['models'], { model, tried }: Call): readonly number[] {
  if (tried.size >= attemptsMax) return [];
  return (models[model] ?? []).filter((channel) => !tried.has(channel));
}

import type { CallCase, CallPlan } from './calls.ts';
import type { GrowthPlan } from './growth.ts';
import type { InsidePlan } from './insides.ts';
import type { LaneCase, LanePlan } from './lane-comparison.ts';
import type { ProfilePlan } from './profile.ts';
import type { StreamPlan } from './streams.ts';

/** How much is measured, and for how long. */
export interface Plan {
  readonly warmUp: { readonly calls: number; readonly durationMsMax: number };
  readonly calls: CallPlan;
  readonly bodies: readonly (readonly [CallCase, CallPlan])[];
  readonly streams: readonly StreamPlan[];
  readonly channels: GrowthPlan;
  readonly keys: GrowthPlan;
  readonly insides: InsidePlan;
  readonly profile: ProfilePlan;
  readonly lanes: LanePlan;
}

const mainLanes: readonly LaneCase[] = [
  { surface: 'chat-completions', upstream: 'chat-completions' },
  { surface: 'messages', upstream: 'messages' },
  { surface: 'messages', upstream: 'chat-completions' },
  { surface: 'chat-completions', upstream: 'messages' },
];
const otherLanes: readonly LaneCase[] = [
  { surface: 'responses', upstream: 'responses' },
  { surface: 'generate-content', upstream: 'generate-content' },
  { surface: 'responses', upstream: 'chat-completions' },
  { surface: 'responses', upstream: 'messages' },
  { surface: 'messages', upstream: 'responses' },
  { surface: 'chat-completions', upstream: 'generate-content' },
  { surface: 'generate-content', upstream: 'chat-completions' },
];

function bodiesOf(plan: CallPlan): Plan['bodies'] {
  return [100_000, 1_000_000].flatMap((bodyBytes) =>
    (['text', 'dense'] as const).map((body) => [{ body, bodyBytes, concurrency: 8 }, plan] as const),
  );
}

const streams: Omit<StreamPlan, 'streams'> = {
  rounds: 3,
  openingMs: 2_000,
  settleMs: 1_000,
  durationMs: 2_000,
};

const channelCounts = [1, 20, 60, 1_000];
const keyCounts = [1, 10_000];
const growth = { windows: 15, windowMs: 400, trailMs: 120, warmUpCalls: 40_000, warmUpMsMax: 20_000 };
const quickGrowth = { windows: 8, windowMs: 200, trailMs: 60, warmUpCalls: 20_000, warmUpMsMax: 6_000 };

export const fullPlan: Plan = {
  warmUp: { calls: 40_000, durationMsMax: 25_000 },
  calls: { windows: 15, windowMs: 400, trailMs: 120 },
  bodies: bodiesOf({ windows: 9, windowMs: 400, trailMs: 120 }),
  streams: [
    { ...streams, streams: 1_000 },
    { ...streams, streams: 2_000 },
  ],
  channels: { ...growth, counts: channelCounts },
  keys: { ...growth, counts: keyCounts },
  insides: { connections: [1, 32, 256], warmUpCalls: 20_000, warmUpMsMax: 10_000, windowMs: 1_000 },
  profile: { warmUpCalls: 40_000, warmUpMsMax: 30_000, durationMs: 6_000 },
  lanes: {
    cases: [...mainLanes, ...otherLanes],
    rounds: 5,
    warmUpCalls: 300,
    calls: 100,
    streams: 5,
    frames: 2_000,
  },
};

export const quickPlan: Plan = {
  warmUp: { calls: 30_000, durationMsMax: 15_000 },
  calls: { windows: 8, windowMs: 200, trailMs: 60 },
  bodies: bodiesOf({ windows: 3, windowMs: 200, trailMs: 60 }),
  streams: [
    { ...streams, streams: 1_000, rounds: 1 },
    { ...streams, streams: 2_000, rounds: 1 },
  ],
  channels: { ...quickGrowth, counts: channelCounts },
  keys: { ...quickGrowth, counts: keyCounts },
  insides: { connections: [32], warmUpCalls: 10_000, warmUpMsMax: 5_000, windowMs: 500 },
  profile: { warmUpCalls: 30_000, warmUpMsMax: 15_000, durationMs: 4_000 },
  lanes: { cases: mainLanes, rounds: 2, warmUpCalls: 200, calls: 50, streams: 3, frames: 2_000 },
};

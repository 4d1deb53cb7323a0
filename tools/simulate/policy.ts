import type { Sizes } from './condition.ts';
import type { Failure, World } from './world.ts';

/** One call of a caller. */
export interface Call extends Sizes {
  readonly atMs: number;
  readonly model: number;
  /** Channels it has tried. */
  readonly tried: Set<number>;
}

/** Follows one attempt for the policy that sent it. */
export interface Follower {
  /** How long it waits for first content. */
  readonly patienceMs: number;
  began(nowMs: number): void;
  failed(failure: Failure, nowMs: number): void;
  ended(isWhole: boolean, nowMs: number): void;
}

/** Nothing may be tried now, but soon. */
export interface Wait {
  readonly waitMs: number;
}

/** A way to choose channels, given what it has seen. */
export interface Policy {
  /** The channel to try next, how long to wait before it is asked again, or null for none of both. */
  choose(call: Call, nowMs: number): number | Wait | null;
  sent(call: Call, channel: number, nowMs: number): Follower;
  /** Channels to probe now, asked once a second. */
  probes(nowMs: number): readonly { readonly channel: number; readonly follower: Follower }[];
}

/** The world that a policy is made for. */
export interface Setting {
  readonly world: World;
  /** Channels of each model. */
  readonly models: readonly (readonly number[])[];
  /** Seconds at which a price changes. */
  readonly priceChanges: readonly number[];
  readonly uniform: () => number;
}

export type PolicyMaker = (setting: Setting) => Policy;

/** Attempts a call may make. */
export const attemptsMax = 3;
/** Gateways wait so long by default. */
const plainPatienceMs = 30_000;

const plainFollower: Follower = {
  patienceMs: plainPatienceMs,
  began: () => {},
  failed: () => {},
  ended: () => {},
};

export const plainPolicy = {
  sent: () => plainFollower,
  probes: () => [],
} satisfies Partial<Policy>;

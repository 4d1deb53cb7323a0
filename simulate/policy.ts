import type { Sizes } from './condition.ts';
import type { Failure, World } from './world.ts';

/** One call of a caller. */
export interface Call extends Sizes {
  readonly atMs: number;
  readonly model: number;
  /** Channels it has tried. */
  readonly tried: Set<number>;
  /** A fraction when a quick refusal has cost half an attempt. */
  attemptsLeft: number;
}

/** Follows one attempt for the policy that sent it. */
export interface Follower {
  /** How long it waits for first content. */
  readonly patienceMs: number;
  began(nowMs: number): void;
  failed(failure: Failure, nowMs: number): void;
  ended(isWhole: boolean, nowMs: number): void;
}

/** A way to choose channels, given what it has seen. */
export interface Policy {
  /** The channel to try next, null for none. */
  choose(call: Call, nowMs: number): number | null;
  sent(call: Call, channel: number, nowMs: number): Follower;
  /** Attempts that a failure after so long has cost. */
  unitsOf(failure: Failure, afterMs: number): number;
  /** Channels to probe now, asked once a second. */
  probes(nowMs: number): readonly { readonly channel: number; readonly follower: Follower }[];
}

/** What a policy is made for. */
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
/** What gateways wait by default. */
const plainPatienceMs = 30_000;

const plainFollower: Follower = {
  patienceMs: plainPatienceMs,
  began: () => {},
  failed: () => {},
  ended: () => {},
};

export const plainPolicy = {
  sent: () => plainFollower,
  unitsOf: () => 1,
  probes: () => [],
} satisfies Partial<Policy>;

import type { Catalogue, Channel, Model, Target } from '../catalogue/catalogue.ts';
import type { Router } from '../route/router.ts';
import type { TargetStatus } from '../route/status.ts';

/** Ordered by how much they need somebody's eye. */
export const channelStates = ['down', 'degraded', 'draining', 'up', 'off'] as const;
export type ChannelState = (typeof channelStates)[number];

/** The switch of a channel: it takes calls, or none that are new, or none at all. */
export const switchPositions = ['on', 'draining', 'off'] as const;
export type SwitchPosition = (typeof switchPositions)[number];

/** A model of a channel, as operators see it. */
export interface ServedModelStatus extends TargetStatus {
  readonly model: string;
  readonly upstreamModel: string;
}

/** A channel, as operators see it: the sum of its models. */
export interface ChannelStatus {
  readonly id: string;
  readonly state: ChannelState;
  readonly sinceMs: number | null;
  readonly lastFailure: (ServedModelStatus['lastFailure'] & { readonly model: string }) | null;
  /** The share of calls of the last minutes that were answered; null where there were none. */
  readonly success: number | null;
  /** To first content, the median of the model that is called most. */
  readonly ttftMs: number | null;
  readonly inFlight: number;
  readonly models: readonly ServedModelStatus[];
}

/** A model that a channel serves, and its target there. */
export interface ServedTarget {
  readonly model: Model;
  readonly target: Target;
}

/** The models of each channel, in the order of the catalogue. */
export function servedTargets({
  models,
}: Pick<Catalogue, 'models'>): ReadonlyMap<Channel, readonly ServedTarget[]> {
  const served = new Map<Channel, ServedTarget[]>();
  for (const model of models.values()) {
    for (const target of model.targets) {
      const known = served.get(target.channel);
      if (known === undefined) served.set(target.channel, [{ model, target }]);
      else known.push({ model, target });
    }
  }
  return served;
}

/** Every channel of the catalogue, in its order. */
export function channelStatuses(
  catalogue: Pick<Catalogue, 'channels' | 'models'>,
  router: Pick<Router, 'status'>,
  nowMs: number,
): readonly ChannelStatus[] {
  const served = servedTargets(catalogue);
  return [...catalogue.channels.values()].map((channel) =>
    channelStatus(channel, served.get(channel) ?? [], router, nowMs),
  );
}

/** Calls that fade count less with every minute; below this there are none to speak of. */
const callsMin = 0.5;

/** One channel, which serves these. */
export function channelStatus(
  channel: Channel,
  served: readonly ServedTarget[],
  router: Pick<Router, 'status'>,
  nowMs: number,
): ChannelStatus {
  const models = served.map(
    ({ model, target }): ServedModelStatus => ({
      model: model.id,
      upstreamModel: target.upstreamModel,
      ...router.status(target, nowMs),
    }),
  );
  const sum = (read: (model: ServedModelStatus) => number) =>
    models.reduce((total, model) => total + read(model), 0);
  const [good, bad] = [sum((model) => model.good), sum((model) => model.bad)];
  const called = models.toSorted((a, b) => b.good - a.good);
  const failed = models
    .flatMap(({ lastFailure, model }) => (lastFailure === null ? [] : [{ ...lastFailure, model }]))
    .toSorted((a, b) => b.atMs - a.atMs);
  const since = models.flatMap(({ sinceMs }) => sinceMs ?? []);
  return {
    id: channel.id,
    state: channelState(channel, models),
    sinceMs: since.length === 0 ? null : Math.min(...since),
    lastFailure: failed[0] ?? null,
    success: good + bad < callsMin ? null : good / (good + bad),
    ttftMs: called.find(({ ttftMs }) => ttftMs !== null)?.ttftMs ?? null,
    inFlight: sum((model) => model.inFlight),
    models,
  };
}

function channelState({ enabled, drain }: Channel, models: readonly ServedModelStatus[]): ChannelState {
  if (!enabled) return 'off';
  const serving = models.filter(({ state }) => state === 'serving').length;
  if (serving === 0) return 'down';
  if (drain) return 'draining';
  return serving < models.length ? 'degraded' : 'up';
}

import type { Catalogue, Channel } from '../catalogue/catalogue.ts';
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

/** Every channel of the catalogue, in its order. */
export function channelStatuses(
  { channels, models }: Pick<Catalogue, 'channels' | 'models'>,
  router: Pick<Router, 'status'>,
  nowMs: number,
): readonly ChannelStatus[] {
  const served = new Map<Channel, ServedModelStatus[]>();
  for (const model of models.values()) {
    for (const target of model.targets) {
      const { channel, upstreamModel } = target;
      const status = { model: model.id, upstreamModel, ...router.status(target, nowMs) };
      const known = served.get(channel);
      if (known === undefined) served.set(channel, [status]);
      else known.push(status);
    }
  }
  return [...channels.values()].map((channel) => channelStatus(channel, served.get(channel) ?? []));
}

/** Calls that fade count less with every minute; below this there are none to speak of. */
const callsMin = 0.5;

function channelStatus(channel: Channel, models: readonly ServedModelStatus[]): ChannelStatus {
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

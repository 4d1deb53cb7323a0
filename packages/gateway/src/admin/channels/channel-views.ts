import type { CatalogueProblem } from '../../catalogue/build.ts';
import type { Catalogue, Channel, Target } from '../../catalogue/catalogue.ts';
import { describeSource } from '../../catalogue/secret-source.ts';
import type { StoredConfiguration } from '../../ports/configuration-store.ts';
import type { Router } from '../../route/router.ts';
import {
  type ChannelState,
  type ChannelStatus,
  channelStatus,
  type ServedTarget,
} from '../channel-status.ts';
import { outputPrice, perMillion } from '../model-prices.ts';
import { formOf } from './channel-form.ts';

/** Everything that lists of channels are made of. */
export interface ChannelSight {
  readonly catalogue: Catalogue;
  readonly problems: readonly CatalogueProblem[];
  readonly router: Pick<Router, 'status' | 'slotStatuses'>;
  readonly nowMs: number;
}

export interface ChannelFilter {
  readonly search?: string;
  readonly state?: ChannelState;
  readonly model?: string;
}

/** A channel of a list, and beside it the models that it is found by. */
export type ListedChannel = ReturnType<typeof itemOf> & { readonly serves: readonly string[] };

/** The channels of a list that fit. */
export function fittingChannels(
  items: readonly ListedChannel[],
  { search, state, model }: ChannelFilter,
): readonly ListedChannel[] {
  const words = search?.toLowerCase() ?? '';
  return items.filter(
    (item) =>
      (state === undefined || item.state === state) &&
      (model === undefined || item.serves.includes(model)) &&
      `${item.id}\n${item.alias}\n${item.provider}\n${item.providerName}`.toLowerCase().includes(words),
  );
}

/** Models and keys may have the name of a channel. */
export function isOfChannel({ kind }: CatalogueProblem): boolean {
  return kind === 'missing-credential' || kind === 'incomplete-address' || kind === 'unknown-provider';
}

export function itemOf(channel: Channel, status: ChannelStatus, problems: readonly CatalogueProblem[]) {
  return {
    ...standingOf(status),
    alias: channel.alias,
    provider: channel.provider.id,
    providerName: channel.provider.name,
    source: channel.source,
    simulated: channel.simulated,
    enabled: channel.enabled,
    drain: channel.drain,
    priority: channel.priority,
    maxConcurrency: channel.maxConcurrency,
    problems: problems.map(({ detail }) => detail),
  };
}

/** The part of a channel that moves with its calls. */
export function standingOf({
  id,
  lastFailure,
  sinceMs,
  state,
  success,
  ttftMs,
  inFlight,
  models,
}: ChannelStatus) {
  return {
    ...{ id, state, success, ttftMs, inFlight },
    since: timeOf(sinceMs),
    models: models.length,
    modelsOut: models.filter((served) => served.state !== 'serving').length,
    lastFailure:
      lastFailure === null
        ? null
        : { at: isoTime(lastFailure.atMs), model: lastFailure.model, words: lastFailure.words },
  };
}

/** Everything of one channel; null where the catalogue has none of this id. */
export function viewChannel(id: string, sight: ChannelSight, stored: StoredConfiguration) {
  const channel = sight.catalogue.channels.get(id);
  const declared = stored.channels.find((each) => each.id === id);
  if (channel === undefined || declared === undefined) return null;
  const targets = targetsOf(sight.catalogue, channel);
  const status = channelStatus(channel, targets, sight.router, sight.nowMs);
  const problems = sight.problems.filter((each) => isOfChannel(each) && each.subject === id);
  return {
    ...itemOf(channel, status, problems),
    baseUrl: channel.baseUrl,
    written: { ...formOf(declared) },
    takesCredential: channel.provider.credential.scheme !== 'none',
    credentials: credentialsOf(channel, targets, declared, stored, sight),
    targets: status.models.map((served, at) => ({
      model: served.model,
      upstreamModel: served.upstreamModel,
      state: served.state,
      since: timeOf(served.sinceMs),
      until: timeOf(served.untilMs),
      lastFailure:
        served.lastFailure === null
          ? null
          : { at: isoTime(served.lastFailure.atMs), words: served.lastFailure.words },
      success: served.good + served.bad < 0.5 ? null : served.good / (served.good + served.bad),
      ttftMs: served.ttftMs,
      inFlight: served.inFlight,
      contextWindow: targets[at]?.target.contextWindow ?? null,
      cost: costOf(targets[at]?.target),
    })),
  };
}

function targetsOf({ models }: Catalogue, channel: Channel): readonly ServedTarget[] {
  return [...models.values()].flatMap((model) =>
    model.targets.flatMap((target) => (target.channel === channel ? [{ model, target }] : [])),
  );
}

function costOf(target: Target | undefined) {
  const classes = target?.cost?.tiers[0]?.classes;
  return classes === undefined
    ? null
    : { input: perMillion(classes.input), output: perMillion(outputPrice(classes)) };
}

/** The places that a channel names, and the secrets that the store keeps for it; and what keeps calls from each. */
function credentialsOf(
  channel: Channel,
  targets: readonly ServedTarget[],
  declared: StoredConfiguration['channels'][number],
  stored: StoredConfiguration,
  sight: ChannelSight,
) {
  const blocks = blocksOf(targets, sight);
  const there = new Set(channel.credentials.map(({ id }) => id));
  const named = declared.credentials.map((source) => ({
    ...{ id: describeSource(source), kind: source.kind, name: describeSource(source) },
    ...{ createdAt: null, rotatedAt: null },
  }));
  const kept = stored.credentials
    .filter(({ channelId }) => channelId === channel.id)
    .map(({ id, kind, name, createdAtMs, rotatedAtMs }) => ({
      ...{ id, kind, name },
      ...{ createdAt: isoTime(createdAtMs), rotatedAt: timeOf(rotatedAtMs) },
    }));
  const known = new Set([...named, ...kept].map(({ id }) => id));
  // A usual variable of the provider is named by nobody.
  const usual = channel.credentials.flatMap(({ id }) =>
    known.has(id) || !channel.provider.environment.includes(id)
      ? []
      : [{ id, kind: 'environment' as const, name: id, createdAt: null, rotatedAt: null }],
  );
  return [...named, ...usual, ...kept].map((each) => ({
    ...each,
    isThere: there.has(each.id),
    blocks: blocks.get(each.id) ?? [],
  }));
}

function blocksOf(targets: readonly ServedTarget[], { router, nowMs }: ChannelSight) {
  const all = targets.flatMap(({ model, target }) => {
    const words = router.status(target, nowMs).lastFailure?.words ?? null;
    return router.slotStatuses(target, nowMs).flatMap(({ credentialId, refusedUntilMs, limitedUntilMs }) => {
      const until = refusedUntilMs ?? limitedUntilMs;
      if (credentialId === null || until === null) return [];
      const reason = refusedUntilMs === null ? ('limited' as const) : ('refused' as const);
      return [{ credentialId, block: { model: model.id, reason, until: isoTime(until), words } }];
    });
  });
  const grouped = Map.groupBy(all, ({ credentialId }) => credentialId);
  return new Map([...grouped].map(([id, found]) => [id, found.map(({ block }) => block)]));
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

import type { Need, Result } from '@headgate/protocols';
import type { PriceVersion } from '../money/price.ts';
import type { Sourced, StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import { wayOf } from './build-way.ts';
import {
  type Caller,
  type Catalogue,
  type Channel,
  type Credential,
  type Group,
  type GroupRouting,
  type KeyRecord,
  type Model,
  originOf,
  type Provider,
  type ProxyServer,
  type Target,
} from './catalogue.ts';
import type { DeclaredChannel, DeclaredGroup, DeclaredModel } from './entities.ts';
import {
  type Modality,
  type ModelBook,
  type ModelFacts,
  modalities,
  takesReasoning,
  unknownModel,
} from './model-facts.ts';
import { multipliersFinder, roughText } from './multipliers.ts';
import { limitsFinder } from './owner-limits.ts';
import { pricesInForce, type SteadyTime, steadyTime } from './price-timeline.ts';
import { Rights } from './rights.ts';
import {
  describeSource,
  type SealedSecret,
  type SealedSigningSecret,
  type SecretSource,
} from './secret-source.ts';
import { servedByChannel } from './served.ts';
import { buildWebhooks, type Webhook } from './webhooks.ts';

/** The sources of a snapshot, beside the stored configuration. */
export interface CatalogueSources {
  readonly stored: StoredConfiguration;
  /** Finds a provider by id: the stored row, else the catalogue's. */
  readonly provider: (id: string) => Provider | null;
  /** All that is known of models. */
  readonly book: ModelBook;
  /** Gives a secret, or says without it why it is not there: as "the variable X is not set". */
  readonly secret: (source: SecretSource | SealedSecret | SealedSigningSecret) => Result<string, string>;
  /** The proxy that the server goes through to an address where a channel says nothing; null where it goes directly. */
  readonly proxyFor: (baseUrl: string) => ProxyServer | null;
  /** Fills a gap of a base URL, such as `{simulator}`. */
  readonly variable: (name: string) => string | undefined;
  readonly nowMs: number;
  /** A model without a price is hidden from callers, or served unbilled. */
  readonly unpricedModels: 'refuse' | 'bill-zero' | 'serve';
}

/** Something the operator should know; the snapshot works without what it names. */
export interface CatalogueProblem {
  readonly kind:
    | 'unpriced-model'
    | 'missing-credential'
    | 'unknown-provider'
    | 'incomplete-address'
    | 'orphan-key'
    | 'rough-discount'
    | 'webhook-without-secret';
  /** Id of the model, channel, key, account or webhook. */
  readonly subject: string;
  readonly detail: string;
}

export interface BuiltCatalogue {
  readonly catalogue: Catalogue;
  readonly problems: readonly CatalogueProblem[];
  readonly webhooks: readonly Webhook[];
  /** Its prices are those that hold in this time, in milliseconds since the epoch. */
  readonly steady: SteadyTime;
}

/** Builds the snapshot the hot path reads. The same sources give the same snapshot. */
export function buildCatalogue(sources: CatalogueSources): BuiltCatalogue {
  const { stored, nowMs } = sources;
  const problems: CatalogueProblem[] = [];
  const priceOf = priceLookup(stored.prices, nowMs);
  const channels = new Map<string, Channel>();
  for (const declared of stored.channels) {
    const channel = buildChannel(declared, sources, problems);
    if (channel !== null) channels.set(declared.id, channel);
  }
  const targets = targetsByModel(sources, channels, priceOf);
  const several = [...targets.values()].filter(({ length }) => length > 1).flat();
  const chosen = new Set(several.map(({ origin }) => origin));
  const models = new Map(
    stored.models.map((model) => [
      model.id,
      buildModel(model, targets.get(model.id) ?? [], chosen, sources, priceOf, problems),
    ]),
  );
  const groups = new Map(stored.groups.map((group) => [group.id, buildGroup(group)]));
  const keys = buildKeys(stored, groups, problems);
  const served = servedByChannel(models.values());
  const rights = new Rights(models.values());
  const catalogue = { revision: stored.revision, keys, groups, models, channels, served, rights };
  const { webhooks, gaps } = buildWebhooks(stored.webhooks ?? [], stored.signingSecrets ?? [], sources);
  for (const { id: subject, detail } of gaps)
    problems.push({ kind: 'webhook-without-secret', subject, detail });
  return { catalogue, problems, webhooks, steady: steadyTime(stored.prices, nowMs) };
}

function buildGroup(stored: DeclaredGroup & Sourced): Group {
  const { source: _, timeZone: __, budgets: ___, limits: ____, ...group } = stored;
  return { ...group, models: setOf(group.models), routing: routingOf(group) };
}

function routingOf({ routing }: Pick<DeclaredGroup, 'routing'>): GroupRouting {
  return { ...routing, channels: setOf(routing.channels) };
}

function buildChannel(
  declared: DeclaredChannel & Sourced,
  sources: CatalogueSources,
  problems: CatalogueProblem[],
): Channel | null {
  const provider = sources.provider(declared.providerId);
  const note = (kind: CatalogueProblem['kind'], detail: string): void => {
    problems.push({ kind, subject: declared.id, detail });
  };
  if (provider === null) {
    note('unknown-provider', `its provider "${declared.providerId}" is not in the catalogue`);
    return null;
  }
  const { baseUrl, gaps } = fillGaps(declared.baseUrl ?? provider.baseUrl, sources.variable);
  if (gaps.length > 0) note('incomplete-address', `its base URL lacks ${gaps.join(', ')}`);
  const { credentials, missing } = credentialsOf(declared, provider, sources);
  const way = wayOf(declared, baseUrl, provider, sources);
  for (const detail of [...missing, ...way.missing]) note('missing-credential', detail);
  const { providerId: _, credentials: __, models: ___, ...options } = declared;
  const isWhole = (credentials.length > 0 || missing.length === 0) && way.missing.length === 0;
  const { headers, proxy, secrets } = way;
  return {
    ...options,
    provider,
    baseUrl,
    credentials,
    headers,
    proxy,
    secrets,
    enabled: declared.enabled && isWhole && gaps.length === 0,
    simulated: provider.simulated,
    allowPrivate: declared.allowPrivate || provider.simulated,
  };
}

interface FoundCredentials {
  readonly credentials: readonly Credential[];
  /** Says which are not there. */
  readonly missing: readonly string[];
}

/** A channel works with those of its credentials that are there: those that it names, else its provider's, and those that the store keeps for it. */
function credentialsOf(
  { id: channelId, credentials: named }: DeclaredChannel,
  provider: Provider,
  { stored, secret }: CatalogueSources,
): FoundCredentials {
  if (provider.credential.scheme === 'none') return { credentials: [], missing: [] };
  const kept = stored.credentials.filter((each) => each.channelId === channelId);
  const places = [...(named.length === 0 ? usualPlace(provider, secret) : named), ...kept];
  if (places.length === 0) return { credentials: [], missing: [howToGive(channelId, provider)] };
  const credentials: Credential[] = [];
  const missing: string[] = [];
  for (const place of places) {
    const found = secret(place);
    if (found.ok) credentials.push({ id: unusedId(describeSource(place), credentials), secret: found.value });
    else missing.push(found.error);
  }
  return { credentials, missing };
}

/** The first of the provider's variables that is set. */
function usualPlace({ environment }: Provider, secret: CatalogueSources['secret']): readonly SecretSource[] {
  const places = environment.map((name) => ({ kind: 'environment', name }) as const);
  return places.filter((place) => secret(place).ok).slice(0, 1);
}

function howToGive(channelId: string, { environment }: Provider): string {
  const places = environment.length === 0 ? [] : [`set ${environment.join(' or ')}`];
  return `it has no credential; ${[...places, 'say in the file where it is', `headgate credentials add ${channelId}`].join(', or ')}`;
}

/** Two commands may have one program. */
function unusedId(id: string, taken: readonly Credential[]): string {
  const same = taken.filter((each) => each.id === id || each.id.startsWith(`${id} #`)).length;
  return same === 0 ? id : `${id} #${same + 1}`;
}

function fillGaps(
  address: string,
  variable: CatalogueSources['variable'],
): { baseUrl: string; gaps: readonly string[] } {
  const gaps: string[] = [];
  const baseUrl = address.replaceAll(/\{(\w+)\}/g, (gap, name: string) => {
    const value = variable(name);
    if (value === undefined) gaps.push(gap);
    return value ?? gap;
  });
  return { baseUrl, gaps };
}

const nothing: ReadonlySet<Need> = new Set();

function targetsByModel(
  { stored, book }: CatalogueSources,
  channels: ReadonlyMap<string, Channel>,
  priceOf: (subject: string) => PriceVersion | null,
): ReadonlyMap<string, readonly Target[]> {
  const targets = new Map<string, Target[]>();
  const declared = new Map(stored.models.map((model) => [model.id, model]));
  for (const { id, models } of stored.channels) {
    const channel = channels.get(id);
    if (channel === undefined) continue;
    for (const { modelId, upstreamModel, contextWindow, lacks } of models) {
      const cost = priceOf(`channel:${id}/${modelId}`);
      const facts = declaredFacts(book.find(channel.provider.id, upstreamModel), declared.get(modelId));
      const target = {
        channel,
        upstreamModel,
        cost,
        facts,
        contextWindow: contextWindow ?? facts.contextWindow,
        lacks: lacks.length === 0 ? nothing : new Set(lacks),
        origin: originOf(id, upstreamModel),
      };
      targets.set(modelId, [...(targets.get(modelId) ?? []), target]);
    }
  }
  return new Map([...targets].map(([modelId, all]) => [modelId, withKnownLacks(all)]));
}

/** The media that a target may be known to read or not. */
const mediaNeeds = [
  ['image-input', 'image'],
  ['audio-input', 'audio'],
] as const satisfies readonly (readonly [Need, Modality])[];

/** Calls that need a medium go to the targets that are known to read it, as far as others of the model are known not to. */
function withKnownLacks(targets: readonly Target[]): readonly Target[] {
  const contested = mediaNeeds.filter(([, modality]) =>
    targets.some(({ facts }) => facts.inputModalities?.includes(modality) === true),
  );
  return targets.map((target) => {
    const reads = target.facts.inputModalities ?? [];
    const lacking = contested.filter(([, modality]) => reads.length > 0 && !reads.includes(modality));
    if (lacking.length === 0) return target;
    return { ...target, lacks: new Set([...target.lacks, ...lacking.map(([need]) => need)]) };
  });
}

/** The facts as the operator has them: the word of a file stands before what is known. */
function declaredFacts(facts: ModelFacts, declared: DeclaredModel | undefined): ModelFacts {
  if (declared === undefined) return facts;
  const { reasoning, contextWindow, maxOutputTokens, inputModalities } = declared;
  const isAsKnown = reasoning === null || (reasoning && takesReasoning(facts));
  return {
    ...facts,
    reasoning: isAsKnown
      ? facts.reasoning
      : { ...unknownModel.reasoning, mode: reasoning ? 'optional' : 'none' },
    contextWindow: contextWindow ?? facts.contextWindow,
    maxOutputTokens: maxOutputTokens ?? facts.maxOutputTokens,
    inputModalities:
      inputModalities === null
        ? facts.inputModalities
        : modalities.filter((modality) => inputModalities.includes(modality)),
  };
}

function buildModel(
  declared: DeclaredModel,
  targets: readonly Target[],
  chosen: ReadonlySet<string>,
  { book, unpricedModels }: CatalogueSources,
  priceOf: (subject: string) => PriceVersion | null,
  problems: CatalogueProblem[],
): Model {
  const price = priceOf(`model:${declared.id}`);
  if (price === null) {
    const fate =
      unpricedModels === 'refuse'
        ? 'so callers are told that there is no such model'
        : 'so its calls are free';
    problems.push({
      kind: 'unpriced-model',
      subject: declared.id,
      detail: `it has no price, ${fate}; headgate prices show ${declared.id} says how to give it one`,
    });
  }
  const { id, displayName, ownedBy, pricedAs, created, inputModalities, outputModalities, capabilities } =
    declared;
  const found = targets.map(({ channel, upstreamModel }) => book.find(channel.provider.id, upstreamModel));
  const facts = declaredFacts(found.find((each) => each !== unknownModel) ?? book.findByName(id), declared);
  return {
    id,
    displayName,
    ownedBy,
    pricedAs,
    listed: declared.listed,
    created: created ?? (facts.released === null ? 0 : Date.parse(facts.released) / 1000),
    contextWindow: facts.contextWindow,
    maxOutputTokens: facts.maxOutputTokens,
    inputModalities: inputModalities ?? facts.inputModalities ?? ['text'],
    outputModalities: outputModalities ?? facts.outputModalities ?? ['text'],
    capabilities: capabilities ?? capabilitiesOf(facts),
    facts,
    price,
    isOffered: price !== null || unpricedModels !== 'refuse',
    targets,
    hasChoice: targets.some(({ origin }) => chosen.has(origin)),
  };
}

function capabilitiesOf(facts: ModelFacts): readonly string[] {
  const { tools, structuredOutput } = facts;
  const all = { tools, 'structured-output': structuredOutput, reasoning: takesReasoning(facts) };
  return Object.entries(all).flatMap(([name, has]) => (has === true ? [name] : []));
}

function buildKeys(
  stored: StoredConfiguration,
  groups: ReadonlyMap<string, Group>,
  problems: CatalogueProblem[],
): ReadonlyMap<string, KeyRecord> {
  const keys = new Map<string, KeyRecord>();
  const accounts = new Set(stored.accounts.map(({ id }) => id));
  const limitsOf = limitsFinder(stored.accounts, stored.groups);
  const multipliers = multipliersFinder(stored.accounts);
  for (const key of stored.keys) {
    const group = groups.get(key.groupId);
    const hasAccount = accounts.has(key.accountId);
    if (group !== undefined && hasAccount)
      keys.set(key.hash, {
        caller: {
          ...callerOf(key, group, limitsOf(key)),
          multipliers: multipliers.find(key.accountId, group.multiplierPpm),
        },
        status: key.status,
      });
    else if (key.status === 'active') {
      problems.push({
        kind: 'orphan-key',
        subject: key.id,
        detail: `its ${hasAccount ? `group "${key.groupId}"` : `account "${key.accountId}"`} does not exist any more`,
      });
    }
  }
  for (const rough of multipliers.rough)
    problems.push({ kind: 'rough-discount', subject: rough.accountId, detail: roughText(rough) });
  return keys;
}

function callerOf(key: StoredKey, group: Group, limits: Caller['limits']): Omit<Caller, 'multipliers'> {
  return {
    keyId: key.id,
    keyName: key.name,
    accountId: key.accountId,
    group,
    models: setOf(key.models),
    createdAtMs: key.createdAtMs,
    strict: key.strict,
    addressRanges: key.addressRanges,
    expiresAtMs: earliest([key.expiresAtMs, key.retiresAtMs]),
    limits,
  };
}

function priceLookup(
  prices: StoredConfiguration['prices'],
  nowMs: number,
): (subject: string) => PriceVersion | null {
  const found = pricesInForce(prices, nowMs);
  const versions = new Map<string, PriceVersion>();
  // All that has a price shares one object for it.
  for (const [subject, { version, effectiveFromMs, tiers }] of found)
    versions.set(subject, { id: version, effectiveFromMs, tiers });
  return (subject) => versions.get(subject) ?? null;
}

function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce(
    (first, time) => (first === null || (time !== null && time < first) ? time : first),
    null,
  );
}

function setOf(names: readonly string[] | null): ReadonlySet<string> | null {
  return names === null ? null : new Set(names);
}

import {
  beginningOf,
  type Dialect,
  type Fault,
  fault,
  type NameSearch,
  type Need,
  type ProtocolId,
  upstreamProtocolsOf,
} from '@headgate/protocols';
import type { PriceVersion } from '../money/price.ts';
import type { DeclaredChannel, DeclaredGroup, DeclaredModel, DeclaredRouting } from './entities.ts';
import type { OwnerLimits } from './limits.ts';
import type { ModelFacts } from './model-facts.ts';
import type { Multipliers } from './multipliers.ts';
import type { Sourced } from './sources.ts';

export type { RoutingPreset } from './entities.ts';

/** How a provider expects its credential on a request. */
export type CredentialScheme =
  | { readonly scheme: 'bearer' }
  | { readonly scheme: 'header'; readonly header: string }
  | { readonly scheme: 'none' };

/** A company or server that hosts models: a row of data, never code. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  /** Path per protocol, appended to the base URL. */
  readonly protocols: Readonly<Partial<Record<ProtocolId, string>>>;
  readonly credential: CredentialScheme;
  readonly dialect: Dialect;
  readonly modelsPath: string | null;
  readonly environment: readonly string[];
  readonly documentation: string | null;
  /** Its answers are made up. */
  readonly simulated: boolean;
}

/** A secret by which a provider knows its customer. */
export interface Credential {
  /** Names the place it is kept in, such as its variable, once in each channel; said in place of the secret. */
  readonly id: string;
  /** In memory only. */
  readonly secret: string;
}

/** A proxy that opens a tunnel to any host when it is told CONNECT. */
export interface ProxyServer {
  /** Scheme, host and port. */
  readonly url: string;
  /** The header `proxy-authorization`; null where it asks for none. */
  readonly authorization: string | null;
}

/** One configured way to a provider: the unit that is routed to, tested and shown. Its options are `channelFields`. */
export interface Channel
  extends Sourced,
    Omit<DeclaredChannel, 'providerId' | 'baseUrl' | 'credentials' | 'headers' | 'proxy' | 'models'> {
  readonly provider: Provider;
  readonly baseUrl: string;
  /** Calls take turns with them; empty when the scheme is `none`. */
  readonly credentials: readonly Credential[];
  /** Sent with every call there: name, value, …; names in lower case. */
  readonly headers: readonly string[];
  /** Null where it is reached directly. */
  readonly proxy: ProxyServer | null;
  /** All of its secrets that are no credentials: values of headers, the password of its proxy. */
  readonly secrets: readonly string[];
  /** Answers are made up by the simulator; said wherever a person could take them for real. */
  readonly simulated: boolean;
}

/** A channel together with the upstream model name: what an attempt is sent to. */
export interface Target {
  readonly channel: Channel;
  readonly upstreamModel: string;
  /** The price that the upstream charges us; null when not known. */
  readonly cost: PriceVersion | null;
  /** Tokens of prompt and answer together that it takes: what the channel declares, else the model's; null when not known. */
  readonly contextWindow: number | null;
  /** Needs that it cannot serve although the model can: as the operator says, or as it is known where another target can. */
  readonly lacks: ReadonlySet<Need>;
  /** The word by which sealed state is known to come from here; see `originOf`. */
  readonly origin: string;
  /** The model as it is there; what the operator says of it stands before what is known of it. */
  readonly facts: ModelFacts;
}

/** A public model id, and `modelFields` as callers are told them: as the operator says, else as it is known. Tokens where a size is named. */
export interface Model
  extends Pick<
    DeclaredModel,
    'id' | 'displayName' | 'ownedBy' | 'contextWindow' | 'maxOutputTokens' | 'pricedAs' | 'listed'
  > {
  /** Unix seconds; 0 when not known. */
  readonly created: number;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly capabilities: readonly string[];
  readonly facts: ModelFacts;
  /** The price that callers pay, before the group's multiplier; null is an operator alert. */
  readonly price: PriceVersion | null;
  /** False where it has no price, unless the operator serves such models: then it does not exist for callers. */
  readonly isOffered: boolean;
  readonly targets: readonly Target[];
  /** True where a target is one of several, here or of another model: it matters there what calls of this one teach of its cache. */
  readonly hasChoice: boolean;
}

/** How calls of a group are routed. */
export interface GroupRouting extends Omit<DeclaredRouting, 'channels'> {
  /** Ids of the channels they may be sent to; null is every channel. */
  readonly channels: ReadonlySet<string> | null;
}

/** The routing of a group whose operator says nothing else. */
export const plainRouting = {
  preset: 'balanced',
  channels: null,
  hedging: false,
  rescue: 'none',
} as const satisfies GroupRouting;

/** Its limits are those of its callers; see `Caller`. */
export interface Group extends Omit<DeclaredGroup, 'models' | 'routing' | 'timeZone' | 'budgets' | 'limits'> {
  /** Models its keys may call; null is every model. */
  readonly models: ReadonlySet<string> | null;
  readonly routing: GroupRouting;
}

/** Who calls, as authentication found it. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly accountId: string;
  readonly group: Group;
  /** Models this key may call; null is every model of its group. */
  readonly models: ReadonlySet<string> | null;
  /** The factors on list prices where its account has a discount; null where it has none: then its group's multiplier is the factor. */
  readonly multipliers: Multipliers | null;
  /** True when its calls may lose nothing in translation: a loss is a 400 then. */
  readonly strict: boolean;
  /** The only addresses it may call from; null is any. */
  readonly addressRanges: readonly string[] | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** The limits of its account, its group and itself, in this order; owners that have none are left out. */
  readonly limits: readonly OwnerLimits[];
}

export type KeyStatus = 'active' | 'disabled' | 'revoked';

/** A stored key as authentication needs it. */
export interface KeyRecord {
  readonly caller: Caller;
  readonly status: KeyStatus;
}

/** A model of one channel, under one public id. */
export interface ServedModel {
  readonly model: Model;
  readonly target: Target;
}

/** The models of a channel by the names that its upstream has for them, in lower case. */
export type ServedNames = ReadonlyMap<string, ServedModel>;

/** The names of models that bodies may have; see `Rights`. */
export interface NameRights {
  searchOf(protocol: ProtocolId): NameSearch;
  modelsNamed(text: string): readonly Model[];
}

/** Everything the hot path reads: immutable, and swapped whole when configuration changes. */
export interface Catalogue {
  /** Grows with every change of configuration. */
  readonly revision: number;
  /** By lower-case hex of the key's HMAC-SHA256. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly models: ReadonlyMap<string, Model>;
  readonly channels: ReadonlyMap<string, Channel>;
  /** The models that answers of each channel may name, by its id. */
  readonly served: ReadonlyMap<string, ServedNames>;
  /** The names by which bodies may have other models asked. */
  readonly rights: NameRights;
}

/** Tells if a target takes calls of the protocol, as they are or translated. */
export function canServe({ channel }: Target, protocol: ProtocolId): boolean {
  return channel.enabled && upstreamProtocolsOf(protocol, channel.provider.protocols).length > 0;
}

/** Tells if a target takes calls of the protocol as they are. */
export function speaks({ channel }: Target, protocol: ProtocolId): boolean {
  return channel.provider.protocols[protocol] !== undefined;
}

/** Tells if a key may name this model; unknown and forbidden look the same to it. */
export function mayCall(caller: Caller, modelId: string): boolean {
  return (caller.group.models?.has(modelId) ?? true) && (caller.models?.has(modelId) ?? true);
}

/** One fault for unknown and forbidden, wherever a model is named. */
export function modelNotFound(modelId: string, field = 'model'): Fault {
  const where = field === 'model' ? '' : ` that '${beginningOf(field, 200)}' names`;
  return fault('model_not_found', {
    message: `The model '${beginningOf(modelId, 200)}'${where} does not exist or this key may not use it; GET /v1/models lists what it may.`,
    param: beginningOf(field, 200),
  });
}

const offsetBasis = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/**
 * The word by which sealed state is known to come from a target: the same for every call, and nothing can be read from it
 * (FNV-1a, 64 bits, in base 36). Accounts of one vendor do not share such state, so it names the channel.
 */
export function originOf(channelId: string, upstreamModel: string): string {
  let hash = offsetBasis;
  for (const byte of new TextEncoder().encode(`${channelId}\n${upstreamModel}`)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime);
  }
  return hash.toString(36);
}

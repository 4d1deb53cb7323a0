import {
  type Dialect,
  type Fault,
  fault,
  type Need,
  type Platform,
  type ProtocolId,
  upstreamProtocolOf,
} from '@headgate/protocols';
import type { PriceVersion } from './price.ts';

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

/** What a provider knows its customer by. */
export interface Credential {
  /** Where it is kept, such as the name of its variable: what is said in place of the secret. */
  readonly id: string;
  /** In memory only. */
  readonly secret: string;
}

/** One configured way to a provider: the unit that is routed to, tested and shown. */
export interface Channel {
  readonly id: string;
  /** Shown on the status page in place of the id. */
  readonly alias: string;
  readonly provider: Provider;
  readonly baseUrl: string;
  /** Calls take turns with them; empty when the scheme is `none`. */
  readonly credentials: readonly Credential[];
  /** Lower comes first, whatever the price. */
  readonly priority: number;
  readonly enabled: boolean;
  /** To be emptied: no call is sent there but those that can only go there. */
  readonly drain: boolean;
  /** Attempts under way at once, over all its models; null is any number. */
  readonly maxConcurrency: number | null;
  /** Answers are made up by the simulator; said wherever a person could take them for real. */
  readonly simulated: boolean;
  /** The operator's word that this base URL may lead to a private or loopback address. */
  readonly allowPrivate: boolean;
}

/** A channel together with the upstream model name: what an attempt is sent to. */
export interface Target {
  readonly channel: Channel;
  readonly upstreamModel: string;
  /** What the upstream charges us; null when not known. */
  readonly cost: PriceVersion | null;
  /** Tokens of prompt and answer together that it takes: what the channel declares, else the model's; null when not known. */
  readonly contextWindow: number | null;
  /** What it cannot do although the model can, as far as the operator has said. */
  readonly lacks: ReadonlySet<Need>;
  /** The word by which sealed state is known to come from here; see `originOf`. */
  readonly origin: string;
}

/** A public model id and what is known about it. Tokens where a size is named. */
export interface Model {
  readonly id: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix seconds. */
  readonly created: number;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly capabilities: readonly string[];
  readonly reasoning: boolean;
  /** What callers pay, before the group's multiplier; null is an operator alert. */
  readonly price: PriceVersion | null;
  readonly targets: readonly Target[];
}

/** What counts most when calls are routed: the price, the time, or both. */
export type RoutingPreset = 'cost' | 'balanced' | 'latency';

/** How calls of a group are routed. */
export interface GroupRouting {
  readonly preset: RoutingPreset;
  /** Ids of the channels they may be sent to; null is every channel. */
  readonly channels: ReadonlySet<string> | null;
  /** Whether a second channel may be asked while the first is silent; the one that answers first is kept. */
  readonly hedging: boolean;
}

/** Where an operator says nothing else. */
export const plainRouting = {
  preset: 'balanced',
  channels: null,
  hedging: false,
} as const satisfies GroupRouting;

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly platform: Platform;
  /** Parts per million: 1_000_000 charges the list price. */
  readonly multiplierPpm: bigint;
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
  /** Whether its calls may lose nothing in translation: what would be lost is a 400. */
  readonly strict: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

export type KeyStatus = 'active' | 'disabled' | 'revoked';

/** A stored key as authentication needs it. */
export interface KeyRecord {
  readonly caller: Caller;
  readonly status: KeyStatus;
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
}

/** Whether a target takes calls of the protocol, as they are or translated. */
export function canServe({ channel }: Target, protocol: ProtocolId): boolean {
  return channel.enabled && upstreamProtocolOf(protocol, channel.provider.protocols) !== null;
}

/** Whether a target takes calls of the protocol as they are. */
export function speaks({ channel }: Target, protocol: ProtocolId): boolean {
  return channel.provider.protocols[protocol] !== undefined;
}

/** Whether a key may name this model; unknown and forbidden look the same to it. */
export function mayCall(caller: Caller, modelId: string): boolean {
  return (caller.group.models?.has(modelId) ?? true) && (caller.models?.has(modelId) ?? true);
}

/** One fault for unknown and forbidden, wherever a model is named. */
export function modelNotFound(modelId: string): Fault {
  return fault('model_not_found', {
    message: `The model '${modelId.slice(0, 200)}' does not exist or this key may not use it; GET /v1/models lists what it may.`,
    param: 'model',
  });
}

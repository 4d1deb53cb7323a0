import type { Need } from '@headgate/protocols';
import type {
  DeclaredAccount,
  DeclaredChannel,
  DeclaredGroup,
  DeclaredKey,
  DeclaredModel,
} from '../ports/configuration-store.ts';
import type { Cell } from './call-row.ts';

/** What is declared as the columns it is kept in, beside `id`, `source` and `removed`. */
export type ConfigurationRow = Readonly<Record<string, Cell>> & {
  readonly id: string;
  readonly hash?: string;
};

export function accountRow(account: DeclaredAccount): ConfigurationRow {
  return { id: account.id, name: account.name };
}

export function groupRow(group: DeclaredGroup): ConfigurationRow {
  return {
    id: group.id,
    name: group.name,
    platform: group.platform,
    multiplier_ppm: group.multiplierPpm,
    models: encodeNames(group.models),
    routing_preset: group.routing.preset,
    routing_channels: encodeNames(group.routing.channels),
    hedging: group.routing.hedging ? 1 : 0,
  };
}

export function modelRow(model: DeclaredModel): ConfigurationRow {
  return {
    id: model.id,
    display_name: model.displayName,
    owned_by: model.ownedBy,
    created: model.created,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    input_modalities: JSON.stringify(model.inputModalities),
    output_modalities: JSON.stringify(model.outputModalities),
    capabilities: JSON.stringify(model.capabilities),
    reasoning: model.reasoning ? 1 : 0,
  };
}

export function channelRow(channel: DeclaredChannel): ConfigurationRow {
  return {
    id: channel.id,
    alias: channel.alias,
    provider_id: channel.providerId,
    base_url: channel.baseUrl,
    credential_environments: JSON.stringify(channel.credentialEnvironments),
    priority: channel.priority,
    enabled: channel.enabled ? 1 : 0,
    allow_private: channel.allowPrivate ? 1 : 0,
    drain: channel.drain ? 1 : 0,
    max_concurrency: channel.maxConcurrency,
  };
}

export function keyRow(key: DeclaredKey) {
  return {
    id: key.id,
    name: key.name,
    account_id: key.accountId,
    group_id: key.groupId,
    hash: key.hash,
    hint: key.hint,
    models: encodeNames(key.models),
    expires_at_ms: key.expiresAtMs === null ? null : BigInt(key.expiresAtMs),
    strict: key.strict ? 1n : 0n,
  } satisfies ConfigurationRow;
}

function encodeNames(names: readonly string[] | null): string | null {
  return names === null ? null : JSON.stringify(names);
}

/** Needs from their JSON, which the schema of the file has checked before they were stored. */
export function decodeNeeds(text: string): readonly Need[] {
  return JSON.parse(text) as readonly Need[];
}

/** A list of names from its JSON; the store is the only writer of these columns. */
export function decodeNames(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[];
}

export function decodeOptionalNames(text: string | null): readonly string[] | null {
  return text === null ? null : decodeNames(text);
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProtocolId } from '@headgate/protocols';
import { protocolIds } from '@headgate/protocols';
import type { CredentialScheme } from '../../catalogue/catalogue.ts';
import type { ProviderDocument } from '../../config/provider-document.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';

/** A provider that a channel can be made of, with all that is known before its first call. */
export interface ChannelPreset {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  /** Parts of the base URL that each channel fills in: `account_id`. */
  readonly gaps: readonly string[];
  readonly protocols: readonly ProtocolId[];
  readonly credential: CredentialScheme;
  /** Variables that its credential is usually in. */
  readonly environment: readonly string[];
  readonly documentation: string | null;
  /** True where it tells which models it has. */
  readonly listsModels: boolean;
  /** Models of which it is known what they cost there. */
  readonly pricedModels: number;
  readonly simulated: boolean;
}

/** Every provider of the catalogue, by name. The files are read one in a turn of the loop, and once. */
export async function channelPresets(files: CatalogueFiles): Promise<readonly ChannelPreset[]> {
  await files.warm(nextTurn);
  const presets = files.providerIds.flatMap((id) => {
    const provider = files.provider(id);
    return provider === null ? [] : [presetOf(provider, files)];
  });
  return presets.sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

function presetOf(provider: ProviderDocument, files: CatalogueFiles): ChannelPreset {
  const { id, name, baseUrl, protocols, credential } = provider;
  return {
    ...{ id, name, baseUrl, credential },
    gaps: [...baseUrl.matchAll(/\{(\w+)\}/g)].map(([, gap = '']) => gap),
    protocols: protocolIds.filter((protocol) => protocols[protocol] !== undefined),
    environment: provider.environment ?? [],
    documentation: provider.documentation ?? null,
    listsModels: provider.modelsPath !== undefined,
    pricedModels:
      provider.prices === undefined ? 0 : Object.keys(files.priceList(provider.prices).models).length,
    simulated: provider.simulated ?? false,
  };
}

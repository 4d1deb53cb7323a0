import { protocols } from '@headgate/protocols';
import type { ProviderDocument } from '../config/provider-document.ts';
import type { Environment } from '../config.ts';
import { plainRouting } from '../core/catalogue.ts';
import { type SeedModel, seedPriceAt } from '../core/price-seed.ts';
import type {
  Declaration,
  DeclaredAccount,
  DeclaredChannel,
  DeclaredGroup,
  DeclaredKey,
  DeclaredModel,
} from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';
import { describeModel } from './declare/declare-models.ts';
import { platforms } from './demo.ts';

interface FoundProvider {
  readonly provider: ProviderDocument;
  /** The variable its credential is in. */
  readonly variable: string;
}

/** The account that pays until an operator makes others. */
export const environmentAccount: DeclaredAccount = { id: 'default', name: 'Default' };

/** One group per platform, the same from start to start. */
export const environmentGroups: readonly DeclaredGroup[] = platforms.map((platform) => ({
  id: platform,
  name: platform,
  platform,
  multiplierPpm: 1_000_000n,
  routing: plainRouting,
  models: null,
}));

/** Providers whose credential is in the environment, and that Headgate can call. */
export function findEnvironmentProviders(
  catalogue: CatalogueFiles,
  environment: Environment,
): readonly FoundProvider[] {
  return catalogue.automaticProviders().flatMap((provider) => {
    const variable = provider.environment?.find((name) => environment(name) !== undefined);
    const isServed = Object.values(protocols).some(({ id }) => provider.protocols[id] !== undefined);
    return variable === undefined || !isServed ? [] : [{ provider, variable }];
  });
}

/** What a start without configuration declares when it finds credentials: a channel per provider, with all it is known to serve. */
export function environmentDeclaration(
  found: readonly FoundProvider[],
  catalogue: CatalogueFiles,
  keys: readonly DeclaredKey[],
  nowMs: number,
): Declaration {
  const models = new Map<string, DeclaredModel>();
  const channels = found.map(({ provider, variable }) => {
    const seed = catalogue.priceSeed(provider.prices ?? '');
    for (const [id, model] of Object.entries(seed)) {
      if (!models.has(id)) models.set(id, describeSeedModel(id, model, provider, nowMs));
    }
    return describeChannel(provider, variable, Object.entries(seed), nowMs);
  });
  return {
    providers: {},
    accounts: [environmentAccount],
    groups: environmentGroups,
    models: [...models.values()],
    channels,
    keys,
  };
}

function describeSeedModel(
  id: string,
  seed: SeedModel,
  provider: ProviderDocument,
  nowMs: number,
): DeclaredModel {
  const cost = seedPriceAt(seed, nowMs);
  return describeModel(id, {}, { provider, seed, cost }, cost);
}

function describeChannel(
  provider: ProviderDocument,
  variable: string,
  models: readonly (readonly [string, SeedModel])[],
  nowMs: number,
): DeclaredChannel {
  return {
    id: provider.id,
    alias: provider.name,
    providerId: provider.id,
    baseUrl: null,
    credentialEnvironments: [variable],
    priority: 0,
    enabled: true,
    drain: false,
    maxConcurrency: null,
    allowPrivate: false,
    models: models.map(([id, seed]) => ({
      modelId: id,
      upstreamModel: id,
      contextWindow: null,
      lacks: [],
      cost: seedPriceAt(seed, nowMs),
    })),
  };
}

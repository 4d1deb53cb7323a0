import { providerDocument, toProvider } from '../config/provider-document.ts';
import type { Environment } from '../config.ts';
import type { Provider } from '../core/catalogue.ts';
import { type BuiltCatalogue, buildCatalogue } from '../core/catalogue-build.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigurationStore, StoredConfiguration } from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';

export interface CatalogueLoadTools {
  readonly store: ConfigurationStore;
  readonly catalogueFiles: CatalogueFiles;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly variable: (name: string) => Promise<string | null>;
}

/** Reads the stored configuration and builds the snapshot from it. */
export async function loadCatalogue(tools: CatalogueLoadTools): Promise<BuiltCatalogue> {
  const stored = await tools.store.load();
  const provider = providerLookup(stored, tools.catalogueFiles);
  const variables = await resolveGaps(stored, provider, tools.variable);
  return buildCatalogue({
    stored,
    provider,
    secret: tools.environment,
    variable: (name) => variables.get(name) ?? undefined,
    nowMs: tools.clock.now(),
  });
}

/** A stored row wins over the catalogue's; one that a newer version wrote and this one cannot read counts as missing. */
function providerLookup(stored: StoredConfiguration, files: CatalogueFiles): (id: string) => Provider | null {
  return (id) => {
    const json = stored.providers[id];
    const document =
      json === undefined ? files.provider(id) : providerDocument.safeParse(JSON.parse(json)).data;
    return document === undefined || document === null ? null : toProvider(document);
  };
}

/** Asks for the gaps of the base URLs in use, and for no others: filling one may start something. */
async function resolveGaps(
  stored: StoredConfiguration,
  provider: (id: string) => Provider | null,
  variable: (name: string) => Promise<string | null>,
): Promise<ReadonlyMap<string, string | null>> {
  const addresses = stored.channels.map(
    (channel) => channel.baseUrl ?? provider(channel.providerId)?.baseUrl ?? '',
  );
  const names = new Set(
    addresses.flatMap((address) => [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
  );
  return new Map(await Promise.all([...names].map(async (name) => [name, await variable(name)] as const)));
}

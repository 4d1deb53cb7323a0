import { type BuiltCatalogue, buildCatalogue } from '../catalogue/build.ts';
import type { Provider } from '../catalogue/catalogue.ts';
import type { DeclaredChannel } from '../catalogue/entities.ts';
import type { SecretSource } from '../catalogue/secret-source.ts';
import { providerDocument, toProvider } from '../config/provider-document.ts';
import type { Settings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigurationStore, StoredConfiguration } from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';
import type { SecretBook } from './secrets/secret-book.ts';
import type { ProxyFor } from './usual-proxy.ts';

export interface CatalogueLoadTools {
  readonly store: Pick<ConfigurationStore, 'load'>;
  readonly catalogueFiles: CatalogueFiles;
  readonly secrets: SecretBook;
  readonly proxyFor: ProxyFor;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'unpricedModels'>;
  readonly variable: (name: string) => Promise<string | null>;
}

/** Reads the stored configuration and builds the snapshot from it, with the secrets that are there, or will be when commands have run. */
export async function loadCatalogue(
  tools: CatalogueLoadTools,
  waitsForCommands: boolean,
): Promise<BuiltCatalogue> {
  const { secrets } = tools;
  const stored = await tools.store.load();
  const provider = providerLookup(stored, tools.catalogueFiles);
  const variables = await resolveGaps(stored, provider, tools.variable);
  const webhooks = stored.webhooks?.flatMap(({ secret }) => secret ?? []) ?? [];
  const kept = [...stored.credentials, ...(stored.signingSecrets ?? [])];
  const places = [...stored.channels.flatMap(secretPlaces), ...kept, ...webhooks];
  await secrets.use(places, waitsForCommands);
  return buildCatalogue({
    stored,
    provider,
    book: tools.catalogueFiles.models(),
    secret: (source) => secrets.read(source),
    proxyFor: tools.proxyFor,
    variable: (name) => variables.get(name) ?? undefined,
    nowMs: tools.clock.now(),
    unpricedModels: tools.settings.unpricedModels,
  });
}

/** Every place that a channel names for a secret. */
function secretPlaces({ credentials, headers, proxy }: DeclaredChannel): readonly SecretSource[] {
  const values = headers.map(({ value }) => value).filter((value) => typeof value !== 'string');
  const password = proxy === null || proxy === 'none' ? null : proxy.password;
  return [...credentials, ...values, ...(password === null ? [] : [password])];
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

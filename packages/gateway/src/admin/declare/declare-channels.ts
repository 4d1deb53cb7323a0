import {
  channelFields,
  channelModelFields,
  type DeclaredChannel,
  type DeclaredChannelModel,
} from '../../catalogue/entities.ts';
import { declare, type ValuesOf } from '../../catalogue/fields.ts';
import { priceAt, versionAt } from '../../catalogue/price-book.ts';
import type { ChannelShape } from '../../config/configuration-schema.ts';
import type { ProviderDocument } from '../../config/provider-document.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import { complain, type Declaring, declarePrice, type ProviderLookup } from './declaring.ts';

export function declareChannels(declaring: Declaring, providers: ProviderLookup): readonly DeclaredChannel[] {
  return Object.entries(declaring.file.shape.channels ?? {}).flatMap(([id, shape]) => {
    const options = declare(channelFields, id, shape);
    const provider = providers.find(options.providerId);
    if (provider === null) {
      const message = `there is no provider "${options.providerId}"${providers.suggestion(options.providerId)}`;
      complain(declaring, ['channels', id, 'provider'], message);
      return [];
    }
    checkAddress(declaring, id, options, provider);
    const credentialEnvironments = credentialsOf(declaring, id, shape, provider);
    const models = modelEntries(shape).map((entry) => declareChannelModel(declaring, id, entry, provider));
    return [{ id, ...options, credentialEnvironments, models }];
  });
}

function declareChannelModel(
  declaring: Declaring,
  id: string,
  [modelId, entry]: readonly [string, ChannelModel],
  provider: ProviderDocument,
): DeclaredChannelModel {
  const options = declare(channelModelFields, modelId, entry);
  const { catalogue, nowMs } = declaring.tools;
  const listed = catalogue.priceList(provider.prices ?? '').find(options.upstreamModel);
  if (entry.cost === undefined)
    return { modelId, ...options, cost: listed === null ? null : priceAt(listed, nowMs) };
  const rest = listed === null ? null : versionAt(listed, nowMs);
  const path: YamlPath = ['channels', id, 'models', modelId, 'cost'];
  const cost = declarePrice(declaring, entry.cost, path, rest?.tiers ?? null);
  return { modelId, ...options, cost: cost?.tiers ?? null };
}

type ChannelModel = Exclude<Exclude<ChannelShape['models'], readonly string[]>[string], null>;

/** The models of a channel, whether they were given as a list or as a map. */
function modelEntries({ models }: ChannelShape): readonly (readonly [string, ChannelModel])[] {
  if (Array.isArray(models)) return models.map((modelId) => [modelId, {}]);
  return Object.entries(models).map(([modelId, entry]) => [modelId, entry ?? {}]);
}

function checkAddress(
  declaring: Declaring,
  id: string,
  { baseUrl, allowPrivate }: ValuesOf<typeof channelFields>,
  provider: ProviderDocument,
): void {
  const address = baseUrl ?? provider.baseUrl;
  const gaps = address.match(/\{\w+\}/g) ?? [];
  if (gaps.length > 0 && provider.simulated !== true) {
    complain(
      declaring,
      ['channels', id],
      `needs a baseUrl: that of ${provider.name} is ${address}, with ${gaps.join(' and ')} to fill in`,
    );
  }
  if (isLoopback(address) && !allowPrivate) {
    complain(
      declaring,
      ['channels', id],
      `leads to this machine (${address}); add allowPrivate: true if that is meant`,
    );
  }
}

function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

/** The variables a channel's credentials are in: those it names, else the first of the provider's that is set. */
function credentialsOf(
  declaring: Declaring,
  id: string,
  shape: ChannelShape,
  provider: ProviderDocument,
): readonly string[] {
  if (shape.credentials !== undefined) return severalCredentials(declaring, id, shape, shape.credentials);
  const { environment } = declaring.tools;
  const named = shape.credential?.environment;
  if (named !== undefined) {
    if (environment(named) === undefined)
      complain(declaring, ['channels', id, 'credential', 'environment'], notSet(named));
    return [named];
  }
  if (provider.credential.scheme === 'none') return [];
  const usual = provider.environment ?? [];
  const found = usual.find((name) => environment(name) !== undefined);
  if (found === undefined) complain(declaring, ['channels', id], missingCredential(usual));
  return found === undefined ? [] : [found];
}

/** One that is set will do: the others are reported when the catalogue is built, and taken up when they are set. */
function severalCredentials(
  declaring: Declaring,
  id: string,
  { credential }: ChannelShape,
  credentials: readonly { readonly environment: string }[],
): readonly string[] {
  const path: YamlPath = ['channels', id, 'credentials'];
  if (credential !== undefined)
    complain(
      declaring,
      path,
      'are given beside credential; move that one into the list and remove credential',
    );
  const names = credentials.map(({ environment }) => environment);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index)
      complain(
        declaring,
        [...path, index, 'environment'],
        `names ${name} again; each variable is listed once`,
      );
  }
  const isAnySet = names.some((name) => declaring.tools.environment(name) !== undefined);
  if (!isAnySet)
    complain(
      declaring,
      path,
      `none of the variables ${names.join(', ')} is set; export one of them before starting`,
    );
  return names;
}

function notSet(name: string): string {
  return `the variable ${name} is not set; export it before starting, or name another`;
}

function missingCredential(usual: readonly string[]): string {
  if (usual.length === 0)
    return 'needs a credential; write credential: { environment: NAME_OF_THE_VARIABLE }';
  return `needs a credential; set ${usual.join(' or ')}, or write credential: { environment: NAME_OF_THE_VARIABLE }`;
}

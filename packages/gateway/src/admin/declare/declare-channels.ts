import { timeoutFields } from '../../catalogue/channel-way.ts';
import {
  channelFields,
  channelModelFields,
  type DeclaredChannel,
  type DeclaredChannelModel,
} from '../../catalogue/entities.ts';
import { declare, type ValuesOf } from '../../catalogue/fields.ts';
import type { ListedModel, PriceList } from '../../catalogue/price-book.ts';
import {
  describeSource,
  readSecretSource,
  type SecretSource,
  type WrittenSecret,
} from '../../catalogue/secret-source.ts';
import type { ChannelShape } from '../../config/channel-shape.ts';
import type { ProviderDocument } from '../../config/provider-document.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import { type DeclaredTimeline, declareTimeline, listTimeline } from './declare-price.ts';
import { complain, type DeclaringChannels, type ProviderLookup } from './declaring.ts';

export function declareChannels(
  declaring: DeclaringChannels,
  providers: ProviderLookup,
): readonly DeclaredChannel[] {
  return Object.entries(declaring.file.shape.channels ?? {}).flatMap(([id, shape]) => {
    const options = declare(channelFields, id, shape);
    const provider = providers.find(options.providerId);
    if (provider === null) {
      const message = `there is no provider "${options.providerId}"${providers.suggestion(options.providerId)}`;
      complain(declaring, ['channels', id, 'provider'], message);
      return [];
    }
    checkAddress(declaring, id, options, provider);
    checkHeaders(declaring, id, options, provider);
    const timeouts = declare(timeoutFields, id, shape.timeouts ?? {});
    const credentials = credentialsOf(declaring, id, shape);
    const models = modelEntries(shape).map((entry) => declareChannelModel(declaring, id, entry, provider));
    return [{ id, ...options, timeouts, credentials, models }];
  });
}

function declareChannelModel(
  declaring: DeclaringChannels,
  id: string,
  [modelId, entry]: readonly [string, ChannelModel],
  provider: ProviderDocument,
): DeclaredChannelModel {
  const options = declare(channelModelFields, modelId, entry);
  const { catalogue, nowMs } = declaring.tools;
  const list = catalogue.priceList(provider.prices ?? '');
  const listed = list.find(options.upstreamModel);
  if (entry.cost === undefined) return { modelId, ...options, ...listCost(list, listed, nowMs) };
  const rest = listed === null ? null : { list, model: listed };
  const path: YamlPath = ['channels', id, 'models', modelId, 'cost'];
  const cost = declareTimeline(declaring, entry.cost, path, rest, nowMs);
  return { modelId, ...options, ...costsOf(cost ?? { tiers: null, origin: null, later: [] }) };
}

type DeclaredCost = Pick<DeclaredChannelModel, 'cost' | 'costOrigin' | 'costLater'>;

function costsOf({ tiers, origin, later }: DeclaredTimeline): DeclaredCost {
  return { cost: tiers, costOrigin: origin, ...(later.length === 0 ? {} : { costLater: later }) };
}

/** The cost of a model by the list of its provider. */
export function listCost(list: PriceList, listed: ListedModel | null, nowMs: number): DeclaredCost {
  return costsOf(listTimeline(listed === null ? null : { list, model: listed }, nowMs));
}

type ChannelModel = Exclude<Exclude<ChannelShape['models'], readonly string[]>[string], null>;

/** The models of a channel, whether they were given as a list or as a map. */
function modelEntries({ models }: ChannelShape): readonly (readonly [string, ChannelModel])[] {
  if (Array.isArray(models)) return models.map((modelId) => [modelId, {}]);
  return Object.entries(models).map(([modelId, entry]) => [modelId, entry ?? {}]);
}

function checkAddress(
  declaring: DeclaringChannels,
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

function checkHeaders(
  declaring: DeclaringChannels,
  id: string,
  { headers }: ValuesOf<typeof channelFields>,
  { credential }: ProviderDocument,
): void {
  if (credential.scheme !== 'header' || !headers.some(({ name }) => name === credential.header.toLowerCase()))
    return;
  complain(
    declaring,
    ['channels', id, 'headers', credential.header],
    'carries the credential; write it as credential',
  );
}

function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

/** The places that a channel names for its credentials. Others are not looked for here: another process may have other variables. */
function credentialsOf(
  declaring: DeclaringChannels,
  id: string,
  { credential, credentials }: ChannelShape,
): readonly SecretSource[] {
  if (credentials !== undefined) {
    checkCredentials(declaring, ['channels', id, 'credentials'], credentials, credential !== undefined);
    return credentials.map(readSecretSource);
  }
  return credential === undefined ? [] : [readSecretSource(credential)];
}

/** One that is missing is no mistake of the file: its channel does without it, until it is there. */
function checkCredentials(
  declaring: DeclaringChannels,
  path: YamlPath,
  credentials: readonly WrittenSecret[],
  isBesideOne: boolean,
): void {
  if (isBesideOne)
    complain(
      declaring,
      path,
      'are given beside credential; move that one into the list and remove credential',
    );
  const texts = credentials.map((each) => JSON.stringify(each));
  for (const [index, each] of credentials.entries()) {
    if (texts.indexOf(texts[index] ?? '') === index) continue;
    const place = describeSource(readSecretSource(each));
    complain(declaring, [...path, index], `names ${place} again; each is listed once`);
  }
}

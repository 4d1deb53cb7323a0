import { stringify } from 'yaml';
import type { ProviderDocument } from '../config/provider-document.ts';
import { plainRouting } from '../core/catalogue.ts';
import { formatDecimal } from '../core/decimal.ts';
import type { PriceTier } from '../core/price.ts';
import { type PriceTierText, priceClassNames, readPriceTiers, writePriceTiers } from '../core/price-terms.ts';
import type {
  DeclaredChannel,
  DeclaredModel,
  DeclaredRouting,
  StoredConfiguration,
  StoredKey,
} from '../ports/configuration-store.ts';

/**
 * Everything configured as a configuration file that declares the same again. Keys are written as hashes, which mean
 * something only under the same pepper; those that do not work any more are left out.
 */
export function exportConfiguration(stored: StoredConfiguration): string {
  return stringify(
    {
      providers: byId(
        Object.entries(stored.providers).map(([id, json]) => ({ id, ...providerMembers(json) })),
      ),
      models: byId(stored.models.map(exportModel)),
      prices: Object.fromEntries(
        stored.models.flatMap(({ id, price }) => (price === null ? [] : [[id, exportPrice(price)]])),
      ),
      channels: byId(stored.channels.map(exportChannel)),
      accounts: byId(stored.accounts.map(({ id, name }) => ({ id, name }))),
      groups: byId(
        stored.groups.map(({ id, name, platform, multiplierPpm, models, routing }) => ({
          id,
          name,
          platform,
          multiplier: formatDecimal(multiplierPpm, 6),
          ...(models === null ? {} : { models }),
          ...exportRouting(routing),
        })),
      ),
      keys: byId(
        stored.keys.filter((key) => key.status === 'active' && key.retiresAtMs === null).map(exportKey),
      ),
    },
    { lineWidth: 0 },
  );
}

function byId<Row extends { readonly id: string }>(
  rows: readonly Row[],
): Readonly<Record<string, Omit<Row, 'id'>>> {
  return Object.fromEntries(rows.map(({ id, ...row }) => [id, row]));
}

/** Stored documents have been validated when they were declared; what they are now is the reader's to check again. */
function providerMembers(json: string): object {
  const { $schema: _, id: __, automatic: ___, ...members } = JSON.parse(json) as ProviderDocument;
  return members;
}

function exportModel(model: DeclaredModel) {
  const { price: _, created, contextWindow, maxOutputTokens, ...members } = model;
  return {
    ...members,
    ...(created === 0 ? {} : { created: new Date(created * 1000).toISOString().slice(0, 10) }),
    ...(contextWindow === null ? {} : { contextWindow }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  };
}

function exportChannel(channel: DeclaredChannel) {
  const { id, alias, providerId, baseUrl, credentialEnvironments, priority, enabled, allowPrivate, models } =
    channel;
  const { drain, maxConcurrency } = channel;
  return {
    id,
    ...{ provider: providerId, alias, priority, enabled, allowPrivate },
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(drain ? { drain } : {}),
    ...(maxConcurrency === null ? {} : { maxConcurrency }),
    ...exportCredentials(credentialEnvironments),
    models: Object.fromEntries(
      models.map(({ modelId, upstreamModel, cost, contextWindow, lacks }) => [
        modelId,
        {
          upstream: upstreamModel,
          ...(cost === null ? {} : { cost: exportPrice(cost) }),
          ...(contextWindow === null ? {} : { contextWindow }),
          ...(lacks.length === 0 ? {} : { lacks }),
        },
      ]),
    ),
  };
}

function exportCredentials([first, ...others]: readonly string[]): object {
  if (first === undefined) return {};
  if (others.length === 0) return { credential: { environment: first } };
  return { credentials: [first, ...others].map((environment) => ({ environment })) };
}

function exportRouting({ preset, channels, hedging }: DeclaredRouting): object {
  if (preset === plainRouting.preset && channels === null && !hedging) return {};
  return { routing: { preset, ...(channels === null ? {} : { channels }), hedging } };
}

function exportKey(key: StoredKey) {
  const { id, name, groupId, accountId, models, expiresAtMs, strict, hash, hint } = key;
  return {
    id,
    ...{ name, group: groupId, account: accountId, secret: { hash, hint } },
    ...(models === null ? {} : { models }),
    ...(expiresAtMs === null ? {} : { expires: new Date(expiresAtMs).toISOString() }),
    ...(strict ? { strict } : {}),
  };
}

/** A price without the classes that follow from the others. */
function exportPrice(tiers: readonly PriceTier[]): object {
  const [base, ...further] = shortest(writePriceTiers(tiers));
  const more = further.map(({ aboveInputTokens, prices }) => ({ aboveInputTokens, ...prices }));
  return {
    ...base?.prices,
    ...(more.length === 0 ? {} : { tiers: more }),
    ...(base?.images === undefined ? {} : { images: base.images }),
  };
}

function shortest(tiers: readonly PriceTierText[]): readonly PriceTierText[] {
  const whole = comparable(tiers);
  let kept = tiers;
  for (const index of tiers.keys()) {
    for (const name of priceClassNames) {
      const without = kept.map((tier, at) =>
        at === index && name !== 'input' ? withoutClass(tier, name) : tier,
      );
      if (comparable(without) === whole) kept = without;
    }
  }
  return kept;
}

function withoutClass(tier: PriceTierText, name: string): PriceTierText {
  return {
    ...tier,
    prices: Object.fromEntries(Object.entries(tier.prices).filter(([priceClass]) => priceClass !== name)),
  };
}

function comparable(tiers: readonly PriceTierText[]): string {
  const read = readPriceTiers(tiers);
  return read.ok ? JSON.stringify(writePriceTiers(read.value)) : '';
}

import type { Catalogue, Model } from '../core/catalogue.ts';
import type { SelfConfiguration } from './self-configuration.ts';

/** What scripts need to know of a gateway that has just started. */
export interface ReadyFacts {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly selfConfiguration: SelfConfiguration;
  /** A model of the completions surface; null when there is none to call. */
  readonly model: string | null;
  readonly setupToken: string | null;
}

/** The ready file: one line of JSON. Members appear as the surfaces they belong to do. */
export function readyFileText(facts: ReadyFacts): string {
  const { apiOrigin, consoleOrigin, selfConfiguration, model, setupToken } = facts;
  const keys = selfConfiguration.kind === 'none' ? {} : (selfConfiguration.keys ?? {});
  const models = model === null ? {} : { completions: model };
  return `${JSON.stringify({ apiOrigin, consoleOrigin, keys, models, setupToken })}\n`;
}

/** The model that printed calls use: the cheapest that has a price and a channel to go to. */
export function showcaseModel({ models }: Catalogue): string | null {
  const callable = [...models.values()].filter((model) =>
    model.targets.some(({ channel }) => channel.enabled),
  );
  const cheapest = callable.filter((model) => outputPrice(model) > 0n).sort(byOutputPrice)[0];
  return cheapest?.id ?? null;
}

function byOutputPrice(a: Model, b: Model): number {
  if (outputPrice(a) === outputPrice(b)) return a.id < b.id ? -1 : 1;
  return outputPrice(a) < outputPrice(b) ? -1 : 1;
}

function outputPrice({ price }: Model): bigint {
  return price?.tiers[0]?.classes.output ?? 0n;
}

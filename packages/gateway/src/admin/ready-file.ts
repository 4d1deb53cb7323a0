import { callProtocols, type Platform } from '@headgate/protocols';
import { type Catalogue, canServe, type Model } from '../catalogue/catalogue.ts';
import { platforms } from './demo.ts';
import type { SelfConfiguration } from './self-configuration.ts';

/** A model to call on each platform that has one. */
export type ShowcaseModels = Readonly<Partial<Record<Platform, string>>>;

/** The facts that scripts need of a gateway that has just started. */
export interface ReadyFacts {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly selfConfiguration: SelfConfiguration;
  readonly models: ShowcaseModels;
  readonly setupToken: string | null;
}

/** The ready file: one line of JSON. Members appear as the surfaces they belong to do. */
export function readyFileText(facts: ReadyFacts): string {
  const { apiOrigin, consoleOrigin, selfConfiguration, models, setupToken } = facts;
  const keys = selfConfiguration.kind === 'none' ? {} : (selfConfiguration.keys ?? {});
  return `${JSON.stringify({ apiOrigin, consoleOrigin, keys, models, setupToken })}\n`;
}

/** The models that printed calls use: for each platform the cheapest that has a price and a channel to go to. */
export function showcaseModels({ models }: Catalogue): ShowcaseModels {
  const found = platforms.flatMap((platform) => {
    const callable = [...models.values()].filter((model) => isCallable(model, platform));
    const cheapest = callable.filter((model) => outputPrice(model) > 0n).sort(byOutputPrice)[0];
    return cheapest === undefined ? [] : [[platform, cheapest.id] as const];
  });
  return Object.fromEntries(found);
}

function isCallable(model: Model, platform: Platform): boolean {
  return callProtocols(platform).some((protocol) =>
    model.targets.some((target) => canServe(target, protocol)),
  );
}

function byOutputPrice(a: Model, b: Model): number {
  if (outputPrice(a) === outputPrice(b)) return a.id < b.id ? -1 : 1;
  return outputPrice(a) < outputPrice(b) ? -1 : 1;
}

function outputPrice({ price }: Model): bigint {
  return price?.tiers[0]?.classes.output ?? 0n;
}

import type { Scene, SceneChannel, SceneModel } from './scene.ts';

/** The platforms of callers, each with a key in an environment variable. */
export const platforms = ['completions', 'messages', 'native'] as const;
export type Platform = (typeof platforms)[number];

export function keyVariable(platform: Platform): string {
  return `HEADGATE_LIVE_${platform.toUpperCase()}`;
}

/** The `headgate.yaml` of a scene whose channels listen at these origins. JSON is YAML. */
export function configurationOf({ models, channels }: Scene, origins: readonly string[]): string {
  const entries = <Value>(value: (channel: SceneChannel, place: number) => Value) =>
    Object.fromEntries(channels.map((channel, place) => [channel.id, value(channel, place)]));
  return JSON.stringify({
    settings: { api: { port: 0 }, console: { port: 0 }, log: { format: 'json' } },
    providers: entries(({ id, protocols }, place) => ({
      name: id,
      baseUrl: `${origins[place]}/v1`,
      protocols,
      credential: { scheme: 'none' },
    })),
    // Unsaid, a model that the catalogue does not know gets the time of one that thinks.
    models: Object.fromEntries(models.map(({ id }) => [id, { reasoning: false }])),
    prices: Object.fromEntries(models.map((model) => [model.id, priceOf(model, 1)])),
    channels: entries(({ id, models: served, costShare }) => ({
      provider: id,
      allowPrivate: true,
      models: Object.fromEntries(
        models
          .filter((model) => served.includes(model.id))
          .map((model) => [model.id, { upstream: model.id, cost: priceOf(model, costShare) }]),
      ),
    })),
    groups: Object.fromEntries(
      platforms.map((platform) => [platform, { platform, routing: { rescue: 'continue' } }]),
    ),
    keys: Object.fromEntries(
      platforms.map((platform) => [
        platform,
        { group: platform, secret: { environment: keyVariable(platform) } },
      ]),
    ),
  });
}

function priceOf({ inputUsd, outputUsd }: SceneModel, share: number) {
  return { input: (inputUsd * share).toFixed(4), output: (outputUsd * share).toFixed(4) };
}

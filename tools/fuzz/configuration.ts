import { type Platform, protocols } from '@headgate/protocols';
import type { FuzzChannel } from './upstreams.ts';

export const platforms = ['completions', 'messages', 'native'] as const satisfies readonly Platform[];

/** Whose calls are sound and watched while the others are not. */
export const bystander = { key: 'bystander', model: 'bystander' } as const;

export function keyVariable(id: string): string {
  return `HEADGATE_FUZZ_${id.toUpperCase()}`;
}

/** The `headgate.yaml` of the fuzz, with time-outs short enough to be met a thousand times. JSON is YAML. */
export function configurationOf(channels: readonly FuzzChannel[], quiet: string): string {
  const all: readonly FuzzChannel[] = [...channels, bystanderChannel(quiet)];
  const models = [...new Set(all.map(({ model }) => model))];
  return JSON.stringify({
    settings: {
      api: { port: 0 },
      console: { port: 0 },
      log: { format: 'json', level: 'warn', calls: false },
      routing: { idleProbe: '0s' },
      timeouts: {
        headers: '1s',
        body: '1s',
        firstContent: '1s',
        firstContentReasoning: '1s',
        wholeAnswer: '1s',
        stall: '1s',
        call: '5s',
        hangUp: '2s',
      },
    },
    providers: Object.fromEntries(
      all.map(({ id, origin, protocol }) => [
        id,
        {
          name: id,
          baseUrl: `${origin}/v1`,
          protocols: { [protocol]: protocols[protocol].usualPath },
          credential: { scheme: 'none' },
        },
      ]),
    ),
    models: Object.fromEntries(models.map((id) => [id, { reasoning: false }])),
    prices: Object.fromEntries(models.map((id) => [id, { input: '1', output: '2' }])),
    channels: Object.fromEntries(all.map((channel) => [channel.id, channelOf(channel)])),
    groups: Object.fromEntries(platforms.map((platform) => [platform, { platform }])),
    accounts: { [bystander.key]: { name: 'Bystander' } },
    keys: {
      ...Object.fromEntries(platforms.map((platform) => [platform, keyOf(platform, platform)])),
      [bystander.key]: { ...keyOf(bystander.key, 'completions'), account: bystander.key },
    },
  });
}

function keyOf(id: string, group: string) {
  return { group, secret: { environment: keyVariable(id) } };
}

function bystanderChannel(origin: string): FuzzChannel {
  const { model } = bystander;
  return {
    id: model,
    model,
    upstreamModel: 'sim+tokens=3',
    protocol: 'chat-completions',
    origin,
    priority: 0,
  };
}

function channelOf({ id, model, upstreamModel, priority }: FuzzChannel) {
  return {
    provider: id,
    allowPrivate: true,
    priority,
    // On a machine that is behind with everything it may take longer than a fault is waited for.
    ...(id === bystander.model ? { timeouts: { firstContent: '5s', total: '5s' } } : {}),
    models: { [model]: { upstream: upstreamModel, cost: { input: '1', output: '1' } } },
  };
}

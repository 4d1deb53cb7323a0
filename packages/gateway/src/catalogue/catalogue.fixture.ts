import { defaultDialect } from '@headgate/protocols';
import { picoUsd } from '../money/money.ts';
import type { PriceVersion } from '../money/price.ts';
import type { Channel, Model, Target } from './catalogue.ts';
import { type ModelFacts, unknownModel } from './model-facts.ts';

/** The same price for every token of input and output, in micro-dollars per million. */
export function priceOf(microUsd: bigint): PriceVersion {
  const price = picoUsd(microUsd);
  const none = picoUsd(0n);
  const classes = {
    input: price,
    cacheRead: none,
    cacheWrite5m: none,
    cacheWrite1h: none,
    output: price,
    audioInput: none,
    audioOutput: none,
    imageInput: none,
    imageOutput: none,
    perImage: none,
    perCall: none,
  };
  return { id: `at-${microUsd}`, effectiveFromMs: 0, tiers: [{ aboveInputTokens: 0, classes }] };
}

/** The part of a target that a test cares about; the rest is ordinary. */
export interface TargetDraft {
  readonly id: string;
  readonly priority?: number;
  readonly enabled?: boolean;
  readonly protocols?: Channel['provider']['protocols'];
  readonly cost?: PriceVersion | null;
}

/** A model that is known not to think. */
export const quick: ModelFacts = { ...unknownModel, reasoning: { ...unknownModel.reasoning, mode: 'none' } };

export function targetOf({ id, priority = 0, enabled = true, protocols, cost = null }: TargetDraft): Target {
  const provider = {
    id: 'p',
    name: 'Provider',
    baseUrl: 'http://upstream.test',
    protocols: protocols ?? { 'chat-completions': '/chat/completions' },
    credential: { scheme: 'none' },
    dialect: defaultDialect,
    modelsPath: null,
    environment: [],
    documentation: null,
    simulated: false,
  } as const;
  const channel = {
    id,
    alias: id,
    listed: null,
    provider,
    baseUrl: provider.baseUrl,
    credentials: [],
    priority,
    enabled,
    drain: false,
    maxConcurrency: null,
    headers: [],
    proxy: null,
    secrets: [],
    timeouts: { connectMs: null, firstContentMs: null, stallMs: null, totalMs: null },
    simulated: false,
    allowPrivate: false,
    hangUp: null,
    source: 'file' as const,
  };
  return {
    channel,
    upstreamModel: 'demo',
    cost,
    origin: id,
    contextWindow: null,
    lacks: new Set(),
    facts: quick,
  };
}

export function modelOf(targets: readonly Target[], id = 'demo'): Model {
  return {
    id,
    displayName: 'Demo',
    pricedAs: null,
    listed: true,
    ownedBy: 'test',
    created: 0,
    contextWindow: null,
    maxOutputTokens: null,
    inputModalities: [],
    outputModalities: [],
    capabilities: [],
    facts: quick,
    price: null,
    isOffered: true,
    targets,
    hasChoice: targets.length > 1,
  };
}

import type { Platform } from '@headgate/protocols';
import { plainRouting } from '../catalogue/catalogue.ts';
import { timeoutFields } from '../catalogue/channel-way.ts';
import {
  accountFields,
  channelFields,
  channelModelFields,
  type DeclaredAccount,
  type DeclaredChannel,
  type DeclaredGroup,
  type DeclaredKey,
  type DeclaredModel,
  groupFields,
  modelFields,
} from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import type { PriceTier } from '../money/price.ts';
import { type PriceText, readPriceTiers } from '../money/price-terms.ts';
import type { Declaration } from '../ports/configuration-store.ts';

/** The account that pays in a demo: made-up money stays apart from real. */
export const demoAccount: DeclaredAccount = {
  id: 'demo',
  ...declare(accountFields, 'demo', { name: 'Demo' }),
};

export const platforms: readonly Platform[] = ['completions', 'messages', 'native'];

/** One group per platform. A key belongs to its group for good, so the ids stay the same from start to start. */
export const demoGroups: readonly DeclaredGroup[] = platforms.map((platform) => ({
  id: `demo-${platform}`,
  ...declare(groupFields, platform, { name: `Demo ${platform}`, platform }),
  routing: plainRouting,
}));

interface DemoModel {
  readonly id: string;
  readonly displayName: string;
  readonly reasoning: boolean;
  /** The simulator's own name for it, which sets its pace. */
  readonly upstreamModel: string;
  readonly price: PriceText;
}

const demoModels: readonly DemoModel[] = [
  {
    id: 'demo-fast',
    displayName: 'Demo Fast (simulated)',
    reasoning: false,
    upstreamModel: 'sim-demo',
    price: { input: '0.15', output: '0.60', cacheRead: '0.075' },
  },
  {
    id: 'demo-smart',
    displayName: 'Demo Smart (simulated)',
    reasoning: true,
    upstreamModel: 'sim-reasoning',
    price: { input: '2.50', output: '10', cacheRead: '1.25' },
  },
];

/** Three ways to the same models at different prices, so that routing has something to choose. Costs in USD per million. */
const demoChannels: readonly {
  readonly id: string;
  readonly alias: string;
  readonly costs: readonly PriceText[];
}[] = [
  {
    id: 'simulated-a',
    alias: 'Simulated A',
    costs: [
      { input: '0.10', output: '0.40' },
      { input: '1.80', output: '7.20' },
    ],
  },
  {
    id: 'simulated-b',
    alias: 'Simulated B',
    costs: [
      { input: '0.12', output: '0.48' },
      { input: '2.00', output: '8' },
    ],
  },
  {
    id: 'simulated-c',
    alias: 'Simulated C',
    costs: [
      { input: '0.14', output: '0.56' },
      { input: '2.30', output: '9.20' },
    ],
  },
];

/** 1 January 2026: the demo models have to have been made some day, the same at every start. */
const demoModelsCreated = 1_767_225_600;

/** A start without any configuration declares this: everything simulated, and named so. */
export function demoDeclaration(keys: readonly DeclaredKey[]): Declaration {
  return {
    providers: {},
    accounts: [demoAccount],
    groups: demoGroups,
    models: demoModels.map(describeDemoModel),
    channels: demoChannels.map(describeDemoChannel),
    keys,
  };
}

function describeDemoModel({ id, displayName, reasoning, price }: DemoModel): DeclaredModel {
  return {
    id,
    ...declare(modelFields, id, { displayName, reasoning }),
    ownedBy: 'simulator',
    created: demoModelsCreated,
    contextWindow: 128_000,
    maxOutputTokens: 16_384,
    capabilities: ['tools'],
    price: tier(price),
    priceOrigin: null,
  };
}

function describeDemoChannel({ id, alias, costs }: (typeof demoChannels)[number]): DeclaredChannel {
  return {
    id,
    ...declare(channelFields, id, { provider: 'simulator', alias, allowPrivate: true }),
    timeouts: declare(timeoutFields, id, {}),
    credentials: [],
    models: demoModels.map((model, index) => ({
      modelId: model.id,
      ...declare(channelModelFields, model.id, { upstream: model.upstreamModel }),
      cost: tier(costs[index] ?? {}),
      costOrigin: null,
    })),
  };
}

/** Agents offer tools that run at providers with every call: a demonstration refuses them none. */
const demoFees: PriceText = {
  perWebSearch: '0.01',
  perFileSearch: '0.0025',
  perCodeSession: '0.03',
  perGrounding: '0.035',
};

/** For the tables above: a price of theirs that cannot be read is a bug. */
function tier(prices: PriceText): readonly PriceTier[] {
  const read = readPriceTiers([{ aboveInputTokens: 0, prices: { ...prices, ...demoFees } }]);
  if (!read.ok) throw new Error(read.error.reason);
  return read.value;
}

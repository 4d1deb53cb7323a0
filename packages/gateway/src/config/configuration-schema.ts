import { z } from 'zod';
import { timeoutFields } from '../catalogue/channel-way.ts';
import {
  accountFields,
  channelFields,
  channelModelFields,
  groupFields,
  keyFields,
  modelFields,
  routingFields,
} from '../catalogue/entities.ts';
import { membersOf } from '../catalogue/fields.ts';
import { decimal, identifier, modelId } from '../catalogue/identifiers.ts';
import { environmentName, writtenSecret } from '../catalogue/secret-source.ts';
import { webhookFields } from '../catalogue/webhooks.ts';
import { readTime } from './moment.ts';
import { providerOverride } from './provider-document.ts';
import { settingRows } from './settings-table.ts';

const modelList = z.array(modelId);

const tokens = z.int().positive();

const secret = z.strictObject({ environment: environmentName });

const storedSecret = z
  .strictObject({
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
      .describe('HMAC-SHA256 of the key under the pepper.'),
    hint: z.string().min(1).describe('First and last characters of the key, shown in lists.'),
  })
  .describe(
    'A key as `headgate export` writes it; it means something only under the pepper it was made with.',
  );

const usd = (meaning: string) => decimal.exactOptional().describe(`USD per ${meaning}`);

const tokenPrices = {
  input: usd('million tokens of text input.'),
  cacheRead: usd(
    'million input tokens read from a prompt cache; the list price’s if left out, else the input price.',
  ),
  cacheReadAudio: usd('million audio tokens read from a prompt cache; the price of cacheRead if left out.'),
  cacheWrite5m: usd('million input tokens written to a cache for 5 minutes.'),
  cacheWrite1h: usd('million input tokens written to a cache for an hour.'),
  output: usd('million tokens of text output, reasoning included.'),
  reasoning: usd(
    'million tokens of reasoning, where it has a price of its own; the output price if left out.',
  ),
  audioInput: usd('million audio input tokens.'),
  audioOutput: usd('million audio output tokens.'),
  imageInput: usd('million image input tokens.'),
  imageOutput: usd('million image output tokens.'),
};

const fees = {
  citation: usd('million tokens of sources that are counted apart from input.'),
  perImage: usd('image made.'),
  perCall: usd('call.'),
  perWebSearch: usd('search of the web by the provider.'),
  perFileSearch: usd('search of files by the provider.'),
  perCodeSession: usd('container that the provider ran code in.'),
  perGrounding: usd('answer that is grounded on searches of the provider, however many.'),
  perPage: usd('page of a document that was read by sight.'),
};

const priceClasses = { ...tokenPrices, ...fees };

const imageWord = z.string().min(1).max(32);
const termWord = z.string().regex(/^[\w.-]{1,32}$/, 'must be one word, as the wire spells it');

const contextTiers = (meaning: string) =>
  z
    .array(
      z.strictObject({
        aboveInputTokens: tokens.describe('Tokens of input, cached ones included.'),
        ...priceClasses,
      }),
    )
    .exactOptional()
    .describe(meaning);

const moment = z
  .string('must be a day such as 2026-12-01, or a time such as 2026-12-01T00:00:00+08:00')
  .refine(
    (text) => readTime(text) !== null,
    'must be a day such as 2026-12-01, or a time such as 2026-12-01T00:00:00+08:00',
  );

/** A price, as it is written for one moment. */
export const priceEntry = z.strictObject({
  from: moment
    .exactOptional()
    .describe(
      'When it begins: a day, which begins at midnight UTC, or a time with its offset. Until then the price before it in a list holds, or the list price; it has always been so if left out.',
    ),
  ...priceClasses,
  whole: z
    .boolean()
    .exactOptional()
    .describe(
      'Takes nothing from the list price: what is left out follows from what is there. False if left out, but true of a price with perImage or images.',
    ),
  tiers: contextTiers('Prices of the whole call once its total input exceeds a number of tokens.'),
  services: z
    .record(
      termWord,
      z.strictObject({ ...priceClasses, tiers: contextTiers('As above, for this service tier.') }),
    )
    .exactOptional()
    .describe(
      'Prices of other service tiers than the standard one, by name: priority, flex, batch, fast, or as the provider calls it. Each has prices of its own for tokens; fees are the standard ones where left out.',
    ),
  searches: z
    .array(
      z.strictObject({
        context: termWord.describe('low, medium or high.'),
        perCall: fees.perCall,
        perWebSearch: fees.perWebSearch,
      }),
    )
    .min(1)
    .exactOptional()
    .describe('Fees by the size of the search context; the first holds where none is named.'),
  regions: z
    .record(termWord, decimal)
    .exactOptional()
    .describe(
      'What tokens cost where a call names a region, of their price elsewhere: us: 1.1 is a tenth more.',
    ),
  images: z
    .array(
      z.strictObject({
        size: imageWord.exactOptional().describe('Such as 1024x1024; any if left out.'),
        quality: imageWord.exactOptional().describe('Such as high; any if left out.'),
        price: decimal.describe('USD per image made.'),
      }),
    )
    .exactOptional()
    .describe(
      'Prices of images by size and quality, as the answer or else the request states them; the first that fits holds, or else perImage.',
    ),
});

/** A price, or several with the moments from which they hold. */
export const writtenPrices = z.union(
  [priceEntry, z.array(priceEntry).min(1).max(100)],
  'must be a price, or a list of prices, each with the moment from which it holds',
);

const model = z.strictObject(membersOf(modelFields));

const channelModel = z.strictObject({
  ...membersOf(channelModelFields),
  cost: writtenPrices
    .exactOptional()
    .describe('What the provider charges; what is left out is as its price list has it.'),
});

/** A channel, as it is written under its id. */
export const channelShape = z.strictObject({
  ...membersOf(channelFields),
  timeouts: z
    .strictObject(membersOf(timeoutFields))
    .exactOptional()
    .describe('Its own time-outs, before the server’s and what is known of its models.'),
  credential: writtenSecret
    .exactOptional()
    .describe(
      'What the provider knows us by; one of its usual variables, and what the store keeps for the channel, if left out.',
    ),
  credentials: z
    .array(writtenSecret)
    .min(1)
    .max(100)
    .exactOptional()
    .describe(
      'Several, in the place of credential: calls take turns with them, and one that is refused or at its limit is left out by itself.',
    ),
  models: z
    .union(
      [
        modelList,
        z.record(
          modelId,
          z.union([z.null(), channelModel], 'must be empty, or what is particular to it there'),
        ),
      ],
      'must be a list of model ids, or models by id',
    )
    .describe(
      'Public model ids, each with its name at the provider and what it costs there where they differ.',
    ),
});

const group = z.strictObject({
  ...membersOf(groupFields),
  routing: z.strictObject(membersOf(routingFields)).exactOptional().describe('How its calls are routed.'),
});

const pepperNames = z
  .array(z.string().regex(/^[0-9a-f]{16}$/, 'must be a fingerprint of 16 hexadecimal digits'))
  .describe(
    'Fingerprints of the peppers that hashes of keys were made with, as `headgate export` writes them.',
  );

const key = z.strictObject({
  ...membersOf(keyFields),
  secret: z
    .union([secret, storedSecret], 'must name the variable with the key: { environment: NAME }')
    .describe('Variable with the key itself, as `headgate keys generate` prints one.'),
});

const sibling = z.strictObject({
  name: z.string().min(1).describe('Its name, shown to people.'),
  consoleOrigin: z
    .url({ protocol: /^https?$/, error: 'must be an origin such as https://console.example.com' })
    .refine((url) => URL.parse(url)?.origin === url, 'must be an origin such as https://console.example.com')
    .describe('Where its console is found.'),
  language: z.enum(['en', 'zh-CN']).exactOptional().describe('Its language.'),
  region: z
    .string()
    .min(1)
    .max(60)
    .exactOptional()
    .describe('Where it is, or whom it is for, in a word or two.'),
});

const webhook = z.strictObject({
  name: identifier.describe('Its name, which lists and logs call it by.'),
  ...membersOf(webhookFields),
});

const scalar = z.union([z.string(), z.number(), z.boolean()], 'must be a plain value');

type SettingTree = Map<string, SettingTree | z.ZodType>;

/** The members under `root` that settings of the table can be given as. Their values are checked by the table itself. */
function settingMembers(root: string): Record<string, z.ZodType> {
  const tree: SettingTree = new Map();
  for (const [, { yaml, help, accepts }] of settingRows()) {
    const steps = yaml?.split('.') ?? [];
    if (steps[0] === root) plant(tree, steps.slice(1), scalar.describe(`${help}; ${accepts}.`));
  }
  return branch(tree);
}

function plant(tree: SettingTree, steps: readonly string[], leaf: z.ZodType): void {
  const [first = '', ...rest] = steps;
  if (rest.length === 0) {
    tree.set(first, leaf);
    return;
  }
  const found = tree.get(first);
  const subtree = found instanceof Map ? found : new Map();
  tree.set(first, subtree);
  plant(subtree, rest, leaf);
}

function branch(tree: SettingTree): Record<string, z.ZodType> {
  return Object.fromEntries(
    [...tree].map(([name, node]) => [
      name,
      (node instanceof Map ? z.strictObject(branch(node)) : node).exactOptional(),
    ]),
  );
}

/** The shape of a configuration file. What it refers to is checked afterwards, in declare.ts. */
export const configurationSchema = z.strictObject({
  $schema: z.string().exactOptional().describe('Where editors find this schema.'),
  deployment: z
    .strictObject({
      ...settingMembers('deployment'),
      siblings: z
        .array(sibling)
        .exactOptional()
        .describe('Other deployments that people are shown the way to.'),
    })
    .exactOptional()
    .describe('What this deployment is called, where people find it, and its sibling deployments.'),
  settings: z
    .strictObject(settingMembers('settings'))
    .exactOptional()
    .describe('Addresses, limits, time-outs and logs.'),
  alerts: z
    .strictObject({
      webhooks: z
        .array(webhook)
        .max(20)
        .exactOptional()
        .describe('Receivers of events: each begins with a signed POST, and ends with another.'),
    })
    .exactOptional()
    .describe('Who is told of what operators should hear of.'),
  providers: z
    .record(identifier, providerOverride)
    .exactOptional()
    .describe('Own providers, and changes to the catalogue’s.'),
  models: z
    .record(modelId, z.union([z.null(), model], 'must be empty, or what is known about the model'))
    .exactOptional()
    .describe('What models are, where the catalogue does not know it or is wrong.'),
  prices: z
    .record(modelId, writtenPrices)
    .exactOptional()
    .describe(
      'What callers pay, by model; the list price of the model where left out. Several, each with the moment from which it holds, are a list.',
    ),
  channels: z
    .record(identifier, channelShape)
    .exactOptional()
    .describe('Ways to providers: a provider, a credential and the models it serves.'),
  accounts: z
    .record(identifier, z.union([z.null(), z.strictObject(membersOf(accountFields))]))
    .exactOptional()
    .describe('Who pays for calls.'),
  groups: z
    .record(identifier, group)
    .exactOptional()
    .describe('What keys have in common: their surface, their models, their price.'),
  peppers: pepperNames.exactOptional(),
  keys: z.record(identifier, key).exactOptional().describe('Keys of callers.'),
});

export type SiblingShape = z.infer<typeof sibling>;
export type ConfigurationShape = z.infer<typeof configurationSchema>;
export type PriceShape = z.infer<typeof priceEntry>;
export type WrittenPrice = z.infer<typeof writtenPrices>;
export type ChannelShape = z.infer<typeof channelShape>;
export type KeyShape = z.infer<typeof key>;

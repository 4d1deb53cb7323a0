import { z } from 'zod';
import { baseUrl, environmentName, identifier, providerOverride } from './provider-document.ts';
import { settingRows } from './settings-table.ts';

const decimal = z
  .union([z.number(), z.string()], 'must be a decimal number such as 2.50')
  .describe('An exact decimal, read from the text as written; at most six digits after the point.');

const modelId = z
  .string()
  .regex(/^[\w.:/@+~-]{1,200}$/, 'must be a model id without spaces, 200 characters at the most');

const modelList = z.array(modelId);

const tokens = z.int().positive();

const secret = z.strictObject({ environment: environmentName });

const needs = z.enum([
  'tools',
  'image-input',
  'audio-input',
  'file-input',
  'audio-output',
  'structured-output',
]);

const storedSecret = z
  .strictObject({
    hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
    hint: z.string().min(1),
  })
  .describe(
    'A key as `headgate export` writes it; it means something only under the pepper it was made with.',
  );

const priceClasses = {
  input: decimal.exactOptional().describe('USD per million tokens of text input.'),
  cacheRead: decimal
    .exactOptional()
    .describe('USD per million input tokens read from a prompt cache; the input price if left out.'),
  cacheWrite5m: decimal
    .exactOptional()
    .describe('USD per million input tokens written to a cache for 5 minutes.'),
  cacheWrite1h: decimal
    .exactOptional()
    .describe('USD per million input tokens written to a cache for an hour.'),
  output: decimal.exactOptional().describe('USD per million tokens of text output, reasoning included.'),
  audioInput: decimal.exactOptional().describe('USD per million audio input tokens.'),
  audioOutput: decimal.exactOptional().describe('USD per million audio output tokens.'),
  imageInput: decimal.exactOptional().describe('USD per million image input tokens.'),
  imageOutput: decimal.exactOptional().describe('USD per million image output tokens.'),
  perImage: decimal.exactOptional().describe('USD per image made.'),
  perCall: decimal.exactOptional().describe('USD per call.'),
};

const imageWord = z.string().min(1).max(32);

const price = z.strictObject({
  ...priceClasses,
  tiers: z
    .array(z.strictObject({ aboveInputTokens: tokens, ...priceClasses }))
    .exactOptional()
    .describe('Prices of the whole call once its total input exceeds a number of tokens.'),
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

const model = z.strictObject({
  displayName: z.string().min(1).exactOptional(),
  ownedBy: z.string().min(1).exactOptional(),
  created: z.iso.date('must be a date such as 2026-11-21').exactOptional(),
  contextWindow: tokens.exactOptional(),
  maxOutputTokens: tokens.exactOptional(),
  inputModalities: z.array(z.string().min(1)).exactOptional(),
  outputModalities: z.array(z.string().min(1)).exactOptional(),
  capabilities: z.array(z.string().min(1)).exactOptional(),
  reasoning: z
    .boolean()
    .exactOptional()
    .describe('Thinks before it speaks: gets the longer time-out for first content.'),
});

const channelModel = z.strictObject({
  upstream: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Its name at the provider; the public id if left out.'),
  cost: price.exactOptional().describe('What the provider charges; its price seed if left out.'),
  contextWindow: tokens
    .exactOptional()
    .describe('Tokens it takes there, if fewer or more than the model elsewhere; the model’s if left out.'),
  lacks: z
    .array(needs)
    .exactOptional()
    .describe('What it cannot do there although the model can: calls that need it go to other channels.'),
});

const channel = z.strictObject({
  provider: identifier,
  alias: z.string().min(1).exactOptional().describe('Name on the public status page; the id if left out.'),
  baseUrl: baseUrl.exactOptional().describe("Takes the place of the provider's."),
  credential: secret.exactOptional(),
  credentials: z
    .array(secret)
    .min(1)
    .max(100)
    .exactOptional()
    .describe(
      'Several, in the place of credential: calls take turns with them, and one that is refused or at its limit is left out by itself.',
    ),
  priority: z
    .int()
    .min(0)
    .max(1000)
    .exactOptional()
    .describe('Lower comes first, whatever the price; 0 if left out.'),
  enabled: z.boolean().exactOptional(),
  drain: z
    .boolean()
    .exactOptional()
    .describe('Sends no new calls there; those under way come to their end. false if left out.'),
  maxConcurrency: z
    .int()
    .positive()
    .exactOptional()
    .describe('Calls under way there at once, over all its models; no limit if left out.'),
  allowPrivate: z.boolean().exactOptional().describe('Permits a base URL on a private or loopback address.'),
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
  name: z.string().min(1).exactOptional(),
  platform: z.enum(['completions', 'messages', 'native']).describe('The surface its keys may use.'),
  multiplier: decimal.exactOptional().describe('What its callers pay of the list price; 1 if left out.'),
  models: modelList.exactOptional().describe('Models its keys may call; every model if left out.'),
  routing: z
    .strictObject({
      preset: z
        .enum(['cost', 'balanced', 'latency'])
        .exactOptional()
        .describe('What counts most when a channel is chosen; balanced if left out.'),
      channels: z
        .array(identifier)
        .min(1)
        .exactOptional()
        .describe('Channels its calls may be sent to; every channel if left out.'),
      hedging: z
        .boolean()
        .exactOptional()
        .describe(
          'Whether a second channel may be asked while the first is silent for long; false if left out.',
        ),
    })
    .exactOptional()
    .describe('How its calls are routed.'),
});

const key = z.strictObject({
  name: z.string().min(1).exactOptional(),
  group: identifier,
  account: identifier.exactOptional().describe('The account that pays; `default` if left out.'),
  secret: z
    .union([secret, storedSecret], 'must name the variable with the key: { environment: NAME }')
    .describe('Variable with the key itself, as `headgate keys generate` prints one.'),
  models: modelList.exactOptional().describe('Narrows what its group may call.'),
  expires: z.iso
    .datetime({ offset: true, error: 'must be a time such as 2027-01-31T00:00:00Z' })
    .exactOptional(),
  strict: z
    .boolean()
    .exactOptional()
    .describe('Refuses a call of which a translation would lose anything; false if left out.'),
});

const sibling = z.strictObject({
  name: z.string().min(1),
  consoleOrigin: z.url('must be an origin such as https://console.example.com'),
  language: z.enum(['en', 'zh-CN']).exactOptional(),
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
  $schema: z.string().exactOptional(),
  deployment: z
    .strictObject({ ...settingMembers('deployment'), siblings: z.array(sibling).exactOptional() })
    .exactOptional()
    .describe('What this deployment is called, where people find it, and its sibling deployments.'),
  settings: z
    .strictObject(settingMembers('settings'))
    .exactOptional()
    .describe('Addresses, limits, time-outs and logs.'),
  providers: z
    .record(identifier, providerOverride)
    .exactOptional()
    .describe('Own providers, and changes to the catalogue’s.'),
  models: z
    .record(modelId, z.union([z.null(), model], 'must be empty, or what is known about the model'))
    .exactOptional(),
  prices: z
    .record(modelId, price)
    .exactOptional()
    .describe('What callers pay, by model; the price seed where left out.'),
  channels: z.record(identifier, channel).exactOptional(),
  accounts: z
    .record(identifier, z.union([z.null(), z.strictObject({ name: z.string().min(1).exactOptional() })]))
    .exactOptional(),
  groups: z.record(identifier, group).exactOptional(),
  keys: z.record(identifier, key).exactOptional(),
});

export type ConfigurationShape = z.infer<typeof configurationSchema>;
export type PriceShape = z.infer<typeof price>;
export type ChannelShape = z.infer<typeof channel>;
export type GroupShape = z.infer<typeof group>;
export type ModelShape = z.infer<typeof model>;
export type KeyShape = z.infer<typeof key>;

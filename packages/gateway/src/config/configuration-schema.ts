import { z } from 'zod';
import { accountFields, groupFields, keyFields, modelFields, routingFields } from '../catalogue/entities.ts';
import { membersOf } from '../catalogue/fields.ts';
import { identifier, modelId } from '../catalogue/identifiers.ts';
import { environmentName } from '../catalogue/secret-source.ts';
import { webhookFields, webhooksMax } from '../catalogue/webhooks.ts';
import { channelShape } from './channel-shape.ts';
import { writtenPrices } from './price-shape.ts';
import { providerOverride } from './provider-document.ts';
import { settingRows } from './settings-table.ts';
import { siblingShape } from './sibling-shape.ts';

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

const model = z.strictObject(membersOf(modelFields));

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
        .array(siblingShape)
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
        .max(webhooksMax)
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

export type ConfigurationShape = z.infer<typeof configurationSchema>;
export type KeyShape = z.infer<typeof key>;

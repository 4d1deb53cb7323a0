import { type Dialect, defaultDialect, protocolIds } from '@headgate/protocols';
import { z } from 'zod';
import type { CredentialScheme, Provider } from '../catalogue/catalogue.ts';
import { baseUrl } from '../catalogue/entities.ts';
import { identifier } from '../catalogue/identifiers.ts';
import { environmentName } from '../catalogue/secret-source.ts';

const path = z
  .string()
  .regex(
    /^\/([^\s#{}]|\{(model|action|operation)\})*$/,
    'must be a path that begins with /, without placeholders but {model}, {action} and {operation}',
  );

const credential = z.discriminatedUnion('scheme', [
  z.strictObject({ scheme: z.literal('bearer').describe('As `authorization: Bearer`.') }),
  z.strictObject({
    scheme: z.literal('header').describe('In a header of its own.'),
    header: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'must be a header name in lower case')
      .describe('The header it goes in.'),
  }),
  z.strictObject({ scheme: z.literal('none').describe('It asks for none.') }),
]) satisfies z.ZodType<CredentialScheme>;

const dialect = z.strictObject({
  usageInStream: z.boolean().exactOptional().describe('Whether stream_options.include_usage may be sent.'),
  maxTokensField: z
    .enum(['both', 'max_tokens', 'max_completion_tokens'])
    .exactOptional()
    .describe('The spelling of the limit of output that it takes; both sends what the caller wrote.'),
  streamEnd: z
    .enum(['done-frame', 'finish-reason'])
    .exactOptional()
    .describe(
      'What ends its streams: the finish reason and a clean end of the connection, or nothing but their own last frame ([DONE], message_stop).',
    ),
  reasoningOutsideCompletion: z
    .boolean()
    .exactOptional()
    .describe('Whether it counts tokens of reasoning beside completion_tokens, not in them.'),
  messagesVersion: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date, as 2023-06-01')
    .exactOptional()
    .describe('The date sent as the version of the messages protocol when a caller names none.'),
  budgetThinkingModels: z
    .array(z.string())
    .exactOptional()
    .describe(
      'How the names of those models begin that take a budget of tokens for thinking, and a temperature; of the messages protocol, whose later models take neither.',
    ),
  threads: z
    .boolean()
    .exactOptional()
    .describe('Whether a messages upstream keeps conversations, so that thread may be sent.'),
  chatVocabulary: z
    .enum(['own', 'common'])
    .exactOptional()
    .describe(
      'Whether a translated chat request may use everything its inventors have added, or what compatible servers share.',
    ),
  callIds: z
    .enum(['any', 'nine-alphanumerics'])
    .exactOptional()
    .describe('What ids of tool calls must look like in a chat request.'),
  thoughtSwitch: z
    .enum(['effort', 'none', 'thinking', 'enable_thinking'])
    .exactOptional()
    .describe(
      'How a translated chat request tells a model to think or not: by reasoning_effort alone, by that with the word none for every model that need not think, by thinking, which has a type, or by enable_thinking and thinking_budget.',
    ),
  reasoningExpected: z
    .boolean()
    .exactOptional()
    .describe('Whether what a thinking model said must have its reasoning beside it in a chat request.'),
  prefill: z
    .partialRecord(
      z.enum(protocolIds),
      z.strictObject({
        models: z
          .array(z.string())
          .describe('How the names of those models begin; the empty text is every model.'),
        mark: z
          .enum(['prefix', 'partial'])
          .nullable()
          .describe('The member of that message by which they are told to; null where none is needed.'),
      }),
    )
    .exactOptional()
    .describe(
      "The protocols in which its models go on from the assistant's words at the end of a request; others take them for an answer that is whole.",
    ),
  statedCost: z
    .strictObject({
      member: z
        .string()
        .regex(/^[a-z_]+(\.[a-z_]+)*$/, 'must be a path within usage, as cost.total_cost')
        .describe('Its place within usage, with a point between the steps.'),
      digits: z
        .int()
        .min(0)
        .max(12)
        .describe('How many decimal places its unit is smaller than a dollar; 0 where it is in USD.'),
    })
    .nullable()
    .exactOptional()
    .describe('Where its answers state what they cost; it is compared with what we reckon.'),
} satisfies Record<keyof Dialect, z.ZodType>);

const members = {
  name: z.string().min(1).describe('Its name, shown to people.'),
  baseUrl: baseUrl.describe(
    'Scheme, host and path without a trailing slash; {name} marks a part each channel must fill in.',
  ),
  protocols: z
    .partialRecord(z.enum(protocolIds), path)
    .describe(
      'Protocols it speaks and their paths under the base URL. In that of images, {operation} stands for generations or edits; without it images are generated and not edited.',
    ),
  credential: credential.describe('How it is told its credential.'),
  dialect: dialect
    .exactOptional()
    .describe('Named deviations from the protocols; what is not named is as the protocol says.')
    .meta({ default: defaultDialect }),
  modelsPath: path.exactOptional().describe('Path under the base URL that lists its models.'),
  environment: z
    .array(environmentName)
    .exactOptional()
    .describe('Variables its credential is usually kept in.'),
  simulated: z.boolean().exactOptional().describe('Its answers are made up.'),
  documentation: z.url().exactOptional().describe('Where its API is described.'),
  prices: identifier.exactOptional().describe('Name of the price seed with its models, in catalogue/prices.'),
};

/** One file of `catalogue/providers`. */
export const providerDocument = z.strictObject({
  $schema: z.string().exactOptional().describe('Where editors find this schema.'),
  id: identifier.describe('What channels call it; the name of its file.'),
  ...members,
  automatic: z
    .boolean()
    .exactOptional()
    .describe(
      'Whether one of its variables being set is enough to make a channel, when nothing is configured.',
    ),
});

/** A provider in the configuration file: whole, or what it changes of the catalogue's row of the same id. */
export const providerOverride = z.strictObject(members).partial();

export type ProviderDocument = z.infer<typeof providerDocument>;

export function toProvider(document: ProviderDocument): Provider {
  return {
    id: document.id,
    name: document.name,
    baseUrl: document.baseUrl,
    protocols: document.protocols,
    credential: document.credential,
    dialect: { ...defaultDialect, ...document.dialect },
    modelsPath: document.modelsPath ?? null,
    environment: document.environment ?? [],
    documentation: document.documentation ?? null,
    simulated: document.simulated ?? false,
  };
}

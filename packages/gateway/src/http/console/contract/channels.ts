import { protocolIds } from '@headgate/protocols';
import { z } from 'zod';
import { channelStates, switchPositions } from '../../../admin/channel-status.ts';
import { connectionCauses } from '../../../admin/connection-causes.ts';
import { channelShape } from '../../../config/channel-shape.ts';
import { outcomeTable } from '../../../route/outcomes.ts';
import { pageMembers, pageOf, textOf, timeText, usdText, wholeNumber } from './common.ts';

/** The line of the table of outcomes that an attempt failed by. */
const faultKind = z.enum(Object.keys(outcomeTable) as [keyof typeof outcomeTable]);

const failure = z.strictObject({ atMs: z.number(), words: z.string() });

const servedModel = z.strictObject({
  model: z.string(),
  upstreamModel: z.string(),
  state: z.enum(['serving', 'limited', 'refused', 'missing', 'ejected', 'trial']),
  sinceMs: z.number().nullable(),
  untilMs: z.number().nullable(),
  lastFailure: failure.nullable(),
  good: z.number(),
  bad: z.number(),
  ttftMs: z.number().nullable(),
  inFlight: z.int(),
});

/** A channel as it stands now: the sum of its models. */
export const channelStatusView = z
  .strictObject({
    id: z.string(),
    state: z.enum(channelStates),
    sinceMs: z.number().nullable(),
    lastFailure: z.strictObject({ ...failure.shape, model: z.string() }).nullable(),
    success: z
      .number()
      .nullable()
      .meta({ description: 'The share of calls of the last minutes that were answered.' }),
    ttftMs: z.number().nullable(),
    inFlight: z.int(),
    models: z.array(servedModel),
  })
  .meta({ id: 'ChannelStatusView' });
export type ChannelStatusView = z.infer<typeof channelStatusView>;

export const channelStatusPage = pageOf(channelStatusView).meta({ id: 'ChannelStatusPage' });
export type ChannelStatusPage = z.infer<typeof channelStatusPage>;

const sources = z.enum(['console', 'file', 'import', 'environment', 'demo', 'operator']);

/** The part of a channel that moves with its calls. */
export const channelStanding = z
  .strictObject({
    id: z.string(),
    state: z.enum(channelStates),
    since: timeText.nullable(),
    success: z.number().nullable(),
    ttftMs: z.number().nullable(),
    inFlight: z.int(),
    models: z.int(),
    modelsOut: z.int().meta({ description: 'Models that get no calls now.' }),
    lastFailure: z.strictObject({ at: timeText, model: z.string(), words: z.string() }).nullable(),
  })
  .meta({ id: 'ChannelStanding' });

const itemMembers = {
  ...channelStanding.shape,
  alias: z.string(),
  provider: z.string(),
  providerName: z.string(),
  source: sources.meta({ description: 'Where it is declared; only those of `console` are changed here.' }),
  simulated: z.boolean(),
  enabled: z.boolean().meta({ description: 'False as well where something is missing; see `problems`.' }),
  drain: z.boolean(),
  priority: z.int(),
  maxConcurrency: z.int().nullable(),
  problems: z.array(z.string()).meta({ description: 'What its configuration lacks.' }),
};

/** A channel in a list. */
export const channelItem = z.strictObject(itemMembers).meta({ id: 'ChannelItem' });
export type ChannelItem = z.infer<typeof channelItem>;

export const channelPage = z
  .strictObject({
    ...pageOf(channelItem).shape,
    counts: z
      .record(z.enum(channelStates), z.int())
      .meta({ description: 'How many channels there are of each state, shown or not.' }),
  })
  .meta({ id: 'ChannelPage' });
export type ChannelPage = z.infer<typeof channelPage>;

export const channelQuery = z.strictObject({
  ...pageMembers,
  search: textOf(200).exactOptional().meta({ description: 'A part of its id, alias or provider.' }),
  state: z.enum(channelStates).exactOptional(),
  model: textOf(200).exactOptional().meta({ description: 'A public model that it serves.' }),
});

const credentialView = z.strictObject({
  id: z.string().meta({ description: 'Its id in the store, or the place that it is read from.' }),
  kind: z.enum(['sealed', 'environment', 'file', 'command']),
  name: z.string(),
  isThere: z.boolean(),
  createdAt: timeText.nullable(),
  rotatedAt: timeText.nullable(),
  blocks: z
    .array(
      z.strictObject({
        model: z.string(),
        reason: z.enum(['refused', 'limited']),
        until: timeText,
        words: z
          .string()
          .nullable()
          .meta({ description: 'What the upstream said last, without our secrets.' }),
      }),
    )
    .meta({ description: 'Models that it is not used for at the moment.' }),
});

const targetView = z.strictObject({
  model: z.string(),
  upstreamModel: z.string(),
  state: servedModel.shape.state,
  since: timeText.nullable(),
  until: timeText.nullable(),
  lastFailure: z.strictObject({ at: timeText, words: z.string() }).nullable(),
  success: z.number().nullable(),
  ttftMs: z.number().nullable(),
  inFlight: z.int(),
  contextWindow: z.int().nullable(),
  cost: z.strictObject({ input: usdText, output: usdText }).nullable(),
});

/** A channel with all that can be said of it. */
export const channelView = z
  .strictObject({
    ...itemMembers,
    baseUrl: z.string(),
    written: z.record(z.string(), z.unknown()).meta({
      description: 'As the configuration file writes it; secrets are named by their places.',
    }),
    takesCredential: z.boolean(),
    credentials: z.array(credentialView),
    targets: z.array(targetView),
  })
  .meta({ id: 'ChannelView' });
export type ChannelView = z.infer<typeof channelView>;

const secretText = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(8_192, 'must be of 8,192 characters at the most')
  .meta({ writeOnly: true, description: 'Sealed in the store, and answered by no route.' });

/** A new channel: as the configuration file writes it, with its id and, if need be, a secret. */
export const channelDraft = z
  .strictObject({ id: textOf(64), secret: secretText.exactOptional(), ...channelShape.shape })
  .meta({ id: 'ChannelDraft' });

/** Members to replace; null takes one back to what holds where nothing is said. */
export const channelPatch = z
  .strictObject(
    Object.fromEntries(
      Object.entries(channelShape.shape).map(([name, member]) => [
        name,
        z.union([member, z.null()]).optional(),
      ]),
    ),
  )
  .meta({ id: 'ChannelPatch' });

/** A channel as a configuration file declares it: all of `channels`, or what stands under its id. */
export const channelDeclaration = z
  .strictObject({ yaml: z.string('must be text').max(200_000, 'must be of 200,000 characters at the most') })
  .meta({ id: 'ChannelDeclaration' });

export const channelSwitch = z.strictObject({ to: z.enum(switchPositions) }).meta({ id: 'ChannelSwitch' });

export const credentialDraft = z
  .strictObject({ secret: secretText, name: textOf(200).exactOptional() })
  .meta({ id: 'CredentialDraft' });

export const credentialRotation = z.strictObject({ secret: secretText }).meta({ id: 'CredentialRotation' });

export const credentialMade = z.strictObject({ id: z.string() }).meta({ id: 'CredentialMade' });
export type CredentialMade = z.infer<typeof credentialMade>;

/** A channel to be tried before it is made. */
export const trialDraft = z
  .strictObject({
    channel: z.strictObject({ ...channelShape.shape, models: channelShape.shape.models.optional() }),
    secret: secretText.exactOptional(),
    model: textOf(200)
      .exactOptional()
      .meta({ description: 'Asked for one token; as the upstream names it.' }),
  })
  .meta({ id: 'TrialDraft' });

export const trialWish = z
  .strictObject({ model: textOf(200).exactOptional().meta({ description: 'As the upstream names it.' }) })
  .meta({ id: 'TrialWish' });

const plainPrice = z.strictObject({ input: usdText, output: usdText });

const causes = Object.keys(connectionCauses) as [keyof typeof connectionCauses];

/** The answer of a channel that was tried. */
export const trialView = z
  .strictObject({
    works: z.boolean(),
    steps: z.array(
      z.strictObject({
        asked: z.enum(['models', 'call', 'address']),
        credential: z.string().nullable(),
        model: z.string().nullable(),
        works: z.boolean(),
        status: z.int().nullable(),
        durationMs: z.number(),
        cause: z.enum(causes).nullable(),
        words: z.string().nullable(),
        fix: z.string().nullable(),
        said: z.string().nullable(),
      }),
    ),
    models: z.array(
      z.strictObject({
        upstream: z.string(),
        id: z.string(),
        name: z.string().nullable(),
        contextWindow: z.int().nullable(),
        maxOutputTokens: z.int().nullable(),
        inputModalities: z.array(z.string()),
        outputModalities: z.array(z.string()),
        tools: z.boolean().nullable(),
        reasons: z.boolean().nullable(),
        price: plainPrice.nullable(),
        cost: plainPrice.nullable(),
        isKnown: z.boolean(),
        isServed: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'TrialView' });
export type TrialView = z.infer<typeof trialView>;

/** A provider that a channel can be made of. */
export const presetView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    baseUrl: z.string(),
    gaps: z.array(z.string()),
    protocols: z.array(z.enum(protocolIds)),
    credential: z.discriminatedUnion('scheme', [
      z.strictObject({ scheme: z.literal('bearer') }),
      z.strictObject({ scheme: z.literal('header'), header: z.string() }),
      z.strictObject({ scheme: z.literal('none') }),
    ]),
    environment: z.array(z.string()),
    documentation: z.string().nullable(),
    listsModels: z.boolean(),
    pricedModels: z.int(),
    simulated: z.boolean(),
  })
  .meta({ id: 'PresetView' });
export type PresetView = z.infer<typeof presetView>;

export const presetPage = pageOf(presetView).meta({ id: 'PresetPage' });
export type PresetPage = z.infer<typeof presetPage>;

export const liftWish = z
  .strictObject({
    model: textOf(200).exactOptional().meta({ description: 'The public model; all if left out.' }),
    credential: textOf(200).exactOptional().meta({ description: 'Its id; all if left out.' }),
  })
  .meta({ id: 'LiftWish' });

export const liftedView = z.strictObject({ lifted: z.int() }).meta({ id: 'LiftedView' });
export type LiftedView = z.infer<typeof liftedView>;

export const channelCosts = z
  .strictObject({
    items: z.array(z.strictObject({ id: z.string(), calls: z.int(), charge: usdText, cost: usdText })),
    next: z.null(),
  })
  .meta({ id: 'ChannelCosts' });
export type ChannelCosts = z.infer<typeof channelCosts>;

const courseMembers = {
  calls: z.int().meta({ description: 'Attempts that say something of the channel: good and bad ones.' }),
  errors: z.int(),
  success: z.number().nullable(),
  ttftP50Ms: z.number().nullable(),
  ttftP95Ms: z.number().nullable(),
  faults: z.partialRecord(faultKind, z.int()).meta({ description: 'Errors by kind.' }),
};

/** The last hours of a channel, in steps of equal length; the last one is still running. */
export const channelHistoryView = z
  .strictObject({
    stepMs: z.int(),
    points: z.array(z.strictObject({ at: timeText, ...courseMembers })).max(96),
  })
  .meta({ id: 'ChannelHistoryView' });
export type ChannelHistoryView = z.infer<typeof channelHistoryView>;

/** The success of channels by hour, for small lines in a list; channels that nobody called are left out. */
export const channelCourses = z
  .strictObject({
    stepMs: z.int(),
    items: z.array(
      z.strictObject({ id: z.string(), calls: z.int(), success: z.array(z.number().nullable()) }),
    ),
    next: z.null(),
  })
  .meta({ id: 'ChannelCourses' });
export type ChannelCourses = z.infer<typeof channelCourses>;

const channelFailureView = z
  .strictObject({
    at: timeText,
    traceId: z.string().meta({ description: 'The call that it was an attempt of.' }),
    model: z.string(),
    upstreamModel: z.string(),
    kind: faultKind,
    words: z.string().nullable(),
  })
  .meta({ id: 'ChannelFailureView' });
export type ChannelFailureView = z.infer<typeof channelFailureView>;

export const channelFailurePage = pageOf(channelFailureView).meta({ id: 'ChannelFailurePage' });
export type ChannelFailurePage = z.infer<typeof channelFailurePage>;

export const historyQuery = z.strictObject({
  hours: wholeNumber(1, 24)
    .optional()
    .transform((value) => value ?? 24),
});

export const hoursQuery = z.strictObject({
  hours: wholeNumber(1, 168)
    .optional()
    .transform((value) => value ?? 24),
});

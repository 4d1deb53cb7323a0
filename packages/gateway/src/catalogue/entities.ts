import type { Need, Platform } from '@headgate/protocols';
import { z } from 'zod';
import { formatDecimal } from '../money/money.ts';
import type { PriceTier } from '../money/price.ts';
import { addressRangesField } from './address-range.ts';
import { headersField, proxyField, type timeoutFields } from './channel-way.ts';
import { discountField, readMultiplier } from './discount.ts';
import {
  type CellForm,
  convertedOrUnset,
  exactInteger,
  type Field,
  field,
  flag,
  integer,
  jsonList,
  required,
  text,
  unset,
  type ValuesOf,
  word,
  wordList,
} from './fields.ts';
import { decimal, identifier, modelId } from './identifiers.ts';
import { accountLimitFields, groupLimitFields, keyLimitFields } from './limit-fields.ts';
import { channelListing, modelListing } from './listing.ts';
import type { LaterPrice, PriceOrigin } from './price-book.ts';
import type { SecretSource } from './secret-source.ts';

export const baseUrl = z
  .string()
  .refine((url) => isBaseUrl(url), 'must be an http or https URL without query, user name or trailing slash');

const tokens = z.int().positive();
const words = z.array(z.string().min(1));

const needs = z.enum([
  'tools',
  'image-input',
  'audio-input',
  'file-input',
  'audio-output',
  'structured-output',
]) satisfies z.ZodType<Need>;

/** The measure that counts most when calls are routed: the price, the time, or both. */
export type RoutingPreset = 'cost' | 'balanced' | 'latency';

/** The fate of a stream of text that breaks off after its first words. */
export type Rescue = 'none' | 'continue';

/** The fate of an answer whose caller leaves before its usage is known. */
export type HangUp = 'drain' | 'estimate' | 'always';

/** Who pays when a file says nothing about accounts. */
export const defaultAccount = 'default';

const shownName = z.string().min(1).describe('Name shown to people; the id if left out.');

export const accountFields = {
  name: field(shownName, text, (id) => id),
  showBalance: field(
    z
      .boolean()
      .describe(
        'Whether GET /v1/usage tells each of its keys the balance of the whole account; false if left out: then a key sees what it has spent itself.',
      ),
    flag,
    () => false,
  ),
  showKeys: field(
    z
      .boolean()
      .describe(
        'Whether GET /v1/usage answers each of its keys about its other keys too, by their names; false if left out: then a key sees its own calls alone.',
      ),
    flag,
    () => false,
  ),
  /** Null leaves its people the groups that it has keys in. */
  groups: {
    ...unset(
      z
        .array(identifier)
        .describe(
          'Groups that its people may make keys in; if left out, those that it has keys in already. Operators may in any case.',
        ),
      wordList(),
    ),
    column: 'key_groups',
  },
  ...accountLimitFields,
  discount: discountField,
};

/** A list as JSON, which for none at all is `null`. */
const wordsOrNone: CellForm<readonly string[] | null> = {
  write: (list) => JSON.stringify(list),
  read: (cell) => JSON.parse(String(cell)) as readonly string[] | null,
};

export const modelFields = {
  displayName: field(shownName, text, (id) => id),
  /** Callers see this word: it must not tell which provider serves them. */
  ownedBy: field(z.string().min(1).describe('Told to callers as `owned_by`.'), text, () => 'headgate'),
  /** Unix seconds; null is the day of its release, as far as that is known. */
  created: {
    ...convertedOrUnset(
      z.iso
        .date('must be a date such as 2026-11-21')
        .describe('Day of its release; as the catalogue knows the model if left out.'),
      integer,
      (date) => Date.parse(date) / 1000,
      (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10),
    ),
    cell: { write: (seconds) => seconds ?? 0, read: (cell) => Number(cell) || null },
  } satisfies Field<number | null, string>,
  contextWindow: unset(
    tokens.describe(
      'Tokens that prompt and answer may have together; as the catalogue knows the model if left out.',
    ),
    integer,
  ),
  maxOutputTokens: unset(
    tokens.describe('Tokens that an answer may have; as the catalogue knows the model if left out.'),
    integer,
  ),
  inputModalities: {
    ...unset(
      words.describe('What it takes in, such as text, image; as the catalogue knows the model if left out.'),
      wordList(),
    ),
    cell: wordsOrNone,
  },
  outputModalities: {
    ...unset(
      words.describe('What it makes, such as text, image; as the catalogue knows the model if left out.'),
      wordList(),
    ),
    cell: wordsOrNone,
  },
  capabilities: {
    ...unset(
      words.describe('What it can do, such as tools; as the catalogue knows the model if left out.'),
      wordList(),
    ),
    cell: wordsOrNone,
  },
  reasoning: {
    ...unset(
      z
        .boolean()
        .describe(
          'Thinks before it speaks: gets the longer time-out for first content, and may be told to think; as the catalogue knows the model if left out.',
        ),
      flag,
    ),
    /** The column has a third value for what the operator leaves to the catalogue. */
    cell: {
      write: (value) => (value === null ? 2 : flag.write(value)),
      read: (cell) => (cell === 2n ? null : flag.read(cell)),
    },
  } satisfies Field<boolean | null, boolean>,
  listed: modelListing,
  pricedAs: unset(
    modelId.describe(
      'The model of the catalogue whose list price callers pay, for an id that is a name of your own; the id itself if left out.',
    ),
    text,
  ),
};

export const channelFields = {
  providerId: {
    ...required(identifier.describe('A provider of the catalogue, or one under `providers`.'), text),
    member: 'provider',
  },
  alias: field(
    z.string().min(1).describe('Name on the public status page; the id if left out.'),
    text,
    (id) => id,
  ),
  listed: channelListing,
  baseUrl: unset(baseUrl.describe("Takes the place of the provider's."), text),
  priority: field(
    z.int().min(0).max(1000).describe('Lower comes first, whatever the price; 0 if left out.'),
    integer,
    () => 0,
  ),
  enabled: field(z.boolean().describe('Whether calls may be sent there at all.'), flag, () => true),
  drain: field(
    z.boolean().describe('Sends no new calls there; those under way come to their end. false if left out.'),
    flag,
    () => false,
  ),
  maxConcurrency: unset(
    z.int().positive().describe('Calls under way there at once, over all its models; no limit if left out.'),
    integer,
  ),
  /** Null leaves it to what is known of the model. */
  hangUp: unset<HangUp>(
    z
      .enum(['drain', 'estimate', 'always'])
      .describe(
        'Usage of an answer whose caller leaves: read on for it, even before content (always), or estimated; by the model if left out.',
      ),
    word(),
  ),
  allowPrivate: field(
    z.boolean().describe('Permits a base URL on a private or loopback address.'),
    flag,
    () => false,
  ),
  headers: headersField,
  proxy: proxyField,
};

/** The options of a model on one channel. */
export const channelModelFields = {
  upstreamModel: {
    ...field(
      z.string().min(1).describe('Its name at the provider; the public id if left out.'),
      text,
      (id) => id,
    ),
    member: 'upstream',
  },
  /** Tokens; null takes the model's. */
  contextWindow: unset(
    tokens.describe(
      'Tokens it takes there, if fewer or more than the model elsewhere; the model’s if left out.',
    ),
    integer,
  ),
  lacks: field<readonly Need[]>(
    z
      .array(needs)
      .describe('What it cannot do there although the model can: calls that need it go to other channels.'),
    wordList<Need>(),
    () => [],
  ),
};

/** How calls of a group are routed. */
export const routingFields = {
  preset: {
    ...field<RoutingPreset>(
      z
        .enum(['cost', 'balanced', 'latency'])
        .describe('What counts most when a channel is chosen; balanced if left out.'),
      word(),
      () => 'balanced',
    ),
    column: 'routing_preset',
  },
  /** Ids; null is every channel. */
  channels: {
    ...unset(
      z.array(identifier).min(1).describe('Channels its calls may be sent to; every channel if left out.'),
      wordList(),
    ),
    column: 'routing_channels',
  },
  hedging: field(
    z
      .boolean()
      .describe(
        'Whether a second channel may be asked while the first is silent for long; false if left out.',
      ),
    flag,
    () => false,
  ),
  rescue: field<Rescue>(
    z
      .enum(['none', 'continue'])
      .describe(
        'What becomes of a stream of text that breaks off after its first words: it ends in an error, or another channel continues it; none if left out.',
      ),
    word(),
    () => 'none',
  ),
};

export const groupFields = {
  name: field(shownName, text, (id) => id),
  platform: required<Platform>(
    z.enum(['completions', 'messages', 'native']).describe('The surface its keys may use.'),
    word(),
  ),
  /** Parts per million: 1_000_000 charges the list price. A file's reader sets it from the exact text, which a number is not. */
  multiplierPpm: {
    schema: decimal.describe('What its callers pay of the list price; 1 if left out.'),
    cell: exactInteger,
    absent: () => 1_000_000n,
    fromFile: (written) => readMultiplier(String(written)) ?? 1_000_000n,
    toFile: (ppm) => formatDecimal(ppm, 6),
    member: 'multiplier',
  } satisfies Field<bigint, string | number>,
  /** Null is every model. */
  models: unset(z.array(modelId).describe('Models its keys may call; every model if left out.'), wordList()),
  ...groupLimitFields,
};

export const keyFields = {
  name: field(shownName, text, (id) => id),
  groupId: { ...required(identifier.describe('The group it belongs to.'), text), member: 'group' },
  accountId: {
    ...field(
      identifier.describe('The account that pays; `default` if left out.'),
      text,
      () => defaultAccount,
    ),
    member: 'account',
  },
  models: unset(z.array(modelId).describe('Narrows what its group may call.'), wordList()),
  expiresAtMs: {
    ...convertedOrUnset(
      z.iso
        .datetime({ offset: true, error: 'must be a time such as 2027-01-31T00:00:00Z' })
        .describe('When it stops working; never if left out.'),
      integer,
      (time) => Date.parse(time),
      (ms) => new Date(ms).toISOString(),
    ),
    member: 'expires',
  },
  /** True when its calls may lose nothing in translation. */
  strict: field(
    z.boolean().describe('Refuses a call of which a translation would lose anything; false if left out.'),
    flag,
    () => false,
  ),
  addressRanges: addressRangesField,
  ...keyLimitFields,
};

/** Kept of a channel, and written in a file as `credential` or `credentials`: where the secrets are, in the order they are named. */
export const credentialFields = { credentials: { cell: jsonList<SecretSource>() } };

/** Kept of a key in the place of its text. */
export const secretFields = { hash: { cell: text }, hint: { cell: text } };

interface Named {
  readonly id: string;
}

export interface DeclaredAccount extends Named, ValuesOf<typeof accountFields> {}

export interface DeclaredModel extends Named, ValuesOf<typeof modelFields> {
  /** The price that callers pay; null when nobody says one. */
  readonly price: readonly PriceTier[] | null;
  /** Null where there is no price, or its origin was not noted. */
  readonly priceOrigin: PriceOrigin | null;
  /** Prices that hold from later moments on, soonest first; left out where none is known. */
  readonly priceLater?: readonly LaterPrice[];
}

export interface DeclaredChannelModel extends ValuesOf<typeof channelModelFields> {
  readonly modelId: string;
  /** The price that the upstream charges us; null when nothing is known of it. */
  readonly cost: readonly PriceTier[] | null;
  /** Null where there is none, or its origin was not noted. */
  readonly costOrigin: PriceOrigin | null;
  /** As `priceLater`. */
  readonly costLater?: readonly LaterPrice[];
}

export interface DeclaredChannel
  extends Named,
    ValuesOf<typeof channelFields>,
    /** Empty when none is needed, or they are in the provider's usual variables or the store. */
    ValuesOf<typeof credentialFields> {
  readonly timeouts: ValuesOf<typeof timeoutFields>;
  readonly models: readonly DeclaredChannelModel[];
}

export type DeclaredRouting = ValuesOf<typeof routingFields>;

export interface DeclaredGroup extends Named, ValuesOf<typeof groupFields> {
  readonly routing: DeclaredRouting;
}

/** `hash` is the lower-case hex of the key's HMAC-SHA256; `hint` its first and last characters, for recognising it in a list. */
export interface DeclaredKey extends Named, ValuesOf<typeof keyFields>, ValuesOf<typeof secretFields> {
  /** Its hashes under older peppers, where the key itself is known: it may have been revoked under one of them. Not stored. */
  readonly olderHashes?: readonly string[];
}

function isBaseUrl(address: string): boolean {
  const url = URL.parse(
    address.replace(/^\{\w+\}/, 'https://variable.invalid').replaceAll(/\{\w+\}/g, 'variable'),
  );
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.search === '' && url.hash === '' && url.username === '' && !address.endsWith('/');
}

import { serviceOf } from '../billing.ts';
import { decodeJson, KeyNames } from '../bytes/json-text.ts';
import type { Fault } from '../error.ts';
import { type FeeTools, pluginAsks, termAsks, toolAsks, withPlugins } from '../request/asks.ts';
import { MediaWatch, mediaParts } from '../request/media-watch.ts';
import {
  askedThought,
  checkMessages,
  describe,
  findMembers,
  hasElements,
  invalid,
  outputTokensMax,
  type ReadMembers,
  type Refused,
  type RequestMembers,
  readModelAndStream,
  readWhole,
  type SurveyedBody,
  saysJson,
} from '../request/members.ts';
import { OpeningReader, sessionClue } from '../request/session.ts';
import { taggedBy } from '../request/tag.ts';
import { askedTerms } from '../request/terms.ts';
import type { Ask, Facts, Need, SessionClue } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { noTerms } from '../usage.ts';
import { isRecord, recordOf } from '../wire-values.ts';
import { partNeeds, type RequestMember, requestMembers, thoughtMembers } from './wire.ts';

/** The caller's word about usage in `stream_options`, and its place. */
export interface StreamOptions {
  readonly includeUsage: boolean;
  /** Span of the value of `include_usage`; null when the member is absent. */
  readonly value: { readonly start: number; readonly end: number } | null;
  readonly isEmpty: boolean;
}

/** A request as read. */
export interface ReadRequest extends ReadMembers<RequestMember> {
  /** Null when absent or null. */
  readonly streamOptions: StreamOptions | null;
  /** The member that sets the output limit; null when there is none. */
  readonly limitMember: LimitMember | null;
}

export type LimitMember = 'max_completion_tokens' | 'max_tokens';

const choicesMax = 128;

const names = new KeyNames<RequestMember>(requestMembers);
const media = mediaParts(partNeeds);
const includeUsageName = new KeyNames(['include_usage']);

export function readFacts(input: SurveyedBody): Result<ReadRequest, Fault> {
  const watch = new MediaWatch(media);
  const found = findMembers(input, names, { name: 'messages', watch });
  if (!found.ok) return found;
  const members = found.value;
  const asked = readModelAndStream(members);
  if (!asked.ok) return asked;
  const messages = checkMessages(members);
  if (messages !== null) return messages;
  const streamOptions = readStreamOptions(members);
  if (!streamOptions.ok) return streamOptions;
  const limit = readLimit(members);
  if (!limit.ok) return limit;
  const choices = readWhole(members, 'n', [1, choicesMax]);
  if (!choices.ok) return choices;
  return succeed({
    facts: {
      ...asked.value,
      maxOutputTokens: limit.value.tokens,
      inputTokensEstimate: watch.estimate(input.body.length),
      choices: choices.value ?? 1,
      needs: readNeeds(members, watch.needs),
      ...readTerms(members),
      // Few requests say anything of it.
      ...(members.hasAny(thoughtMembers) ? askedThought(members.valuesOf(thoughtMembers)) : {}),
      ...(members.span('metadata') === undefined ? {} : taggedBy(members)),
    },
    members,
    longStrings: watch.longStrings,
    streamOptions: streamOptions.value,
    limitMember: limit.value.member,
  });
}

/** Members that may ask for something with a price of its own. */
const pricedMembers = [
  'service_tier',
  'web_search_options',
  'enable_search',
  'search_parameters',
  'web_search',
  'plugins',
] as const satisfies readonly RequestMember[];

function readTerms(members: RequestMembers<RequestMember>): Pick<Facts, 'terms'> {
  // Few requests have any.
  if (!members.hasAny(pricedMembers)) return {};
  const { search_context_size: context = null } = recordOf(members.value('web_search_options'));
  const asked = askedTerms(serviceOf(members.value('service_tier')), null, context);
  // A search is asked for, with or without a word on its size.
  const terms = searchAsks(members).length === 0 ? asked : { terms: asked.terms ?? noTerms };
  return withPlugins(terms, members);
}

/** Servers search where one of these members says so. One that is too long to be read may. */
const searchMembers: readonly (readonly [RequestMember, asks: (value: unknown) => boolean])[] = [
  ['web_search_options', isRecord],
  ['enable_search', (value) => value === true],
  ['search_parameters', (value) => isRecord(value) && value['mode'] !== 'off'],
  ['web_search', (value) => isRecord(value) && value['enable'] !== false],
];

function searchAsks(members: RequestMembers<RequestMember>): readonly Ask[] {
  return searchMembers
    .filter(([field, asks]) => {
      const value = members.value(field);
      return value === undefined || asks(value);
    })
    .map(([field]) => ({ term: 'webSearches', field }));
}

/** Tools that run at the upstream and have a fee, as compatible servers name them. */
const feeTools = [
  ['web_search', 'webSearches'],
  ['web_fetch', 'pages'],
  ['browser_', 'webSearches'],
  ['live_search', 'webSearches'],
  ['x_search', 'webSearches'],
  ['builtin_function', 'webSearches'],
  ['file_search', 'fileSearches'],
  ['code_interpreter', 'codeSessions'],
  ['code_execution', 'codeSessions'],
] as const satisfies FeeTools;

export function readAsks({ facts, members }: ReadRequest): readonly Ask[] {
  return [
    ...termAsks(members, facts.terms, { service: ['service_tier'] }),
    ...searchAsks(members),
    ...pluginAsks(members),
    ...toolAsks(members.reader('tools'), feeTools),
  ];
}

function readStreamOptions(members: RequestMembers<RequestMember>): Result<StreamOptions | null, Fault> {
  const reader = members.reader('stream_options');
  if (reader === null || reader.kind === 'null') return succeed(null);
  if (!reader.enterObject())
    return invalid("'stream_options' must be an object, or be left out.", 'stream_options');
  let value: StreamOptions['value'] = null;
  let isEmpty = true;
  while (reader.nextMember()) {
    const start = reader.at;
    const isUsage = includeUsageName.findDecoded(members.body, reader.keyStart, reader.keyEnd) !== null;
    const end = reader.skip();
    if (isUsage && value !== null) return invalidIncludeUsage('is given twice; send it once');
    if (isUsage) value = { start, end };
    isEmpty = false;
  }
  if (reader.failure !== null) return invalid(describe(reader.failure), 'stream_options');
  const includeUsage = value === null ? null : decodeJson(members.body, value.start, value.end);
  if (includeUsage !== null && typeof includeUsage !== 'boolean')
    return invalidIncludeUsage('must be true or false');
  return succeed({ includeUsage: includeUsage === true, value, isEmpty });
}

function invalidIncludeUsage(problem: string): Refused {
  return invalid(`'stream_options.include_usage' ${problem}.`, 'stream_options.include_usage');
}

interface OutputLimit {
  readonly tokens: number | null;
  readonly member: LimitMember | null;
}

function readLimit(members: RequestMembers<RequestMember>): Result<OutputLimit, Fault> {
  const newer = readWhole(members, 'max_completion_tokens', [1, outputTokensMax]);
  if (!newer.ok) return newer;
  const older = readWhole(members, 'max_tokens', [1, outputTokensMax]);
  if (!older.ok) return older;
  if (newer.value !== null) return succeed({ tokens: newer.value, member: 'max_completion_tokens' });
  return succeed({ tokens: older.value, member: older.value === null ? null : 'max_tokens' });
}

/** Members of the wrong type say nothing here: what they mean is for the upstream to judge. */
function readNeeds(members: RequestMembers<RequestMember>, ofMessages: ReadonlySet<Need>): ReadonlySet<Need> {
  const needs = new Set(ofMessages);
  // Most requests are of text alone.
  if (!members.hasAny(needMembers)) return needs;
  if (hasElements(members, 'tools') || hasElements(members, 'functions')) needs.add('tools');
  if (asksForSound(members)) needs.add('audio-output');
  if (isStructured(members)) needs.add('structured-output');
  return needs;
}

const needMembers = ['tools', 'functions', 'audio', 'modalities', 'response_format'] as const;

function asksForSound(members: RequestMembers<RequestMember>): boolean {
  const modalities = members.value('modalities');
  return members.kind('audio') === 'object' || (Array.isArray(modalities) && modalities.includes('audio'));
}

/** `json_object` and `json_schema`; the schema may be long and is not looked at. */
function isStructured(members: RequestMembers<RequestMember>): boolean {
  const reader = members.reader('response_format');
  return reader !== null && saysJson(reader);
}

const openingMembers = { instructions: [], conversation: 'messages' } as const;

export function readSession({ members, longStrings }: ReadRequest): SessionClue | null {
  return sessionClue({
    conversation: [members.reader('prompt_cache_key')],
    person: [members.reader('safety_identifier'), members.reader('user')],
    opening: new OpeningReader(members, openingMembers, longStrings),
  });
}

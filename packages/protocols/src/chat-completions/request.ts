import { serviceOf } from '../billing.ts';
import { decodeJson, KeyNames } from '../bytes/json-text.ts';
import type { Fault } from '../error.ts';
import { termAsks } from '../request/asks.ts';
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
  saysJson,
} from '../request/members.ts';
import { OpeningReader, sessionClue } from '../request/session.ts';
import { askedTerms } from '../request/terms.ts';
import type { Ask, Facts, Need, SessionClue } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { noTerms } from '../usage.ts';
import { recordOf } from '../wire-values.ts';
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

export function readFacts(body: Uint8Array): Result<ReadRequest, Fault> {
  const watch = new MediaWatch(media);
  const found = findMembers(body, names, { name: 'messages', watch });
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
      inputTokensEstimate: watch.estimate(body.length),
      choices: choices.value ?? 1,
      needs: readNeeds(members, watch.needs),
      ...readTerms(members),
      // Few requests say anything of it.
      ...(members.hasAny(thoughtMembers) ? askedThought(members.valuesOf(thoughtMembers)) : {}),
    },
    members,
    longStrings: watch.longStrings,
    streamOptions: streamOptions.value,
    limitMember: limit.value.member,
  });
}

function readTerms(members: RequestMembers<RequestMember>): Pick<Facts, 'terms'> {
  const options = members.span('web_search_options');
  if (options === undefined && members.span('service_tier') === undefined) return {};
  const { search_context_size: context = null } = recordOf(members.value('web_search_options'));
  const asked = askedTerms(serviceOf(members.value('service_tier')), null, context);
  // A search is asked for, with or without a word on its size.
  return options === undefined ? asked : { terms: asked.terms ?? noTerms };
}

export function readAsks({ facts, members }: ReadRequest): readonly Ask[] {
  const search = { term: 'webSearches', field: 'web_search_options' } as const;
  const asks = termAsks(members, facts.terms, { service: ['service_tier'] });
  return members.kind('web_search_options') === 'object' ? [...asks, search] : asks;
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

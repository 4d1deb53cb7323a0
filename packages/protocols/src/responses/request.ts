import { serviceOf } from '../billing.ts';
import { KeyNames } from '../bytes/json-text.ts';
import type { Fault } from '../error.ts';
import { type FeeTools, pluginAsks, termAsks, toolAsks, withPlugins } from '../request/asks.ts';
import { MediaWatch, mediaParts } from '../request/media-watch.ts';
import {
  askedThought,
  continuing,
  enterMember,
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
import { OpeningReader, readerOf, sessionClue } from '../request/session.ts';
import { taggedBy } from '../request/tag.ts';
import { askedTerms } from '../request/terms.ts';
import type { Ask, Need, SessionClue } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { isRecord } from '../wire-values.ts';
import { partNeeds, type RequestMember, requestMembers } from './wire.ts';

export type ReadRequest = ReadMembers<RequestMember>;

const names = new KeyNames<RequestMember>(requestMembers);
const media = mediaParts(partNeeds);
const formatName = new KeyNames(['format']);
const idName = new KeyNames(['id']);
const thoughtMembers = ['reasoning'] as const;

/** The upstream is left to say what is wrong for this protocol alone, such as neither an input nor a conversation. */
export function readFacts(input: SurveyedBody): Result<ReadRequest, Fault> {
  const watch = new MediaWatch(media);
  const found = findMembers(input, names, { name: 'input', watch });
  if (!found.ok) return found;
  const members = found.value;
  const asked = readModelAndStream(members);
  if (!asked.ok) return asked;
  const limit = readWhole(members, 'max_output_tokens', [1, outputTokensMax]);
  if (!limit.ok) return limit;
  const refused = checkInput(members) ?? checkBackground(members, asked.value.stream);
  if (refused !== null) return refused;
  const facts = {
    ...asked.value,
    maxOutputTokens: limit.value,
    inputTokensEstimate: watch.estimate(input.body.length),
    choices: 1,
    needs: readNeeds(members, watch.needs),
    ...withPlugins(askedTerms(serviceOf(members.value('service_tier'))), members),
    ...askedThought(members.valuesOf(thoughtMembers)),
    ...taggedBy(members),
    ...continuing(members.value('previous_response_id'), conversationId(members)),
    // Unless they are told not to, upstreams keep it.
    ...(members.value('store') === false ? {} : { kept: true as const }),
  };
  return succeed({ facts, members, longStrings: watch.longStrings });
}

/** Tools that run at the upstream and have a fee. */
const feeTools = [
  ['web_search', 'webSearches'],
  ['file_search', 'fileSearches'],
  ['code_interpreter', 'codeSessions'],
] as const satisfies FeeTools;

export function readAsks({ facts, members }: ReadRequest): readonly Ask[] {
  const terms = termAsks(members, facts.terms, { service: ['service_tier'] });
  return [...terms, ...pluginAsks(members), ...toolAsks(members.reader('tools'), feeTools)];
}

function conversationId(members: RequestMembers<RequestMember>): unknown {
  const conversation = members.value('conversation');
  return isRecord(conversation) ? conversation['id'] : conversation;
}

function checkInput(members: RequestMembers<RequestMember>): Refused | null {
  const kind = members.kind('input');
  return kind === 'string' || kind === 'array' || kind === 'null'
    ? null
    : invalid("'input' must be a text or a list of items.", 'input');
}

/** Its result would have to be fetched later, and nothing here fetches it; a stream brings it itself. */
function checkBackground(members: RequestMembers<RequestMember>, stream: boolean): Refused | null {
  if (members.value('background') !== true || stream) return null;
  const message = "'background' is only offered with 'stream': the result cannot be fetched later.";
  return invalid(message, 'background');
}

/** Members of the wrong type say nothing here: what they mean is for the upstream to judge. */
function readNeeds(members: RequestMembers<RequestMember>, ofInput: ReadonlySet<Need>): ReadonlySet<Need> {
  const needs = new Set(ofInput);
  if (hasElements(members, 'tools')) needs.add('tools');
  if (isStructured(members)) needs.add('structured-output');
  return needs;
}

function isStructured(members: RequestMembers<RequestMember>): boolean {
  const reader = members.reader('text');
  return reader !== null && enterMember(reader, formatName) && saysJson(reader);
}

const openingMembers = { instructions: ['instructions'], conversation: 'input' } as const;

/** The input is the latest turn and not the beginning of a conversation that is kept upstream. */
export function readSession({ facts, members, longStrings }: ReadRequest): SessionClue | null {
  return sessionClue({
    conversation: [
      members.reader('prompt_cache_key'),
      members.reader('conversation'),
      readerOf(members.reader('conversation'), idName),
    ],
    person: [members.reader('safety_identifier'), members.reader('user')],
    opening: facts.continues === undefined ? new OpeningReader(members, openingMembers, longStrings) : null,
  });
}

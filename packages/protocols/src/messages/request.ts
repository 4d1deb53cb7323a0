import { serviceOf } from '../billing.ts';
import { decodeJson, KeyNames } from '../bytes/json-text.ts';
import type { Fault } from '../error.ts';
import { type FeeTools, pluginAsks, termAsks, toolAsks, withPlugins } from '../request/asks.ts';
import { MediaWatch, mediaParts } from '../request/media-watch.ts';
import {
  askedThought,
  checkMessages,
  continuing,
  enterMember,
  findMembers,
  hasElements,
  outputTokensMax,
  type ReadMembers,
  type RequestMembers,
  readModelAndStream,
  readWhole,
} from '../request/members.ts';
import { OpeningReader, readerOf, sessionClue } from '../request/session.ts';
import { askedTerms } from '../request/terms.ts';
import type { Ask, Need, RequestInput, SessionClue, Work } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { isRecord } from '../wire-values.ts';
import { speedOf } from './meter.ts';
import { blockNeeds, type ProtocolHeaders, type RequestMember, readHeaders, requestMembers } from './wire.ts';

/** A request as read, and its headers. */
export interface ReadRequest extends ReadMembers<RequestMember> {
  readonly work: Work;
  readonly headers: ProtocolHeaders;
}

const names = new KeyNames<RequestMember>(requestMembers);
const formatName = new KeyNames(['format']);
const effortName = new KeyNames(['effort']);
const userIdName = new KeyNames(['user_id']);
const media = mediaParts(blockNeeds);

/** All that is wrong for this protocol alone, such as a missing limit, is for the upstream to say. */
export function readFacts(input: RequestInput): Result<ReadRequest, Fault> {
  const { body, header, work } = input;
  const headers = readHeaders(header);
  if (!headers.ok) return headers;
  const watch = new MediaWatch(media);
  const found = findMembers(input, names, { name: 'messages', watch });
  if (!found.ok) return found;
  const members = found.value;
  const asked = readModelAndStream(members);
  if (!asked.ok) return asked;
  const messages = checkMessages(members);
  if (messages !== null) return messages;
  // None at all is a request to do no more than fill the prompt cache.
  const limit = readWhole(members, 'max_tokens', [0, outputTokensMax]);
  if (!limit.ok) return limit;
  const facts = {
    model: asked.value.model,
    // Nothing is written where tokens are counted, whatever is said of it.
    stream: work === 'answer' && asked.value.stream,
    maxOutputTokens: work === 'answer' ? limit.value : 0,
    inputTokensEstimate: watch.estimate(body.length),
    choices: 1,
    needs: readNeeds(members, watch.needs),
    ...(work === 'answer'
      ? withPlugins(askedTerms(tierAsked(members), members.value('inference_geo')), members)
      : {}),
    ...askedThought([members.value('thinking'), effortIn(members)]),
    ...continuing(previousId(members), containerId(members)),
    ...(members.kind('thread') === 'object' ? { kept: true as const } : {}),
  };
  return succeed({ facts, work, members, longStrings: watch.longStrings, headers: headers.value });
}

/** The schema beside it may be long and is not looked at. */
function effortIn(members: RequestMembers<RequestMember>): unknown {
  const reader = members.reader('output_config');
  if (reader === null || !enterMember(reader, effortName)) return null;
  const start = reader.at;
  return decodeJson(members.body, start, reader.skip());
}

const feeTools = [['web_search', 'webSearches']] as const satisfies FeeTools;

export function readAsks({ facts, members }: ReadRequest): readonly Ask[] {
  const terms = termAsks(members, facts.terms, {
    service: ['speed', 'service_tier'],
    region: 'inference_geo',
  });
  return [...terms, ...pluginAsks(members), ...toolAsks(members.reader('tools'), feeTools)];
}

/** A speed is a tier by another name. */
function tierAsked(members: RequestMembers<RequestMember>): string | null {
  return speedOf(members.value('speed')) ?? serviceOf(members.value('service_tier'));
}

/** The id of the message that a thread goes on from. */
function previousId(members: RequestMembers<RequestMember>): unknown {
  const thread = members.value('thread');
  return isRecord(thread) ? (thread['previous_message_id'] ?? null) : null;
}

/** By itself, or beside the skills it is to have; without an id it is a new one. */
function containerId(members: RequestMembers<RequestMember>): unknown {
  const container = members.value('container');
  return isRecord(container) ? container['id'] : container;
}

function readNeeds(members: RequestMembers<RequestMember>, ofMessages: ReadonlySet<Need>): ReadonlySet<Need> {
  const needs = new Set(ofMessages);
  if (hasElements(members, 'tools')) needs.add('tools');
  if (isStructured(members)) needs.add('structured-output');
  return needs;
}

/** The schema may be long and is not looked at. */
function isStructured(members: RequestMembers<RequestMember>): boolean {
  if (members.kind('output_format') === 'object') return true;
  const reader = members.reader('output_config');
  return reader !== null && enterMember(reader, formatName) && reader.kind === 'object';
}

const openingMembers = { instructions: ['system'], conversation: 'messages' } as const;

/** Coding agents write a session into their `user_id`; it is the name of a person all the same, and taken whole. */
export function readSession({ members, longStrings }: ReadRequest): SessionClue | null {
  return sessionClue({
    conversation: [],
    person: [readerOf(members.reader('metadata'), userIdName)],
    // A thread that goes on has its beginning upstream.
    opening: previousId(members) === null ? new OpeningReader(members, openingMembers, longStrings) : null,
  });
}

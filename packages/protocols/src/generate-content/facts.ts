import type { JsonReader } from '../bytes/json-reader.ts';
import { decodeJson, KeyNames } from '../bytes/key-names.ts';
import type { Fault } from '../error.ts';
import type { Facts, Need, RequestInput, SessionClue, StreamFraming } from '../inbound-request.ts';
import type { LongStrings } from '../request/long-strings.ts';
import { OpeningReader } from '../request/opening.ts';
import { hasElements } from '../request/read-members.ts';
import {
  findMembers,
  invalid,
  type MemberSpan,
  type Refused,
  type RequestMembers,
} from '../request/request-members.ts';
import { sessionClue } from '../request/session-clue.ts';
import { type Result, succeed } from '../result.ts';
import { type Config, readConfig } from './config.ts';
import { MimeTypeWatch } from './media-watch.ts';
import { type RequestMember, requestMembers } from './wire.ts';

/** A request as read: what routing needs of it, and where it names the model within its body. */
export interface ReadRequest {
  readonly facts: Facts;
  readonly action: string;
  readonly framing: StreamFraming;
  readonly members: RequestMembers<RequestMember>;
  /** Those of the conversation. */
  readonly longStrings: LongStrings;
  /** Strings in the body that repeat the model of the path; upstreams insist that they do. */
  readonly modelSpans: readonly Span[];
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const names = new KeyNames<RequestMember>(requestMembers);
const modelName = new KeyNames(['model']);

/** The model, and whether to stream, are in the path. What is wrong for this protocol alone is for the upstream to say. */
export function readFacts({ body, params, search, work }: RequestInput): Result<ReadRequest, Fault> {
  const framing = readFraming(search);
  if (!framing.ok) return framing;
  const watch = new MimeTypeWatch();
  const found = findMembers(body, names, { name: 'contents', watch });
  if (!found.ok) return found;
  const members = found.value;
  const twice = spelledTwice(members);
  if (twice !== null) return twice;
  if (work === 'answer' && !hasContents(members)) return noContents;
  countedRequest(members)?.skip(watch);
  const config = readConfig(body, span(members, 'generationConfig', 'generation_config'));
  if (!config.ok) return config;
  const { model = '', action = '' } = params;
  const cache = members.value('cachedContent') ?? members.value('cached_content');
  const facts = {
    model,
    stream: action === 'streamGenerateContent',
    maxOutputTokens: work === 'answer' ? config.value.maxOutputTokens : 0,
    inputTokensEstimate: watch.estimate(body.length),
    choices: config.value.candidateCount,
    needs: readNeeds(members, config.value, watch.needs),
    ...(typeof cache === 'string' ? { continues: cache } : {}),
  };
  return succeed({
    facts,
    action,
    framing: framing.value,
    members,
    longStrings: watch.longStrings,
    modelSpans: findModelSpans(members),
  });
}

function readFraming(search: string): Result<StreamFraming, Fault> {
  const query = new URLSearchParams(search);
  const alt = query.get('alt') ?? query.get('$alt') ?? 'json';
  if (alt === 'sse') return succeed('sse');
  // Libraries add parameters of their own to it: `json;enum-encoding=int`.
  return /^json(;|$)/.test(alt) ? succeed('json-array') : invalid("'alt' must be 'sse' or 'json'.", 'alt');
}

const spellings = [
  ['generationConfig', 'generation_config'],
  ['systemInstruction', 'system_instruction'],
  ['cachedContent', 'cached_content'],
  ['generateContentRequest', 'generate_content_request'],
] as const;

function spelledTwice(members: RequestMembers<RequestMember>): Refused | null {
  const twice = spellings.find((both) => both.every((name) => members.span(name) !== undefined));
  return twice === undefined
    ? null
    : invalid(`'${twice[0]}' is given twice, once as '${twice[1]}'; send it once.`, twice[0]);
}

/** A single content may stand for a list of one, as everywhere where this protocol has lists. */
function hasContents(members: RequestMembers<RequestMember>): boolean {
  const kind = members.kind('contents');
  return kind === 'array' || kind === 'object';
}

const noContents: Refused = invalid("'contents' is missing; send a list of contents.", 'contents');

const openingMembers = {
  instructions: ['systemInstruction', 'system_instruction'],
  conversation: 'contents',
} as const;

/** A cache that was made beforehand is a prefix, whoever goes on from it. */
export function readSession({ members, longStrings }: ReadRequest): SessionClue | null {
  return sessionClue({
    conversation: [members.reader('cachedContent'), members.reader('cached_content')],
    person: [],
    opening: new OpeningReader(members, openingMembers, longStrings),
  });
}

function span(
  members: RequestMembers<RequestMember>,
  ...either: readonly RequestMember[]
): MemberSpan | undefined {
  return either.map((name) => members.span(name)).find((found) => found !== undefined);
}

function readNeeds(
  members: RequestMembers<RequestMember>,
  config: Config,
  ofContents: ReadonlySet<Need>,
): ReadonlySet<Need> {
  const needs = new Set(ofContents);
  if (hasElements(members, 'tools') || members.kind('tools') === 'object') needs.add('tools');
  if (config.isStructured) needs.add('structured-output');
  if (config.wantsAudio) needs.add('audio-output');
  return needs;
}

/** The request whose tokens are to be counted, where it is not the body itself. */
function countedRequest(members: RequestMembers<RequestMember>): JsonReader | null {
  return members.reader('generateContentRequest') ?? members.reader('generate_content_request');
}

/** At the top, in the request whose tokens are to be counted, and in each of those to be embedded. */
function findModelSpans(members: RequestMembers<RequestMember>): readonly Span[] {
  const own = members.span('model');
  const spans: Span[] = own === undefined ? [] : [own];
  const counted = countedRequest(members);
  if (counted !== null) spans.push(...modelIn(counted));
  const batch = members.reader('requests');
  if (batch?.enterArray() === true) while (batch.nextElement()) spans.push(...modelIn(batch));
  return spans.filter(({ start }) => members.body[start] === 0x22);
}

function modelIn(reader: JsonReader): readonly Span[] {
  const spans: Span[] = [];
  if (!reader.enterObject()) return spans;
  while (reader.nextMember()) {
    const isModel = modelName.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd) !== null;
    const start = reader.at;
    const end = reader.skip();
    if (isModel) spans.push({ start, end });
  }
  return spans;
}

/** The text of a span; null for anything but a string. */
export function textIn(body: Uint8Array, { start, end }: Span): string | null {
  const value = decodeJson(body, start, end);
  return typeof value === 'string' ? value : null;
}

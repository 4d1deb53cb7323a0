import { serviceOf } from '../billing.ts';
import { decodeJson, KeyNames, type TextSpan } from '../bytes/json-text.ts';
import type { WalkedBody } from '../bytes/long-texts.ts';
import { JsonReader, skipSpace } from '../bytes/scan.ts';
import type { Fault } from '../error.ts';
import { memberAsks, termAsks } from '../request/asks.ts';
import { ConversationWatch } from '../request/media-watch.ts';
import {
  askedThought,
  continuing,
  findMembers,
  hasElements,
  invalid,
  type MemberSpan,
  outputTokensMax,
  type ReadMembers,
  type Refused,
  type RequestMembers,
} from '../request/members.ts';
import { OpeningReader, sessionClue } from '../request/session.ts';
import { askedTerms } from '../request/terms.ts';
import type { Ask, Need, RequestInput, SessionClue, StreamFraming } from '../request.ts';
import { type Result, succeed } from '../result.ts';
import { markedBeginning } from './signature.ts';
import { type ConfigMember, configMembers, type RequestMember, requestMembers } from './wire.ts';

/** A request as read, and where it names the model within its body. */
export interface ReadRequest extends ReadMembers<RequestMember> {
  readonly action: string;
  readonly framing: StreamFraming;
  /** Strings in the body that repeat the model of the path; upstreams insist that they do. */
  readonly modelSpans: readonly TextSpan[];
}

const names = new KeyNames<RequestMember>(requestMembers);
const modelName = new KeyNames(['model']);

/** The model, and whether to stream, are in the path. What is wrong for this protocol alone is for the upstream to say. */
export function readFacts(input: RequestInput): Result<ReadRequest, Fault> {
  const { body, params, search, work } = input;
  const framing = readFraming(search);
  if (!framing.ok) return framing;
  const watch = new MimeTypeWatch();
  const found = findMembers(input, names, { name: 'contents', watch });
  if (!found.ok) return found;
  const members = found.value;
  const twice = spelledTwice(members);
  if (twice !== null) return twice;
  if (work === 'answer' && !hasContents(members)) return noContents;
  countedRequest(members)?.skip(watch);
  const config = readConfig(members, span(members, 'generationConfig', 'generation_config'));
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
    ...askedTerms(serviceOf(members.value('serviceTier') ?? members.value('service_tier'))),
    ...askedThought([config.value.thinking]),
    ...continuing(cache),
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

/** Tools that look something up for an answer: in the web or on maps, and not in files. */
const groundingTools = /(?<!file_?)(search|retrieval|maps)$/i;

export function readAsks({ facts, members }: ReadRequest): readonly Ask[] {
  const terms = termAsks(members, facts.terms, { service: ['serviceTier', 'service_tier'] });
  return [...terms, ...memberAsks(members.reader('tools'), groundingTools, 'groundings')];
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
function findModelSpans(members: RequestMembers<RequestMember>): readonly TextSpan[] {
  const own = members.span('model');
  const spans: TextSpan[] = own === undefined ? [] : [own];
  const counted = countedRequest(members);
  if (counted !== null) spans.push(...modelIn(counted));
  const batch = members.reader('requests');
  if (batch?.enterArray() === true) while (batch.nextElement()) spans.push(...modelIn(batch));
  return spans.filter(({ start }) => members.body[start] === 0x22);
}

function modelIn(reader: JsonReader): readonly TextSpan[] {
  const spans: TextSpan[] = [];
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
export function textIn(body: Uint8Array, { start, end }: TextSpan): string | null {
  const value = decodeJson(body, start, end);
  return typeof value === 'string' ? value : null;
}

/** All that routing and admission read of `generationConfig`. */
interface Config {
  /** Tokens; null when the caller set no limit. */
  readonly maxOutputTokens: number | null;
  readonly candidateCount: number;
  readonly isStructured: boolean;
  readonly wantsAudio: boolean;
  /** As the caller has it; null when absent. */
  readonly thinking: unknown;
}

const candidatesMax = 128;

const configNames = new KeyNames([...configMembers.keys()]);

/** Reads the few members that matter; a schema may be long and is not looked at. Without a span everything is as by default. */
function readConfig(members: WalkedBody, span: MemberSpan | undefined): Result<Config, Fault> {
  const { body } = members;
  const spans = findSpans(members, span);
  if (!spans.ok) return spans;
  const memberOf = (name: ConfigMember): unknown => {
    const found = spans.value.get(name);
    return found === undefined ? null : decodeJson(body, found.start, found.end);
  };
  const limit = readWhole(memberOf('maxOutputTokens'), 'maxOutputTokens', outputTokensMax);
  if (!limit.ok) return limit;
  const candidates = readWhole(memberOf('candidateCount'), 'candidateCount', candidatesMax);
  if (!candidates.ok) return candidates;
  return succeed({
    maxOutputTokens: limit.value,
    candidateCount: candidates.value ?? 1,
    isStructured: spans.value.has('schema') || isStructuredType(memberOf('responseMimeType')),
    wantsAudio: listsAudio(memberOf('responseModalities')),
    thinking: memberOf('thinkingConfig'),
  });
}

type Spans = ReadonlyMap<ConfigMember, TextSpan>;

function findSpans({ body, longTexts }: WalkedBody, span: MemberSpan | undefined): Result<Spans, Fault> {
  const spans = new Map<ConfigMember, TextSpan>();
  const reader = new JsonReader(body, span?.start ?? body.length, longTexts);
  if (span === undefined || reader.kind === 'null') return succeed(spans);
  if (!reader.enterObject())
    return invalid("'generationConfig' must be an object, or be left out.", 'generationConfig');
  while (reader.nextMember()) {
    const spelled = configNames.findDecoded(body, reader.keyStart, reader.keyEnd);
    const start = reader.at;
    const end = reader.skip();
    const name = configMembers.get(spelled ?? '');
    if (name === undefined) continue;
    if (spans.has(name) && name !== 'schema')
      return invalid(`'generationConfig.${name}' is given twice; send it once.`, `generationConfig.${name}`);
    if (body[start] !== 0x6e) spans.set(name, { start, end });
  }
  return succeed(spans);
}

/** A whole number, or one in a string, as this protocol's JSON may have it. Zero is its way of saying nothing. */
function readWhole(value: unknown, name: string, max: number): Result<number | null, Fault> {
  if (value === null) return succeed(null);
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > max) {
    const param = `generationConfig.${name}`;
    return invalid(`'${param}' must be a whole number up to ${max}, or be left out.`, param);
  }
  return succeed(number === 0 ? null : number);
}

function isStructuredType(mimeType: unknown): boolean {
  return mimeType === 'application/json' || mimeType === 'text/x.enum';
}

function listsAudio(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.includes('AUDIO');
}

const typeKeys = new KeyNames(['mimeType', 'mime_type']);
const image = new KeyNames(['image/']);
const audio = new KeyNames(['audio/']);
const prefixBytes = 'image/'.length;

const mimeTypeLengths = (1 << 'mimeType'.length) | (1 << 'mime_type'.length);

/** Finds media among the contents: whatever has a `mimeType` is a picture, a sound or a file. */
class MimeTypeWatch extends ConversationWatch {
  constructor() {
    super(mimeTypeLengths, markedBeginning);
  }

  protected needOf(bytes: Uint8Array, start: number, end: number): Need | null {
    if (typeKeys.find(bytes, start, end) === null) return null;
    const colon = skipSpace(bytes, end + 1);
    const value = skipSpace(bytes, colon + 1);
    return bytes[colon] === 0x3a && bytes[value] === 0x22 ? mediaNeedOf(bytes, value + 1) : null;
  }
}

/** Films and documents are files. */
function mediaNeedOf(bytes: Uint8Array, start: number): Need {
  const end = start + prefixBytes;
  if (image.find(bytes, start, end) !== null) return 'image-input';
  return audio.find(bytes, start, end) !== null ? 'audio-input' : 'file-input';
}

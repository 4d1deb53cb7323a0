import { type JsonFailure, JsonReader } from '../bytes/json-reader.ts';
import { depthMax, type StringWatch } from '../bytes/json-skip.ts';
import { decodeJson, decodeString, KeyNames } from '../bytes/key-names.ts';
import { type Fault, fault } from '../error.ts';
import type { Facts, Need } from '../protocol.ts';
import { fail, type Result, succeed } from '../result.ts';
import { partNeeds, type RequestMember, requestMembers } from './wire.ts';

/** Where a member stands in the body. Bytes; the key's span has its quotes. */
export interface MemberSpan {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
}

/** What the caller's `stream_options` say about usage, and where. */
export interface StreamOptions {
  readonly includeUsage: boolean;
  /** Span of the value of `include_usage`; null when the member is absent. */
  readonly value: { readonly start: number; readonly end: number } | null;
  readonly isEmpty: boolean;
}

/** A request as read: what routing needs of it, and where the members stand that an upstream may need changed. */
export interface ReadRequest {
  readonly facts: Facts;
  readonly members: ReadonlyMap<RequestMember, MemberSpan>;
  /** Null when absent or null. */
  readonly streamOptions: StreamOptions | null;
  /** The member that sets the output limit; null when there is none. */
  readonly limitMember: 'max_completion_tokens' | 'max_tokens' | null;
}

/** Bytes of text per token, on the low side of what tokenizers do with prose, JSON around it included. */
const bytesPerToken = 4;
/** What a picture, a sound or a file is taken for. Tokens; admission only. */
const tokensPerMediaPart = 1_000;
/** The largest 32-bit number: what callers write who mean no limit. */
const limitMax = 2_147_483_647;
const choicesMax = 128;
const sessionKeyCharsMax = 256;

const names = new KeyNames(requestMembers);
const streamOptionNames = new KeyNames(['include_usage']);

/** A failed step, to be returned as it is. */
type Refused = { readonly ok: false; readonly error: Fault };

export function readFacts(body: Uint8Array): Result<ReadRequest, Fault> {
  const watch = new MediaWatch();
  const scanned = scanMembers(body, watch);
  if (!scanned.ok) return scanned;
  const members = scanned.value;
  const model = readModel(body, members);
  if (!model.ok) return model;
  const messages = checkMessages(body, members.get('messages'));
  if (messages !== null) return messages;
  const stream = readStream(body, members.get('stream'));
  if (!stream.ok) return stream;
  const streamOptions = readStreamOptions(body, members.get('stream_options'));
  if (!streamOptions.ok) return streamOptions;
  const limit = readLimit(body, members);
  if (!limit.ok) return limit;
  const choices = readWhole(body, 'n', members.get('n'), choicesMax);
  if (!choices.ok) return choices;
  return succeed({
    facts: {
      model: model.value,
      stream: stream.value,
      maxOutputTokens: limit.value.tokens,
      inputTokensEstimate: watch.estimate(body.length),
      choices: choices.value ?? 1,
      needs: readNeeds(body, members, watch.needs),
      sessionKey: readSessionKey(body, members),
    },
    members,
    streamOptions: streamOptions.value,
    limitMember: limit.value.member,
  });
}

/** Finds the members that are read. Refuses what is not one JSON object, and what could be read in two ways. */
function scanMembers(
  body: Uint8Array,
  watch: StringWatch,
): Result<ReadonlyMap<RequestMember, MemberSpan>, Fault> {
  const reader = new JsonReader(body);
  if (reader.kind !== 'object')
    return invalid('The request body must be a JSON object in UTF-8, without a byte order mark.');
  const members = new Map<RequestMember, MemberSpan>();
  for (reader.enter(); reader.nextMember(); ) {
    const { keyStart, keyEnd, at: start } = reader;
    const name = names.find(body, keyStart, keyEnd);
    const end = reader.skip(name === 'messages' ? watch : null);
    if (name === null) {
      // Some servers match names in any case: for them it would be a second member of that name.
      const twin = names.findAnyCase(body, keyStart, keyEnd);
      if (twin !== null) return invalid(`The name of '${twin}' must be written in lower case.`, twin);
    } else if (members.has(name)) {
      return invalid(`'${name}' is given twice; send it once.`, name);
    } else {
      members.set(name, { keyStart: keyStart - 1, keyEnd: keyEnd + 1, start, end });
    }
  }
  reader.isAtEnd();
  return reader.failure === null ? succeed(members) : invalid(describe(reader.failure));
}

function describe(failure: JsonFailure): string {
  switch (failure.kind) {
    case 'too-deep':
      return `The request body is nested more than ${depthMax} levels deep.`;
    case 'truncated':
      return 'The request body is not valid JSON: it ends too early.';
    case 'unexpected':
      return `The request body is not valid JSON: unexpected byte at position ${failure.at}.`;
  }
}

function readModel(body: Uint8Array, members: ReadonlyMap<RequestMember, MemberSpan>): Result<string, Fault> {
  const span = members.get('model');
  if (span === undefined) return invalid("'model' is missing; name the model to call.", 'model');
  const model = decodeString(body, span.start, span.end);
  if (model === null || model === '') return invalid("'model' must be a string that names a model.", 'model');
  return succeed(model);
}

function checkMessages(body: Uint8Array, span: MemberSpan | undefined): Refused | null {
  if (span === undefined) return invalid("'messages' is missing; send a list of messages.", 'messages');
  return body[span.start] === 0x5b ? null : invalid("'messages' must be a list of messages.", 'messages');
}

function readStream(body: Uint8Array, span: MemberSpan | undefined): Result<boolean, Fault> {
  const kind = kindOf(body, span);
  if (kind === 'null') return succeed(false);
  if (span === undefined || kind !== 'boolean') return invalid("'stream' must be true or false.", 'stream');
  return succeed(body[span.start] === 0x74);
}

function readStreamOptions(
  body: Uint8Array,
  span: MemberSpan | undefined,
): Result<StreamOptions | null, Fault> {
  const kind = kindOf(body, span);
  if (kind === 'null') return succeed(null);
  if (span === undefined || kind !== 'object') {
    return invalid("'stream_options' must be an object, or be left out.", 'stream_options');
  }
  const reader = new JsonReader(body, span.start);
  let value: StreamOptions['value'] = null;
  let isEmpty = true;
  for (reader.enter(); reader.nextMember(); isEmpty = false) {
    const start = reader.at;
    const isUsage = streamOptionNames.find(body, reader.keyStart, reader.keyEnd) !== null;
    const end = reader.skip();
    if (!isUsage) continue;
    if (value !== null) return invalidIncludeUsage('is given twice; send it once');
    value = { start, end };
  }
  if (reader.failure !== null) return invalid(describe(reader.failure), 'stream_options');
  const includeUsage = value === null ? null : decodeJson(body, value.start, value.end);
  if (includeUsage !== null && typeof includeUsage !== 'boolean')
    return invalidIncludeUsage('must be true or false');
  return succeed({ includeUsage: includeUsage === true, value, isEmpty });
}

function invalidIncludeUsage(problem: string): Refused {
  return invalid(`'stream_options.include_usage' ${problem}.`, 'stream_options.include_usage');
}

interface OutputLimit {
  readonly tokens: number | null;
  readonly member: ReadRequest['limitMember'];
}

function readLimit(
  body: Uint8Array,
  members: ReadonlyMap<RequestMember, MemberSpan>,
): Result<OutputLimit, Fault> {
  const completion = readWhole(body, 'max_completion_tokens', members.get('max_completion_tokens'), limitMax);
  if (!completion.ok) return completion;
  const older = readWhole(body, 'max_tokens', members.get('max_tokens'), limitMax);
  if (!older.ok) return older;
  if (completion.value !== null)
    return succeed({ tokens: completion.value, member: 'max_completion_tokens' });
  if (older.value !== null) return succeed({ tokens: older.value, member: 'max_tokens' });
  return succeed({ tokens: null, member: null });
}

/** A whole number from 1 to `max`, however it is written; null when absent or null. */
function readWhole(
  body: Uint8Array,
  name: RequestMember,
  span: MemberSpan | undefined,
  max: number,
): Result<number | null, Fault> {
  if (span === undefined) return succeed(null);
  const value = decodeJson(body, span.start, span.end);
  if (value === null) return succeed(null);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max)
    return succeed(value);
  return invalid(`'${name}' must be a whole number from 1 to ${max}, or be left out.`, name);
}

/** Members of the wrong type say nothing here: what they mean is for the upstream to judge. */
function readNeeds(
  body: Uint8Array,
  members: ReadonlyMap<RequestMember, MemberSpan>,
  partNeedsSeen: ReadonlySet<Need>,
): ReadonlySet<Need> {
  const needs = new Set(partNeedsSeen);
  if (hasElements(body, members.get('tools')) || hasElements(body, members.get('functions')))
    needs.add('tools');
  const audio = kindOf(body, members.get('audio')) === 'object';
  if (audio || listsAudio(body, members.get('modalities'))) needs.add('audio-output');
  if (isStructured(body, members.get('response_format'))) needs.add('structured-output');
  return needs;
}

function hasElements(body: Uint8Array, span: MemberSpan | undefined): boolean {
  if (span === undefined || kindOf(body, span) !== 'array') return false;
  const reader = new JsonReader(body, span.start);
  reader.enter();
  return reader.nextElement();
}

function listsAudio(body: Uint8Array, span: MemberSpan | undefined): boolean {
  const modalities = span === undefined ? null : decodeJson(body, span.start, span.end);
  return Array.isArray(modalities) && modalities.includes('audio');
}

function isStructured(body: Uint8Array, span: MemberSpan | undefined): boolean {
  if (span === undefined || kindOf(body, span) !== 'object') return false;
  const reader = new JsonReader(body, span.start);
  for (reader.enter(); reader.nextMember(); ) {
    const start = reader.at;
    const isType = typeName.find(body, reader.keyStart, reader.keyEnd) !== null;
    const end = reader.skip();
    if (isType) return decodeString(body, start, end)?.startsWith('json') ?? false;
  }
  return false;
}

const typeName = new KeyNames(['type']);

function readSessionKey(body: Uint8Array, members: ReadonlyMap<RequestMember, MemberSpan>): string | null {
  for (const name of ['prompt_cache_key', 'safety_identifier', 'user'] as const) {
    const span = members.get(name);
    const key = span === undefined ? null : decodeString(body, span.start, span.end);
    if (key !== null && key !== '') return key.slice(0, sessionKeyCharsMax);
  }
  return null;
}

function kindOf(body: Uint8Array, span: MemberSpan | undefined) {
  return span === undefined ? 'null' : new JsonReader(body, span.start).kind;
}

function invalid(message: string, param: string | null = null): Refused {
  return fail(fault('invalid_request', { message, param }));
}

/** The lengths of the part types, as bits. */
const partTypeLengths = Object.keys(partNeeds).reduce((bits, type) => bits | (1 << type.length), 0);
/** Strings this long may be data. Bytes. */
const dataBytesMin = 4_096;
/** So many of its first bytes tell data from text. */
const dataProbeBytes = 256;

const partTypes = new KeyNames(['image_url', 'input_audio', 'file']);

/**
 * Finds pictures, sounds and files among the messages by the strings they contain, without reading the messages:
 * a string `image_url` that is the value of a `type` is a part of that type. (Someone else's object with such a
 * `type`, deeper in a message, is taken for a part too: then a need is seen where there is none.)
 */
class MediaWatch implements StringWatch {
  readonly lengths = partTypeLengths;
  readonly longerThan = dataBytesMin;
  readonly needs = new Set<Need>();
  #parts = 0;
  #dataBytes = 0;

  see(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > dataBytesMin) {
      if (isData(bytes, start)) this.#dataBytes += end - start;
      return;
    }
    const type = partTypes.find(bytes, start, end);
    if (type === null || !isValueOfType(bytes, start)) return;
    this.needs.add(partNeeds[type]);
    this.#parts++;
  }

  /** Tokens of the whole body: text by its bytes, media by their number. */
  estimate(bodyBytes: number): number {
    return Math.ceil((bodyBytes - this.#dataBytes) / bytesPerToken) + this.#parts * tokensPerMediaPart;
  }
}

/** Base64 and data URLs have neither spaces nor escapes nor letters beyond ASCII; long texts do. */
function isData(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + dataProbeBytes; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 || byte >= 0x7f || byte === 0x5c) return false;
  }
  return true;
}

/** Whether the string that begins at `start` follows `"type":`. */
function isValueOfType(bytes: Uint8Array, start: number): boolean {
  const colon = skipSpaceBack(bytes, start - 2);
  const key = skipSpaceBack(bytes, colon - 1);
  return bytes[colon] === 0x3a && typeName.find(bytes, key - 4, key) !== null && bytes[key - 5] === 0x22;
}

function skipSpaceBack(bytes: Uint8Array, at: number): number {
  while (at > 0 && (bytes[at] ?? 0) <= 0x20) at--;
  return at;
}

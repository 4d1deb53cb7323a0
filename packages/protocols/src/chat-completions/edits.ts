import { decodeString, KeyNames } from '../bytes/json-text.ts';
import { JsonReader, skipSpace } from '../bytes/scan.ts';
import type { Edit } from '../bytes/splice.ts';
import { type ElementSpan, editedRequest, leaveOut, modelEdits, replace } from '../request/edits.ts';
import type { MemberSpan, RequestMembers } from '../request/members.ts';
import type { Dialect, EncodedRequest, PassthroughTarget } from '../request.ts';
import { unreachable } from '../result.ts';
import { hasSealed } from '../translate/seals.ts';
import type { LimitMember, ReadRequest } from './request.ts';
import { nineLetterId, type RequestMember } from './wire.ts';

/** The caller's bytes for one target: changed only where its alias or its dialect needs it. */
export function passThrough(request: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const { facts, members } = request;
  const { dialect } = target;
  const edits = [...modelEdits(members.span('model'), facts.model, target.upstreamModel)];
  if (target.edits !== undefined) edits.push(...target.edits);
  if (dialect.maxTokensField !== 'both') edits.push(...limitEdits(request, dialect));
  if (dialect.usageInStream && facts.stream) edits.push(...includeUsageEdits(request));
  if (!dialect.usageInStream || dialect.maxTokensField !== 'both') edits.push(...removals(request, dialect));
  // Before what may be left out at the same place.
  if (dialect.reasoningExpected) edits.push(...expectedReasoningEdits(members, target));
  if (members.hasMark) edits.push(...foreignStateEdits(members));
  if (dialect.callIds !== 'any') edits.push(...callIdEdits(members));
  return editedRequest(target.path, members.body, edits);
}

/** The output limit under the one name the upstream knows. */
function limitEdits(request: ReadRequest, dialect: Dialect): readonly Edit[] {
  const wanted = dialect.maxTokensField;
  const unwanted = unwantedLimit(dialect);
  if (wanted === 'both' || unwanted === null) return [];
  const from = request.members.span(unwanted);
  const to = request.members.span(wanted);
  if (from === undefined) return [];
  if (to === undefined) return [replace(wanted, from.keyStart, from.keyEnd, `"${wanted}"`)];
  // Both were sent, and the other one is about to be taken out: the one that counts keeps its value.
  const counts = request.limitMember === unwanted;
  return counts ? [replace(wanted, to.start, to.end, String(request.facts.maxOutputTokens))] : [];
}

function unwantedLimit(dialect: Dialect): LimitMember | null {
  switch (dialect.maxTokensField) {
    case 'both':
      return null;
    case 'max_tokens':
      return 'max_completion_tokens';
    case 'max_completion_tokens':
      return 'max_tokens';
    default:
      return unreachable(dialect.maxTokensField);
  }
}

/** Asks for usage in the stream when the caller did not and the upstream can be asked. */
function includeUsageEdits(request: ReadRequest): readonly Edit[] {
  if (request.streamOptions?.includeUsage === true) return [];
  return [includeUsage(request, request.members.span('stream_options'))];
}

function includeUsage(request: ReadRequest, span: MemberSpan | undefined): Edit {
  const name = 'stream_options.include_usage';
  const options = request.streamOptions;
  if (span === undefined) {
    const after = request.members.span('stream')?.end ?? 0;
    return replace(name, after, after, ',"stream_options":{"include_usage":true}');
  }
  if (options === null) return replace(name, span.start, span.end, '{"include_usage":true}');
  if (options.value !== null) return replace(name, options.value.start, options.value.end, 'true');
  const comma = options.isEmpty ? '' : ',';
  return replace(name, span.start + 1, span.start + 1, `"include_usage":true${comma}`);
}

/** Takes out the members the upstream refuses: a second limit, and stream options where it knows none. */
function removals(request: ReadRequest, dialect: Dialect): readonly Edit[] {
  const names: RequestMember[] = dialect.usageInStream ? [] : ['stream_options'];
  const { maxTokensField: wanted } = dialect;
  const limit = unwantedLimit(dialect);
  if (limit !== null && wanted !== 'both' && request.members.span(wanted) !== undefined) names.push(limit);
  const spans = names.flatMap((name) => {
    const span = request.members.span(name);
    return span === undefined ? [] : [{ name, start: span.keyStart, end: span.end }];
  });
  spans.sort((a, b) => a.start - b.start);
  return removeMembers(request.members.body, spans);
}

interface Removal {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Each member goes with the comma behind it. The last member of the object has none: it goes with the comma before it,
 * unless the member before it, gone as well, has taken that one; then that member gives it back for the one before.
 */
function removeMembers(body: Uint8Array, removals: readonly Removal[]): readonly Edit[] {
  const edits: Edit[] = [];
  for (const { name, start, end } of removals) {
    const behind = skipSpace(body, end);
    const previous = edits.at(-1);
    if (body[behind] === 0x2c) {
      edits.push(replace(name, start, behind + 1, ''));
    } else if (previous !== undefined && skipSpace(body, previous.end) === start) {
      edits[edits.length - 1] = { ...previous, start: commaBefore(body, previous.start) };
      edits.push(replace(name, previous.end, end, ''));
    } else {
      edits.push(replace(name, commaBefore(body, start), end, ''));
    }
  }
  return edits;
}

/** Position of the comma before a member, or of the member itself when it is the first of its object. */
function commaBefore(body: Uint8Array, member: number): number {
  let at = member - 1;
  while (at > 0 && (body[at] ?? 0) <= 0x20) at--;
  return body[at] === 0x2c ? at : member;
}

const messageNames = new KeyNames(['tool_calls', 'tool_call_id']);
const idName = new KeyNames(['id']);

/**
 * Ids of calls, and of the results they got, in the only form that some servers take: a conversation that began elsewhere
 * has others, and would be refused.
 */
function callIdEdits(members: RequestMembers<RequestMember>): readonly Edit[] {
  const span = members.span('messages');
  return span === undefined
    ? []
    : inElements(new JsonReader(members.body, span.start, members.longTexts), messageCallIds);
}

function messageCallIds(reader: JsonReader): readonly Edit[] {
  return inMembers(reader, messageNames, (name) =>
    name === 'tool_call_id' ? idEdit(reader) : inElements(reader, callIds),
  );
}

function callIds(reader: JsonReader): readonly Edit[] {
  return inMembers(reader, idName, () => idEdit(reader));
}

/** The edits within the list at the reader. */
function inElements(reader: JsonReader, edit: (reader: JsonReader) => readonly Edit[]): readonly Edit[] {
  const edits: Edit[] = [];
  if (reader.enterArray()) while (reader.nextElement()) edits.push(...edit(reader));
  return edits;
}

/** The edits within those members of the object at the reader. */
function inMembers<Name extends string>(
  reader: JsonReader,
  names: KeyNames<Name>,
  edit: (name: Name) => readonly Edit[],
): readonly Edit[] {
  const edits: Edit[] = [];
  if (!reader.enterObject()) return edits;
  while (reader.nextMember()) {
    const name = names.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd);
    if (name === null) reader.skip();
    else edits.push(...edit(name));
  }
  return edits;
}

function idEdit(reader: JsonReader): readonly Edit[] {
  const start = reader.at;
  const end = reader.skip();
  const id = end === -1 ? null : decodeString(reader.bytes, start, end);
  if (id === null || nineLetterId(id) === id) return [];
  return [replace('call-id', start, end, JSON.stringify(nineLetterId(id)))];
}

const names = new KeyNames(['tool_calls', 'reasoning_content']);

/** Servers that insist on thoughts refuse empty ones. */
export const noThought = ' ';

/**
 * Thoughts beside the calls that a model of another server has made without any: a server that insists on them would refuse
 * the conversation in the middle of a use of tools.
 */
function expectedReasoningEdits(
  members: RequestMembers<RequestMember>,
  { reasoning }: PassthroughTarget,
): readonly Edit[] {
  const span = members.span('messages');
  if (!reasoning || span === undefined) return [];
  return inElements(new JsonReader(members.body, span.start, members.longTexts), messageReasoning);
}

function messageReasoning(reader: JsonReader): readonly Edit[] {
  const { bytes } = reader;
  const inside = reader.at + 1;
  let thought: { readonly start: number; readonly end: number } | null = null;
  let hasCalls = false;
  if (!reader.enterObject()) return [];
  while (reader.nextMember()) {
    const name = names.findDecoded(bytes, reader.keyStart, reader.keyEnd);
    if (name === 'tool_calls') hasCalls = reader.kind === 'array';
    const start = reader.at;
    const end = reader.skip();
    if (name === 'reasoning_content') thought = { start, end };
  }
  if (!hasCalls || reader.failure !== null) return [];
  const text = JSON.stringify(noThought);
  if (thought === null) return [replace('reasoning_content', inside, inside, `"reasoning_content":${text},`)];
  const said = decodeString(bytes, thought.start, thought.end) ?? '';
  return said === '' ? [replace('reasoning_content', thought.start, thought.end, text)] : [];
}

/** Members of messages and of tool calls in which clients hand state back. */
const carriers = new KeyNames(['reasoning_details', 'thinking_blocks', 'extra_content']);
const callsName = new KeyNames(['tool_calls']);

/**
 * Leaves out what a target of another protocol has sealed: an upstream of this one cannot read it, and the conversation
 * goes on without. Nothing where the mark is nowhere, which the scan of the body tells.
 */
function foreignStateEdits(members: RequestMembers<RequestMember>): readonly Edit[] {
  const span = members.span('messages');
  return span === undefined
    ? []
    : inElements(new JsonReader(members.body, span.start, members.longTexts), carrierEdits);
}

/** Goes through the message or the call at hand. */
function carrierEdits(reader: JsonReader): readonly Edit[] {
  const { bytes } = reader;
  const members: ElementSpan[] = [];
  const ofCalls: Edit[] = [];
  if (!reader.enterObject()) return [];
  while (reader.nextMember()) {
    const { keyStart, keyEnd, at } = reader;
    const isCarrier = carriers.find(bytes, keyStart, keyEnd) !== null;
    if (callsName.find(bytes, keyStart, keyEnd) === null) reader.skip();
    else ofCalls.push(...inElements(reader, carrierEdits));
    members.push({
      start: keyStart - 1,
      end: reader.at,
      isLeftOut: isCarrier && hasSealed(bytes, at, reader.at),
    });
  }
  return [...ofCalls, ...leaveOut('foreign-state', members)];
}

import { decodeJson, decodeString, KeyNames } from '../bytes/json-text.ts';
import type { LongTexts } from '../bytes/long-texts.ts';
import { depthMax, type JsonFailure, type JsonKind, JsonReader, type StringWatch } from '../bytes/scan.ts';
import { type Fault, fault } from '../error.ts';
import type { Facts, RequestInput, ThoughtAsked } from '../request.ts';
import { fail, type Result, succeed } from '../result.ts';
import { isRecord } from '../wire-values.ts';
import type { LongStrings } from './media-watch.ts';

/** A member in the body. Bytes; the key's span has its quotes. */
export interface MemberSpan {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
}

/** No vendor's request has a tenth of these beside each other at the top. */
const membersMax = 1_000;
/** A value that is parsed while a request is read: none of them is meant to be longer. Bytes. */
const valueBytesMax = 64 * 1024;

/** A failed step, to be returned as it is. */
export type Refused = { readonly ok: false; readonly error: Fault };

export function invalid(message: string, param: string | null = null): Refused {
  return fail(fault('invalid_request', { message, param }));
}

/** The members of a request that are read, where they stand in its bytes. Nothing else of the body is looked at. */
export class RequestMembers<Name extends string> {
  readonly body: Uint8Array;
  readonly #spans: ReadonlyMap<Name, MemberSpan>;
  readonly longTexts: LongTexts | null;
  readonly #watch: StringWatch | null;

  constructor(
    { body, survey = null }: SurveyedBody,
    spans: ReadonlyMap<Name, MemberSpan>,
    watch: StringWatch | null,
  ) {
    this.body = body;
    this.longTexts = survey?.longTexts ?? null;
    this.#spans = spans;
    this.#watch = watch;
  }

  /** A string of the conversation begins with the mark of sealed state: without one, nothing has to be looked for. */
  get hasMark(): boolean {
    return this.#watch?.hasMark ?? false;
  }

  span(name: Name): MemberSpan | undefined {
    return this.#spans.get(name);
  }

  /** The parsed value; null when absent, undefined when it is not valid JSON, or too long to be what is looked for. */
  value(name: Name): unknown {
    const span = this.#spans.get(name);
    if (span === undefined) return null;
    return span.end - span.start > valueBytesMax ? undefined : decodeJson(this.body, span.start, span.end);
  }

  hasAny(names: readonly Name[]): boolean {
    for (const name of names) if (this.#spans.has(name)) return true;
    return false;
  }

  /** The parsed values of those that are there, in this order. For short values. */
  valuesOf(names: readonly Name[]): readonly unknown[] {
    const values: unknown[] = [];
    for (const name of names) if (this.#spans.has(name)) values.push(this.value(name));
    return values;
  }

  /** An absent member is as good as null. */
  kind(name: Name): JsonKind {
    return this.reader(name)?.kind ?? 'null';
  }

  /** A reader at the value; null when absent. */
  reader(name: Name): JsonReader | null {
    const span = this.#spans.get(name);
    return span === undefined ? null : new JsonReader(this.body, span.start, this.longTexts);
  }
}

/** A body, and what is known of it before it is read. */
export type SurveyedBody = Pick<RequestInput, 'body' | 'survey'>;

/** Anything that has these members at least. */
export type WithMembers<Name extends string> = Pick<
  RequestMembers<Name>,
  'body' | 'span' | 'value' | 'kind' | 'reader'
>;

/** The member whose strings are looked at on the way: where a protocol has its conversation. */
interface WatchedMember<Name extends string> {
  readonly name: Name;
  readonly watch: StringWatch;
}

/**
 * Finds the members. Refuses what is not one JSON object, what is nested too deep, and a member that could be read in
 * two ways: given twice, however its name is escaped, or once more in another case, as some servers would match it; and more
 * members than any vendor has.
 * UTF-8 that is not valid is refused where a value is read and passed on where it is not; a byte order mark is refused,
 * since upstreams refuse it (RFC 8259, section 8.1).
 */
export function findMembers<Name extends string>(
  input: SurveyedBody,
  names: KeyNames<Name>,
  watched: WatchedMember<Name> | null = null,
): Result<RequestMembers<Name>, Fault> {
  const { body, survey = null } = input;
  if (survey?.longTexts?.isCrumbled === true) return invalid(tooMuch);
  const reader = new JsonReader(body, 0, survey?.longTexts ?? null);
  if (reader.kind !== 'object') return invalid(notAnObject);
  const spans = new Map<Name, MemberSpan>();
  reader.enterObject();
  let count = 0;
  while (reader.nextMember()) {
    if (++count > membersMax) return invalid(tooManyMembers);
    const { keyStart, keyEnd, at: start } = reader;
    const name = names.findDecoded(body, keyStart, keyEnd);
    const end = reader.skip(watched !== null && name === watched.name ? watched.watch : null);
    const twin = name === null ? names.findAnyCase(body, keyStart, keyEnd) : null;
    if (twin !== null)
      return invalid(`'${twin}' must be spelt in exactly these letters, capitals and small ones.`, twin);
    if (name === null) continue;
    if (spans.has(name)) return invalid(`'${name}' is given twice; send it once.`, name);
    spans.set(name, { keyStart: keyStart - 1, keyEnd: keyEnd + 1, start, end });
  }
  if (!reader.isAtEnd() && reader.failure !== null) return invalid(describe(reader.failure));
  return succeed(new RequestMembers(input, spans, watched?.watch ?? null));
}

const notAnObject = 'The request body must be a JSON object in UTF-8, without a byte order mark.';

const tooMuch =
  'The request body has more than 8 MiB beside its long texts, which no request needs: many members, short texts or white space.';

const tooManyMembers = `The request body has more than ${membersMax.toLocaleString('en-US')} members; leave out those that no server reads.`;

export function describe(failure: JsonFailure): string {
  switch (failure.kind) {
    case 'too-deep':
      return `The request body is nested more than ${depthMax} levels deep.`;
    case 'too-many':
      return 'The request body has more members or elements in one place than any request needs.';
    case 'truncated':
      return 'The request body is not valid JSON: it ends too early.';
    case 'unexpected':
      return `The request body is not valid JSON: unexpected byte at position ${failure.at}.`;
  }
}

/** A request as read: what routing needs of it, and what stands where in it. */
export interface ReadMembers<Name extends string> {
  readonly facts: Facts;
  readonly members: RequestMembers<Name>;
  /** The long strings of the conversation. */
  readonly longStrings: LongStrings;
}

/** The two things that every body says first. */
export function readModelAndStream(
  members: WithMembers<'model' | 'stream'>,
): Result<Pick<Facts, 'model' | 'stream'>, Fault> {
  const model = readModel(members);
  if (!model.ok) return model;
  const stream = members.value('stream');
  if (typeof stream !== 'boolean' && stream !== null)
    return invalid("'stream' must be true or false.", 'stream');
  return succeed({ model: model.value, stream: stream === true });
}

function readModel(members: WithMembers<'model'>): Result<string, Fault> {
  const model = members.value('model');
  if (typeof model === 'string' && model !== '') return succeed(model);
  if (members.span('model') === undefined)
    return invalid("'model' is missing; name the model to call.", 'model');
  return invalid("'model' must be a string that names a model.", 'model');
}

export function checkMessages(members: WithMembers<'messages'>): Refused | null {
  if (members.kind('messages') === 'array') return null;
  const isMissing = members.span('messages') === undefined;
  return invalid(`'messages' ${isMissing ? 'is missing; send' : 'must be'} a list of messages.`, 'messages');
}

/** The largest 32-bit number: what callers write who mean no limit. Tokens. */
export const outputTokensMax = 2_147_483_647;

/** A whole number from `min` to `max`, however it is written; null when absent or null. */
export function readWhole<Name extends string>(
  members: WithMembers<Name>,
  name: Name,
  [min, max]: readonly [number, number],
): Result<number | null, Fault> {
  const value = members.value(name);
  if (value === null) return succeed(null);
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
    return succeed(value);
  return invalid(`'${name}' must be a whole number from ${min} to ${max}, or be left out.`, name);
}

export function hasElements<Name extends string>(members: WithMembers<Name>, name: Name): boolean {
  const reader = members.reader(name);
  return reader?.enterArray() === true && reader.nextElement();
}

/** Goes to the value of a member of the object at the reader; false when it has none of that name. */
export function enterMember(reader: JsonReader, name: KeyNames<string>): boolean {
  if (!reader.enterObject()) return false;
  while (reader.nextMember()) {
    if (name.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd) !== null) return true;
    reader.skip();
  }
  return false;
}

const typeName = new KeyNames(['type']);

/** The object says `json_object` or `json_schema` as its type; the schema beside it may be long and is not looked at. */
export function saysJson(reader: JsonReader): boolean {
  if (!enterMember(reader, typeName)) return false;
  const start = reader.at;
  const end = reader.skip();
  return end !== -1 && (decodeString(reader.bytes, start, end)?.startsWith('json') ?? false);
}

/**
 * The ids a request names of things that upstreams keep, the one it goes on from first. What is no text is for the upstream to
 * judge, and an empty one names nothing.
 */
export function continuing(...named: readonly unknown[]): Pick<Facts, 'continues' | 'continuesBeside'> {
  const [first, beside] = named.filter((id): id is string => typeof id === 'string' && id !== '');
  return {
    ...(first === undefined ? {} : { continues: first }),
    ...(beside === undefined ? {} : { continuesBeside: beside }),
  };
}

const silent: Pick<Facts, 'thought'> = {};

/** A request's word on thought: the first that says anything. What is malformed is for the upstream to judge. */
export function askedThought(values: readonly unknown[]): Pick<Facts, 'thought'> {
  for (const value of values) {
    const thought = thoughtIn(value);
    if (thought !== null) return { thought };
  }
  return silent;
}

/** The words and members by which vendors say it, whichever of them a request is for. */
const noThought: ReadonlySet<unknown> = new Set(['none', 'disabled', 'off', false, 0, '0']);
const unsaid: ReadonlySet<unknown> = new Set([
  '',
  'auto',
  'between_tools',
  'THINKING_LEVEL_UNSPECIFIED',
  null,
]);
const thoughtMembers = [
  'type',
  'enabled',
  'effort',
  'budget_tokens',
  'max_tokens',
  'thinkingBudget',
  'thinking_budget',
  'thinkingLevel',
  'thinking_level',
];

/** Null where nothing is said of it. In an object, one member that says no is enough. */
function thoughtIn(value: unknown): ThoughtAsked | null {
  if (noThought.has(value)) return 'none';
  if (!isRecord(value)) return unsaid.has(value) || value === undefined ? null : 'some';
  const said = thoughtMembers.map((name) => thoughtIn(value[name]));
  if (said.includes('none')) return 'none';
  return said.includes('some') ? 'some' : null;
}

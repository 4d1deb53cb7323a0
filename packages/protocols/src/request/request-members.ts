import { type JsonFailure, type JsonKind, JsonReader } from '../bytes/json-reader.ts';
import { depthMax, type StringWatch } from '../bytes/json-skip.ts';
import { decodeJson, type KeyNames } from '../bytes/key-names.ts';
import { type Fault, fault } from '../error.ts';
import { fail, type Result, succeed } from '../result.ts';

/** Where a member stands in the body. Bytes; the key's span has its quotes. */
export interface MemberSpan {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
}

/** A failed step, to be returned as it is. */
export type Refused = { readonly ok: false; readonly error: Fault };

export function invalid(message: string, param: string | null = null): Refused {
  return fail(fault('invalid_request', { message, param }));
}

/** The members of a request that are read, where they stand in its bytes. Nothing else of the body is looked at. */
export class RequestMembers<Name extends string> {
  readonly body: Uint8Array;
  readonly #spans: ReadonlyMap<Name, MemberSpan>;

  constructor(body: Uint8Array, spans: ReadonlyMap<Name, MemberSpan>) {
    this.body = body;
    this.#spans = spans;
  }

  span(name: Name): MemberSpan | undefined {
    return this.#spans.get(name);
  }

  /** The parsed value; null when absent, undefined when it is not valid JSON. For short values. */
  value(name: Name): unknown {
    const span = this.#spans.get(name);
    return span === undefined ? null : decodeJson(this.body, span.start, span.end);
  }

  /** An absent member is as good as null. */
  kind(name: Name): JsonKind {
    return this.reader(name)?.kind ?? 'null';
  }

  /** A reader at the value; null when absent. */
  reader(name: Name): JsonReader | null {
    const span = this.#spans.get(name);
    return span === undefined ? null : new JsonReader(this.body, span.start);
  }
}

/** Anything that has these members at least. */
export type WithMembers<Name extends string> = Pick<
  RequestMembers<Name>,
  'body' | 'span' | 'value' | 'kind' | 'reader'
>;

/** The member whose strings are looked at on the way: where a protocol has its conversation. */
export interface WatchedMember<Name extends string> {
  readonly name: Name;
  readonly watch: StringWatch;
}

/**
 * Finds the members. Refuses what is not one JSON object, what is nested too deep, and a member that could be read in
 * two ways: given twice, however its name is escaped, or once more in another case, as some servers would match it.
 * UTF-8 that is not valid is refused where a value is read and passed on where it is not; a byte order mark is refused,
 * since upstreams refuse it (RFC 8259, section 8.1).
 */
export function findMembers<Name extends string>(
  body: Uint8Array,
  names: KeyNames<Name>,
  watched: WatchedMember<Name>,
): Result<RequestMembers<Name>, Fault> {
  const reader = new JsonReader(body);
  if (reader.kind !== 'object') return invalid(notAnObject);
  const spans = new Map<Name, MemberSpan>();
  reader.enterObject();
  while (reader.nextMember()) {
    const { keyStart, keyEnd, at: start } = reader;
    const name = names.findDecoded(body, keyStart, keyEnd);
    const end = reader.skip(name === watched.name ? watched.watch : null);
    const twin = name === null ? names.findAnyCase(body, keyStart, keyEnd) : null;
    if (twin !== null)
      return invalid(`'${twin}' must be spelt in exactly these letters, capitals and small ones.`, twin);
    if (name === null) continue;
    if (spans.has(name)) return invalid(`'${name}' is given twice; send it once.`, name);
    spans.set(name, { keyStart: keyStart - 1, keyEnd: keyEnd + 1, start, end });
  }
  if (!reader.isAtEnd() && reader.failure !== null) return invalid(describe(reader.failure));
  return succeed(new RequestMembers(body, spans));
}

const notAnObject = 'The request body must be a JSON object in UTF-8, without a byte order mark.';

export function describe(failure: JsonFailure): string {
  switch (failure.kind) {
    case 'too-deep':
      return `The request body is nested more than ${depthMax} levels deep.`;
    case 'truncated':
      return 'The request body is not valid JSON: it ends too early.';
    case 'unexpected':
      return `The request body is not valid JSON: unexpected byte at position ${failure.at}.`;
  }
}

import { skipSpace } from '../bytes/json-skip.ts';
import { type Edit, splice } from '../bytes/splice.ts';
import type { Dialect, EncodedRequest, PassthroughTarget } from '../inbound-request.ts';
import { modelEdits, replace } from '../request/edits.ts';
import type { MemberSpan } from '../request/request-members.ts';
import { jsonType } from '../request/upstream-request.ts';
import { unreachable } from '../result.ts';
import { callIdEdits } from './call-id-edits.ts';
import { expectedReasoningEdits } from './expected-reasoning.ts';
import type { LimitMember, ReadRequest } from './facts.ts';
import { foreignStateEdits } from './foreign-state.ts';
import type { RequestMember } from './wire.ts';

/** The caller's bytes for one target: changed only where its alias or its dialect needs it. */
export function passThrough(request: ReadRequest, target: PassthroughTarget): EncodedRequest {
  const { body } = request.members;
  const edits = [
    ...modelEdits(request.members.span('model'), request.facts.model, target.upstreamModel),
    ...limitEdits(request, target.dialect),
    ...includeUsageEdits(request, target.dialect),
    ...removals(request, target.dialect),
    // Before what may be left out at the same place.
    ...expectedReasoningEdits(request.members, target),
    ...foreignStateEdits(request.members),
    ...callIdEdits(request.members, target.dialect),
  ];
  // No headers: they name the caller's own account at a provider, or its own retries; ours are the channel's.
  return {
    path: target.path,
    contentType: jsonType,
    headers: [],
    body: splice(body, edits),
    edits: edits.map((edit) => edit.name),
  };
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
function includeUsageEdits(request: ReadRequest, dialect: Dialect): readonly Edit[] {
  if (!dialect.usageInStream || !request.facts.stream || request.streamOptions?.includeUsage === true)
    return [];
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
  const limit = unwantedLimit(dialect);
  if (
    limit !== null &&
    dialect.maxTokensField !== 'both' &&
    request.members.span(dialect.maxTokensField) !== undefined
  )
    names.push(limit);
  const spans = names.flatMap((name) => {
    const span = request.members.span(name);
    return span === undefined ? [] : [{ name, start: span.keyStart, end: span.end }];
  });
  return removeMembers(
    request.members.body,
    spans.toSorted((a, b) => a.start - b.start),
  );
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

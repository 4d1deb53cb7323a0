import { JsonReader } from '../bytes/json-reader.ts';
import { decodeString, KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import type { PassthroughTarget } from '../inbound-request.ts';
import { replace } from '../request/edits.ts';
import type { RequestMembers } from '../request/request-members.ts';
import type { RequestMember } from './wire.ts';

const names = new KeyNames(['tool_calls', 'reasoning_content']);

/** Servers that insist on thoughts refuse empty ones. */
export const noThought = ' ';

/**
 * Thoughts beside the calls that a model of another server has made without any: a server that insists on them would refuse
 * the conversation in the middle of a use of tools.
 */
export function expectedReasoningEdits(
  members: RequestMembers<RequestMember>,
  { dialect, reasoning }: PassthroughTarget,
): readonly Edit[] {
  const span = members.span('messages');
  if (!dialect.reasoningExpected || !reasoning || span === undefined) return [];
  const reader = new JsonReader(members.body, span.start);
  const edits: Edit[] = [];
  if (reader.enterArray()) while (reader.nextElement()) edits.push(...messageEdits(reader));
  return edits;
}

function messageEdits(reader: JsonReader): readonly Edit[] {
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

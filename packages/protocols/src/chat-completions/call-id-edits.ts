import { JsonReader } from '../bytes/json-reader.ts';
import { decodeString, KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import type { Dialect } from '../inbound-request.ts';
import { replace } from '../request/edits.ts';
import type { RequestMembers } from '../request/request-members.ts';
import { nineLetterId } from './call-ids.ts';
import type { RequestMember } from './wire.ts';

const messageNames = new KeyNames(['tool_calls', 'tool_call_id']);
const idName = new KeyNames(['id']);

/**
 * Ids of calls, and of the results they got, in the only form that some servers take: a conversation that began elsewhere
 * has others, and would be refused.
 */
export function callIdEdits(members: RequestMembers<RequestMember>, { callIds }: Dialect): readonly Edit[] {
  const span = members.span('messages');
  if (callIds === 'any' || span === undefined) return [];
  const reader = new JsonReader(members.body, span.start);
  const edits: Edit[] = [];
  if (reader.enterArray()) while (reader.nextElement()) edits.push(...messageEdits(reader));
  return edits;
}

function messageEdits(reader: JsonReader): readonly Edit[] {
  const edits: Edit[] = [];
  if (!reader.enterObject()) return edits;
  while (reader.nextMember()) {
    const name = messageNames.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd);
    if (name === 'tool_call_id') edits.push(...idEdit(reader));
    else if (name === null) reader.skip();
    else if (reader.enterArray()) while (reader.nextElement()) edits.push(...callEdits(reader));
  }
  return edits;
}

function callEdits(reader: JsonReader): readonly Edit[] {
  const edits: Edit[] = [];
  if (!reader.enterObject()) return edits;
  while (reader.nextMember()) {
    const isId = idName.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd) !== null;
    if (isId) edits.push(...idEdit(reader));
    else reader.skip();
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

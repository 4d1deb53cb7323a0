import { JsonReader } from '../bytes/json-reader.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import { type ElementSpan, leaveOut } from '../request/element-edits.ts';
import type { RequestMembers } from '../request/request-members.ts';
import { markPattern } from '../translate/sealed-mark.ts';
import type { RequestMember } from './wire.ts';

/** Members of messages and of tool calls in which clients hand state back. */
const carriers = new KeyNames(['reasoning_details', 'thinking_blocks', 'extra_content']);
const callsName = new KeyNames(['tool_calls']);

/**
 * Leaves out what a target of another protocol has sealed: an upstream of this one cannot read it, and the conversation
 * goes on without. Nothing where the mark is nowhere, which one fast look at the messages tells.
 */
export function foreignStateEdits(members: RequestMembers<RequestMember>): readonly Edit[] {
  const span = members.span('messages');
  if (span === undefined || markPattern.find(members.body, span.start, span.end) === -1) return [];
  const reader = new JsonReader(members.body, span.start);
  const edits: Edit[] = [];
  if (reader.enterArray()) while (reader.nextElement()) edits.push(...carrierEdits(reader));
  return edits;
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
    else if (reader.enterArray()) while (reader.nextElement()) ofCalls.push(...carrierEdits(reader));
    members.push({
      start: keyStart - 1,
      end: reader.at,
      isLeftOut: isCarrier && markPattern.find(bytes, at, reader.at) !== -1,
    });
  }
  return [...ofCalls, ...leaveOut('foreign-state', members)];
}

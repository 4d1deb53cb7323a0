import type { JsonReader } from '../bytes/json-reader.ts';
import type { KeyNames } from '../bytes/key-names.ts';
import type { Fault } from '../error.ts';
import { type Result, succeed } from '../result.ts';
import { invalid, type Refused, type WithMembers } from './request-members.ts';

export function readModel(members: WithMembers<'model'>): Result<string, Fault> {
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

export function readStream(members: WithMembers<'stream'>): Result<boolean, Fault> {
  const stream = members.value('stream');
  if (typeof stream === 'boolean' || stream === null) return succeed(stream === true);
  return invalid("'stream' must be true or false.", 'stream');
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

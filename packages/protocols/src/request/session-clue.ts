import { Fingerprint } from '../bytes/fingerprint.ts';
import type { JsonReader } from '../bytes/json-reader.ts';
import type { KeyNames } from '../bytes/key-names.ts';
import type { SessionClue } from '../inbound-request.ts';
import { enterMember } from './read-members.ts';

/** What a body says of its session, best first. A reader that is null, or at no text, says nothing. */
export interface SessionWords {
  readonly conversation: readonly (JsonReader | null)[];
  readonly person: readonly (JsonReader | null)[];
  /** Null when the body does not hold the beginning of the conversation. */
  readonly opening: Opening | null;
}

/** Reads the first message of the user, and adds what the model is told to the fingerprint. */
interface Opening {
  read(told: Fingerprint | null): number | null;
}

/** The best clue there is; see `SessionClue`. */
export function sessionClue({ conversation, person, opening }: SessionWords): SessionClue | null {
  const named = nameIn(conversation);
  if (named !== null) return { kind: 'conversation', fingerprint: named };
  const who = nameIn(person);
  const told = new Fingerprint();
  const firstMessage = opening?.read(who === null ? told : null) ?? null;
  if (firstMessage === null) return null;
  return who === null
    ? { kind: 'opening', fingerprint: both(told.value, firstMessage) }
    : { kind: 'person', fingerprint: both(who, firstMessage) };
}

function nameIn(readers: readonly (JsonReader | null)[]): number | null {
  for (const reader of readers) {
    if (reader?.kind !== 'string') continue;
    const start = reader.at + 1;
    const end = reader.skip() - 1;
    if (end <= start) continue;
    const name = new Fingerprint();
    name.addBytes(reader.bytes, start, end);
    return name.value;
  }
  return null;
}

function both(one: number, other: number): number {
  const pair = new Fingerprint();
  pair.addNumber(one);
  pair.addNumber(other);
  return pair.value;
}

/** A reader at a member of the object that the reader is at; null when it has none. */
export function readerOf(reader: JsonReader | null, name: KeyNames<string>): JsonReader | null {
  return reader?.kind === 'object' && enterMember(reader, name) ? reader : null;
}

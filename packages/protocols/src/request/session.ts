import { Fingerprint } from '../bytes/fingerprint.ts';
import { KeyNames } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import type { SessionClue } from '../request.ts';
import type { LongStrings } from './media-watch.ts';
import { enterMember, type WithMembers } from './members.ts';

/** All that a body says of its session, best first. A reader that is null, or at no text, says nothing. */
interface SessionWords {
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

/** A protocol has the beginning of a conversation in these members. */
interface OpeningMembers<Name extends string> {
  /** All that the model is told apart from the conversation. */
  readonly instructions: readonly Name[];
  readonly conversation: Name;
}

/** The first message of the user is looked for within so many bytes of a conversation. */
const windowBytes = 131_072;
/** A text that does not end within them counts as far as this. Bytes. */
const beginningBytes = 512;

const partNames = new KeyNames(['role', 'content', 'parts', 'text']);
const roles = new KeyNames(['user', 'system', 'developer']);

/**
 * The beginning of a conversation, as fingerprints: the same on every turn of it, while its history grows. What counts are
 * the texts and not how they are wrapped: clients move marks for caches from message to message, and turn a text into a
 * list of one part. It takes a time that does not grow with the body.
 */
export class OpeningReader<Name extends string> {
  readonly #members: WithMembers<Name>;
  readonly #where: OpeningMembers<Name>;
  readonly #long: LongStrings;

  constructor(members: WithMembers<Name>, where: OpeningMembers<Name>, long: LongStrings) {
    this.#members = members;
    this.#where = where;
    this.#long = long;
  }

  /**
   * Reads the first message of the user; null when the window has none. What the model is told before it, outside of the
   * conversation and within, is added to `told`.
   */
  read(told: Fingerprint | null): number | null {
    if (told !== null)
      for (const name of this.#where.instructions) this.#addTexts(this.#readerAt(name), told);
    const reader = this.#readerAt(this.#where.conversation);
    if (reader.kind !== 'array') return this.#textsOf(reader);
    reader.enterArray();
    while (reader.nextElement()) {
      const { role, content } = this.#readMessage(reader);
      if (content === null || role === 'other') continue;
      if (role === 'user') {
        const message = this.#textsOf(content);
        if (message !== null) return message;
      } else if (told !== null) {
        this.#addTexts(content, told);
      }
    }
    return null;
  }

  /** A reader that sees no further than the window. Of what is absent it sees nothing. */
  #readerAt(name: Name): JsonReader {
    const reader = this.#members.reader(name);
    if (reader === null) return new JsonReader(nothing);
    const { bytes, at } = reader;
    const end = at + windowBytes;
    return end < bytes.length ? new JsonReader(bytes.subarray(0, end), at) : reader;
  }

  #readMessage(reader: JsonReader): Message {
    const { bytes } = reader;
    let role: Message['role'] | null = null;
    let content: JsonReader | null = null;
    let hasParts = false;
    if (!reader.enterObject()) return { role: 'other', content };
    while (reader.nextMember()) {
      const name = partNames.findDecoded(bytes, reader.keyStart, reader.keyEnd);
      const start = reader.at;
      const end = this.#long.skip(reader);
      if (name === 'role') role = roles.findDecoded(bytes, start + 1, end - 1) ?? 'other';
      if (name === 'content' || name === 'parts') content = new JsonReader(bytes, start);
      hasParts ||= name === 'parts';
    }
    // If messages have parts, one without a role is the user's.
    return { role: role ?? (hasParts ? 'user' : 'other'), content };
  }

  #textsOf(reader: JsonReader): number | null {
    const texts = new Fingerprint();
    this.#addTexts(reader, texts);
    return texts.isEmpty ? null : texts.value;
  }

  #addTexts(reader: JsonReader, texts: Fingerprint): void {
    switch (reader.kind) {
      case 'string':
        return this.#addString(reader, texts);
      case 'array':
        reader.enterArray();
        while (reader.nextElement()) this.#addTexts(reader, texts);
        return;
      case 'object':
        return this.#addPart(reader, texts);
      case 'number':
      case 'boolean':
      case 'null':
      case 'none':
        reader.skip();
    }
  }

  #addString(reader: JsonReader, texts: Fingerprint): void {
    const start = reader.at + 1;
    const end = this.#long.skip(reader);
    if (end === -1) this.#addBeginning(reader, start, texts);
    else texts.addBytes(this.#members.body, start, end - 1);
  }

  /** By its texts; a picture, a sound or whatever has none, by the whole of it. */
  #addPart(reader: JsonReader, texts: Fingerprint): void {
    const start = reader.at;
    let isText = false;
    reader.enterObject();
    while (reader.nextMember()) {
      const name = partNames.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd);
      if (name === null || name === 'role') {
        this.#long.skip(reader);
      } else {
        isText = true;
        this.#addTexts(reader, texts);
      }
    }
    if (isText) return;
    if (reader.failure === null) texts.addBytes(this.#members.body, start, reader.at);
    else this.#addBeginning(reader, start, texts);
  }

  /** Adds the beginning of a text that goes on beyond the window, whose end depends on how what precedes it is wrapped. */
  #addBeginning({ bytes }: JsonReader, start: number, texts: Fingerprint): void {
    texts.addBytes(bytes, start, Math.min(bytes.length, start + beginningBytes));
  }
}

interface Message {
  readonly role: 'user' | 'system' | 'developer' | 'other';
  /** A reader at what it says. */
  readonly content: JsonReader | null;
}

const nothing = new Uint8Array(0);

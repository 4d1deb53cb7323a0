import { Fingerprint } from '../bytes/fingerprint.ts';
import { JsonReader } from '../bytes/json-reader.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { LongStrings } from './long-strings.ts';
import type { WithMembers } from './request-members.ts';

/** Where a protocol has what a conversation begins with. */
export interface OpeningMembers<Name extends string> {
  /** What the model is told apart from the conversation. */
  readonly instructions: readonly Name[];
  readonly conversation: Name;
}

/** The first message of the user is looked for within so many bytes of a conversation. */
const windowBytes = 131_072;
/** Of a text that does not end within them, so many count. */
const beginningBytes = 512;

const partNames = new KeyNames(['role', 'content', 'parts', 'text']);
const roles = new KeyNames(['user', 'system', 'developer']);

/**
 * What a conversation began with, as fingerprints: the same on every turn of it, while its history grows. What counts are
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
   * Of the first message of the user; null when the window has none. What the model is told before it, outside of the
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
    // Where messages have parts, one without a role is the user's.
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

  /** Of what goes on beyond the window. Where that ends depends on how what precedes it is wrapped. */
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

import { type Fault, fault } from '../error.ts';
import type { Extension, OutputFormat } from '../turn.ts';
import {
  booleanOf,
  isRecord,
  listOf,
  numberOf,
  recordOf,
  stringOf,
  type WireRecord,
} from '../wire-values.ts';

/**
 * All that is noted while a caller's request is read: what only its protocol has, and the first thing that is wrong. Reading
 * goes on behind a fault, so that each part of it is a plain function from wire to value.
 */
export class TurnNotes {
  fault: Fault | null = null;
  readonly #extensions = new Map<string, Extension>();

  get extensions(): readonly Extension[] {
    return [...this.#extensions.values()];
  }

  /** Another protocol does without it. */
  lose(field: string): void {
    if (!this.#extensions.has(field)) this.#extensions.set(field, { field, elsewhere: 'drop' });
  }

  /** Another protocol gets it as text. */
  flatten(field: string): void {
    if (!this.#extensions.has(field)) this.#extensions.set(field, { field, elsewhere: 'text' });
  }

  /** Without it the answer would not be what was asked for. */
  insist(field: string): void {
    this.#extensions.set(field, { field, elsewhere: 'refuse' });
  }

  /** The request cannot be understood. `problem` goes on from the member's name. Nothing is read in its place. */
  blame(place: string, problem: string): readonly [] {
    this.fault ??= fault('invalid_request', { message: `'${place}' ${problem}.`, param: place });
    return [];
  }
}

/** A caller's own word as it may stand in a header; `other` for what no protocol would call anything. */
export function plainWord(word: string): string {
  return /^[\w.-]{1,64}$/.test(word) ? word : 'other';
}

/** Reads the members of one object of a request. One of the wrong type is blamed by its place, and read as null. */
export class MemberReader {
  readonly wire: WireRecord;
  readonly notes: TurnNotes;
  /** The place of the object, with the dot behind it; empty at the top. */
  readonly #prefix: string;

  constructor(wire: unknown, notes: TurnNotes, prefix = '') {
    this.wire = recordOf(wire);
    this.notes = notes;
    this.#prefix = prefix;
  }

  /** Null when absent. */
  value(name: string): unknown {
    return this.wire[name] ?? null;
  }

  has(name: string): boolean {
    return this.value(name) !== null;
  }

  /** The object under a name; an empty one when it is absent. */
  object(name: string): MemberReader {
    const value = this.value(name);
    if (value !== null && !isRecord(value)) this.blame(name, 'be an object');
    return new MemberReader(value, this.notes, `${this.#prefix}${name}.`);
  }

  number(name: string): number | null {
    return this.#read(name, numberOf, 'be a number');
  }

  boolean(name: string): boolean | null {
    return this.#read(name, booleanOf, 'be true or false');
  }

  text(name: string): string | null {
    return this.#read(name, stringOf, 'be a text');
  }

  /** A list of texts; one text stands for a list of it. */
  texts(name: string): readonly string[] | null {
    return this.#read(name, textsOf, 'be a text or a list of texts');
  }

  word<Word extends string>(name: string, words: readonly Word[]): Word | null {
    const find = (value: unknown) => words.find((word) => word === value) ?? null;
    return this.#read(name, find, `be one of ${words.join(', ')}, or be left out`);
  }

  /** A word that does not change what is answered: one that is not known is a loss. */
  hint<Word extends string>(name: string, words: readonly Word[]): Word | null {
    const word = words.find((word) => word === this.value(name)) ?? null;
    if (word === null && this.has(name)) this.notes.lose(this.#prefix + name);
    return word;
  }

  /** `problem` goes on from "must". */
  blame(name: string, problem: string): void {
    const place = this.#prefix + name;
    this.notes.blame(place, `must ${problem}`);
  }

  #read<Value>(name: string, read: (value: unknown) => Value | null, problem: string): Value | null {
    const value = read(this.value(name));
    if (value === null && this.has(name)) this.blame(name, problem);
    return value;
  }
}

function textsOf(value: unknown): readonly string[] | null {
  const list = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.every((text): text is string => typeof text === 'string') ? list : null;
}

/** The members of an object that are texts; null when there are none. */
export function textMembers(wire: unknown): Readonly<Record<string, string>> | null {
  const entries = Object.entries(recordOf(wire)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

export const verbosities = ['low', 'medium', 'high'] as const;
export const serviceTiers = ['auto', 'default', 'flex', 'priority'] as const;

/** The form of an answer in the words that chat and responses share. `about`: the object with the schema and its name. */
export function readOutputFormat(format: MemberReader, about: MemberReader): OutputFormat | null {
  switch (format.value('type')) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return readSchemaFormat(about, about !== format);
    default:
      format.blame('type', 'be one of text, json_object, json_schema');
      return null;
  }
}

/** In an object of its own, a schema may be left out. */
function readSchemaFormat(about: MemberReader, isOptional: boolean): OutputFormat {
  const { schema, name, description, strict } = about.wire;
  if (!isRecord(schema)) {
    if (about.has('schema') || !isOptional) about.blame('schema', 'be a JSON Schema');
    return { kind: 'json' };
  }
  return {
    kind: 'json-schema',
    name: stringOf(name),
    description: stringOf(description),
    schema,
    strict: booleanOf(strict),
  };
}

/** The members of a request that are read, and those that the answer depends on, though no other protocol has them. */
export interface KnownMembers {
  readonly understood: ReadonlySet<string>;
  readonly insisted: ReadonlySet<string>;
}

/** Notes the members that only the caller's protocol has, of days to come too. `spelled`: a name as the caller has it. */
export function noteOwnMembers(
  wire: WireRecord,
  { understood, insisted }: KnownMembers,
  notes: TurnNotes,
  spelled: (name: string) => string = (name) => name,
): void {
  for (const [name, value] of Object.entries(wire)) {
    if (understood.has(name) || asksNothing(name, value)) continue;
    const field = plainWord(spelled(name));
    if (insisted.has(name)) notes.insist(field);
    else notes.lose(field);
  }
}

/** Members of compatible servers that hold until they are switched off, such as `enable_thinking`. */
const onByDefault = /^(enable|include|return|skip)_|^transforms$/;

/** Such a value asks for nothing but what happens anyway. */
function asksNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (onByDefault.test(name)) return false;
  if (value === false) return true;
  return isRecord(value)
    ? Object.keys(value).length === 0
    : Array.isArray(value) && listOf(value).length === 0;
}

import { decodeString, type TextSpan } from '../bytes/json-text.ts';
import type { WalkedBody } from '../bytes/long-texts.ts';
import { JsonReader } from '../bytes/scan.ts';

/**
 * The meaning of a member for the rights of a key. `own`: repeats the model that is called · `named`: its text, or those of its list,
 * name other models · `unnamed`: has models asked that it does not name · `words`: text that names nothing, whatever it says ·
 * `tags`: the caller's own notes, in which members named after models count · `priced`, `harmless`: not looked at.
 */
export type MemberRule = 'own' | 'named' | 'unnamed' | 'words' | 'tags' | 'priced' | 'harmless';

/** The rules for the members of one protocol's bodies. Paths and names are in small letters, without `_`, `-` and `[]`. */
export interface MemberRules {
  readonly rules: ReadonlyMap<string, MemberRule>;
  /** Texts that are `unnamed` in the place of a path, by path. */
  readonly unnamed: ReadonlyMap<string, RegExp>;
  /** Members that hold words wherever they stand, as those of a JSON Schema do. */
  readonly words: ReadonlySet<string>;
  /** Members whose own members count as the body's: `{"extra_body": {…}}`. */
  readonly roots: ReadonlySet<string>;
}

/** A text in a body that names a model, or has one asked. */
export interface NamedMember {
  /** The place as the caller writes it: `tools[0].model`. */
  readonly field: string;
  readonly rule: 'own' | 'named' | 'unnamed' | 'unknown';
  readonly name: string;
  /** Its place with its quotes. Bytes. */
  readonly start: number;
  readonly end: number;
}

/** Looks for names: `isKnown` tells if a text that stands where nothing is known of is the name of a model. */
export interface NameSearch {
  readonly rules: MemberRules;
  readonly isKnown: (text: string) => boolean;
}

/** A member that is stepped over. Bytes; its key has its quotes. */
interface PassedOver {
  readonly keyStart: number;
  readonly end: number;
}

/** A body with more members and elements than this is not looked through. */
const membersMax = 20_000;
/** A name of a model is no longer. Bytes, escapes included. */
const nameBytesMax = 1_200;

/**
 * Finds the names of models among the members of a body, each occurrence of a member given twice, however its name is escaped and
 * whichever case it is in, as deep as they are nested. Null where there are too many members to look at.
 * @param conversation is stepped over: it is all words.
 */
export function findNames(
  body: WalkedBody,
  conversation: PassedOver | undefined,
  { rules, isKnown }: NameSearch,
): readonly NamedMember[] | null {
  const search = new Search(body, conversation, rules, isKnown);
  search.value('', '', '', false);
  return search.left < 0 ? null : search.found;
}

/** The same for a body whose conversation has this name. */
export function namesIn<Name extends string>(
  members: WalkedBody & { span(name: Name): PassedOver | undefined },
  conversation: Name,
  search: NameSearch,
): readonly NamedMember[] | null {
  return findNames(members, members.span(conversation), search);
}

/** The name of a member as rules have it: servers differ in which spellings they take for the same. */
export function plainName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll(/[_-]/g, '');
}

/** The same for a form, whose fields have texts and nothing within them. */
export function namesInFields(
  fields: readonly (TextSpan & { readonly name: string; readonly text: string })[],
  { rules, isKnown }: NameSearch,
): readonly NamedMember[] {
  return fields.flatMap(({ name: field, text, start, end }) => {
    const path = plainName(field.replaceAll(/\[\w*\]/g, ''));
    const known = rules.rules.get(path);
    const rule = known === 'own' || known === 'named' || known === 'unnamed' ? known : 'unknown';
    const isSkipped = known !== undefined && known !== 'tags' && rule === 'unknown';
    if (isSkipped || text === '' || (rule === 'unknown' && !isKnown(text))) return [];
    return [{ field, rule, name: text, start, end }];
  });
}

class Search {
  readonly found: NamedMember[] = [];
  left = membersMax;
  readonly #reader: JsonReader;
  readonly #conversation: PassedOver | undefined;
  readonly #rules: MemberRules;
  readonly #isKnown: (text: string) => boolean;

  constructor(
    { body, longTexts }: WalkedBody,
    conversation: PassedOver | undefined,
    rules: MemberRules,
    isKnown: (text: string) => boolean,
  ) {
    this.#reader = new JsonReader(body, 0, longTexts);
    this.#conversation = conversation;
    this.#rules = rules;
    this.#isKnown = isKnown;
  }

  /**
   * Reads the value at hand.
   * @param path by which rules know it. @param shown as the caller writes it. @param name of the member it is in.
   * @param isTag it stands in the caller's own notes.
   */
  value(path: string, shown: string, name: string, isTag: boolean): void {
    if (this.left-- < 0) return;
    switch (this.#reader.kind) {
      case 'object':
        return this.#members(path, shown, isTag);
      case 'array':
        return this.#elements(path, shown, name, isTag);
      case 'string':
        return this.#text(path, shown, name, isTag);
      default:
        this.#reader.skip();
    }
  }

  #members(path: string, shown: string, isTag: boolean): void {
    const reader = this.#reader;
    reader.enterObject();
    while (reader.nextMember()) {
      const { bytes, keyStart, keyEnd } = reader;
      if (keyStart - 1 === this.#conversation?.keyStart) {
        reader.at = this.#conversation.end;
        continue;
      }
      const key = decodeString(bytes, keyStart - 1, keyEnd + 1) ?? '';
      const name = plainName(key);
      const isRoot = this.#rules.roots.has(path === '' ? name : `${path}.${name}`);
      const inner = isRoot ? '' : path === '' ? name : `${path}.${name}`;
      this.#member(inner, shown === '' ? key : `${shown}.${key}`, name, isTag);
    }
  }

  #member(path: string, shown: string, name: string, isTag: boolean): void {
    const reader = this.#reader;
    const rule = this.#rules.rules.get(path);
    const start = reader.at;
    switch (rule) {
      case 'words':
      case 'priced':
      case 'harmless':
        reader.skip();
        return;
      case 'unnamed': {
        const isThere = reader.kind !== 'null';
        const end = reader.skip();
        if (isThere) this.found.push({ field: shown, rule, name: '', start, end });
        return;
      }
      case 'tags':
        return this.value(path, shown, name, true);
      default:
        if (rule === undefined && !this.#rules.unnamed.has(path) && this.#rules.words.has(name))
          reader.skip();
        else this.value(path, shown, name, isTag);
    }
  }

  #elements(path: string, shown: string, name: string, isTag: boolean): void {
    const reader = this.#reader;
    reader.enterArray();
    for (let at = 0; reader.nextElement(); at++) this.value(path, `${shown}[${at}]`, name, isTag);
  }

  #text(path: string, shown: string, name: string, isTag: boolean): void {
    const reader = this.#reader;
    const start = reader.at;
    const end = reader.skip();
    const known = this.#rules.rules.get(path);
    const rule = known === 'own' || known === 'named' ? known : 'unknown';
    if (end === -1 || (rule === 'unknown' && end - start > nameBytesMax)) return;
    const text = decodeString(reader.bytes, start, end);
    if (text === null || text === '') return;
    if (this.#rules.unnamed.get(path)?.test(text) === true)
      this.found.push({ field: shown, rule: 'unnamed', name: text, start, end });
    else if (rule !== 'unknown' || ((!isTag || name.includes('model')) && this.#isKnown(text)))
      this.found.push({ field: shown, rule, name: text, start, end });
  }
}

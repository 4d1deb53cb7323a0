import { isRecord, listOf, recordOf, type WireRecord } from '../../wire-values.ts';
import { mapSubSchemas } from './references.ts';

/**
 * The schema of a tool's arguments as the messages protocol takes it: draft 2020-12, at its root an object that is spelt out
 * and no choice of several (translation-map.md, 3). A choice at the root becomes one object with the properties of all, of
 * which those are required that every alternative requires.
 */
export function objectSchema(parameters: WireRecord | null): WireRecord {
  if (parameters === null) return { type: 'object', properties: {} };
  const { $schema: _, ...root } = currentDraft(
    spelledOut(parameters, { root: parameters, left: referencesMax }),
  );
  const properties = isRecord(root['properties']) ? root['properties'] : {};
  return { ...root, type: 'object', properties };
}

const choices = ['anyOf', 'oneOf'] as const;

/** References that are followed at most, since they may lead in circles, or to many places each. */
const referencesMax = 64;

/** The schemas that references lead to, and how many more are followed. */
interface References {
  readonly root: WireRecord;
  left: number;
}

/** The root with its reference followed and its alternatives merged. A reference too many is anything. */
function spelledOut(schema: WireRecord, references: References): WireRecord {
  const { $ref: ref, anyOf, oneOf, allOf, ...own } = schema;
  const parts: WireRecord[] = [own];
  if (typeof ref === 'string') parts.push(followed(ref, references));
  for (const part of listOf(allOf)) parts.push(spelledOut(recordOf(part), references));
  for (const name of choices) {
    const alternatives = listOf({ anyOf, oneOf }[name]).map((part) => spelledOut(recordOf(part), references));
    if (alternatives.length > 0) parts.push(mergedEither(alternatives));
  }
  return mergedBoth(parts);
}

function followed(ref: string, references: References): WireRecord {
  return references.left-- > 0 ? spelledOut(targetOf(ref, references.root), references) : {};
}

/** The schema that `#/$defs/NAME` names; anything for what is not there. */
function targetOf(ref: string, root: WireRecord): WireRecord {
  const path = ref.startsWith('#/') ? ref.slice(2).split('/') : [];
  if (path.length === 0) return {};
  return recordOf(path.reduce<unknown>((value, key) => own(recordOf(value), unescapedKey(key)), root));
}

function own(record: WireRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** RFC 6901, section 4. */
function unescapedKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A schema that meets all parts; where several say something else of one member, the first is followed. */
function mergedBoth(parts: readonly WireRecord[]): WireRecord {
  return parts.length === 1 ? { ...parts[0] } : { ...firstSaid(parts), ...mergedMembers(parts, union) };
}

/** A schema that may meet any of them. */
function mergedEither(parts: readonly WireRecord[]): WireRecord {
  if (parts.length === 1) return { ...parts[0] };
  const { additionalProperties: _, ...rest } = firstSaid(parts);
  return { ...rest, ...mergedMembers(parts, intersection) };
}

/** All members of all records at once: of many, one after the other would take time by the square. */
function firstSaid(records: readonly WireRecord[]): WireRecord {
  // From entries, since an assignment to a member of the name `__proto__` makes none.
  return Object.fromEntries(records.toReversed().flatMap((record) => Object.entries(record)));
}

type Combine = (lists: readonly (readonly unknown[])[]) => readonly unknown[];

function mergedMembers(parts: readonly WireRecord[], combine: Combine): WireRecord {
  const properties = firstSaid(parts.map((part) => recordOf(part['properties'])));
  const isSaid = parts.some((part) => part['required'] !== undefined);
  return {
    properties,
    ...(isSaid ? { required: combine(parts.map((part) => listOf(part['required']))) } : {}),
  };
}

function union(lists: readonly (readonly unknown[])[]): readonly unknown[] {
  return [...new Set(lists.flat())];
}

function intersection([first = [], ...others]: readonly (readonly unknown[])[]): readonly unknown[] {
  const sets = others.map((names) => new Set(names));
  return first.filter((name) => sets.every((names) => names.has(name)));
}

/** Older drafts spelt tuples and open limits in ways that are invalid now. */
function currentDraft(schema: WireRecord): WireRecord {
  const inner = mapSubSchemas(schema, currentDraft);
  return withLimit(withLimit(withTuple(inner), 'exclusiveMinimum', 'minimum'), 'exclusiveMaximum', 'maximum');
}

function withTuple(schema: WireRecord): WireRecord {
  if (!Array.isArray(schema['items'])) return schema;
  const { items, ...rest } = schema;
  return { ...rest, prefixItems: items };
}

function withLimit(schema: WireRecord, open: string, closed: string): WireRecord {
  if (typeof schema[open] !== 'boolean') return schema;
  const { [open]: isOpen, [closed]: limit, ...rest } = schema;
  if (typeof limit !== 'number') return rest;
  return { ...rest, [isOpen === true ? open : closed]: limit };
}

/** Names of arguments as the messages protocol takes them (translation-map.md, 3). */
const legalKey = /^[a-zA-Z0-9_.-]{1,64}$/;

interface ToldArguments {
  readonly schema: WireRecord;
  /** For the tool's description; empty where every argument has its place in the schema. */
  readonly words: string;
}

/**
 * The schema of a tool's arguments without those whose names the vendor refuses, and the whole request with them: the model
 * is told of them in words, and free to use them.
 */
export function tellArguments(parameters: WireRecord): ToldArguments {
  const entries = Object.entries(recordOf(parameters['properties']));
  const told = entries.filter(([name]) => !legalKey.test(name));
  if (told.length === 0) return { schema: parameters, words: '' };
  const { additionalProperties: _, ...rest } = parameters;
  const required = listOf(parameters['required']).filter((name) => !told.some(([own]) => own === name));
  const properties = Object.fromEntries(entries.filter(([name]) => legalKey.test(name)));
  return {
    schema: { ...rest, properties, ...(parameters['required'] === undefined ? {} : { required }) },
    words: `Further arguments, as JSON Schema: ${JSON.stringify(Object.fromEntries(told))}`,
  };
}

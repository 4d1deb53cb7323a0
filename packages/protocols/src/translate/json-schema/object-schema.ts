import { isRecord, listOf, recordOf, type WireRecord } from '../../wire-values.ts';
import { mapSubSchemas } from './sub-schemas.ts';

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

/** Where references lead, and how many more are followed. */
interface References {
  readonly root: WireRecord;
  left: number;
}

/** The root with its reference followed and its alternatives merged. A reference too many is anything. */
function spelledOut(schema: WireRecord, references: References): WireRecord {
  const { $ref: ref, anyOf, oneOf, allOf, ...own } = schema;
  let merged: WireRecord = own;
  if (typeof ref === 'string') merged = mergedBoth(merged, followed(ref, references));
  for (const part of listOf(allOf)) merged = mergedBoth(merged, spelledOut(recordOf(part), references));
  for (const name of choices) {
    const parts = listOf({ anyOf, oneOf }[name]).map((part) => spelledOut(recordOf(part), references));
    if (parts.length > 0) merged = mergedBoth(merged, parts.reduce(mergedEither));
  }
  return merged;
}

function followed(ref: string, references: References): WireRecord {
  return references.left-- > 0 ? spelledOut(targetOf(ref, references.root), references) : {};
}

/** What `#/$defs/NAME` names; anything for what is not there. */
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

/** What meets both; where both say something else of one member, the first is followed. */
function mergedBoth(first: WireRecord, second: WireRecord): WireRecord {
  return { ...second, ...first, ...mergedMembers(first, second, union) };
}

/** What may meet either. */
function mergedEither(first: WireRecord, second: WireRecord): WireRecord {
  const { additionalProperties: _, ...rest } = { ...second, ...first };
  return { ...rest, ...mergedMembers(first, second, intersection) };
}

type Combine = (first: readonly unknown[], second: readonly unknown[]) => readonly unknown[];

function mergedMembers(first: WireRecord, second: WireRecord, combine: Combine): WireRecord {
  const properties = { ...recordOf(second['properties']), ...recordOf(first['properties']) };
  const required = combine(listOf(first['required']), listOf(second['required']));
  const isSaid = first['required'] !== undefined || second['required'] !== undefined;
  return { properties, ...(isSaid ? { required } : {}) };
}

function union(first: readonly unknown[], second: readonly unknown[]): readonly unknown[] {
  return [...new Set([...first, ...second])];
}

function intersection(first: readonly unknown[], second: readonly unknown[]): readonly unknown[] {
  return first.filter((name) => second.includes(name));
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

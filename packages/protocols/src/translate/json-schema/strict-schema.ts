import type { Surface, Turn } from '../../turn.ts';
import { isRecord, listOf, recordOf, type WireRecord, wordSet } from '../../wire-values.ts';
import { isAnything, type SchemaSupport } from './obstacles.ts';
import { mapSubSchemas } from './references.ts';

/** Says nothing about what a value may be, and is not known where schemas are enforced: left out. */
const annotations = wordSet(
  '$schema $id $comment default deprecated example examples readOnly writeOnly format',
);

/** Enforced as they stand. */
const plainKeywords = wordSet(`
  type title description enum const $ref pattern minimum maximum exclusiveMinimum exclusiveMaximum
  multipleOf minItems maxItems required additionalProperties`);

/** Levels of nesting that are enforced at most. */
const depthMax = 10;

/**
 * The schema in the form in which the inventors of chat-completions and responses enforce one: every object closed and
 * all its properties required. Whatever it admits, the caller's own schema admits, too. Null where there is no such form:
 * then the schema can only be sent as advice (`strict: false`).
 */
export function strictSchema(schema: WireRecord): WireRecord | null {
  if (schema['type'] !== 'object' || schema['anyOf'] !== undefined) return null;
  return strictNode(schema, 0);
}

function strictNode(schema: unknown, depth: number): WireRecord | null {
  if (!isRecord(schema) || depth > depthMax || isAnything(schema)) return null;
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.has(keyword)) continue;
    const kept = strictKeyword(keyword, value, depth);
    if (kept === undefined) return null;
    setOwn(strict, keyword, kept);
  }
  return isObjectSchema(schema) ? closedObject(schema, strict, depth === 0) : strict;
}

/** The value that is sent for a keyword; undefined for one that is not enforced. */
function strictKeyword(keyword: string, value: unknown, depth: number): unknown {
  if (keyword === '$ref' && !String(value).startsWith('#')) return undefined;
  if (plainKeywords.has(keyword)) return value;
  switch (keyword) {
    case 'properties':
    case '$defs':
    case 'definitions':
      return strictMembers(value, depth + 1);
    case 'items':
      return strictNode(value, depth + 1) ?? undefined;
    case 'anyOf':
      return strictList(value, depth + 1);
    default:
      return undefined;
  }
}

function strictMembers(schemas: unknown, depth: number): WireRecord | undefined {
  if (!isRecord(schemas)) return undefined;
  const members: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const strict = strictNode(schema, depth);
    if (strict === null) return undefined;
    setOwn(members, name, strict);
  }
  return members;
}

function strictList(schemas: unknown, depth: number): readonly WireRecord[] | undefined {
  const strict = listOf(schemas).map((schema) => strictNode(schema, depth));
  return Array.isArray(schemas) && strict.every((schema) => schema !== null) ? strict : undefined;
}

/** An own member whatever its name: a plain assignment to `__proto__` makes none. */
function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function isObjectSchema({ type, properties }: WireRecord): boolean {
  return type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'));
}

/**
 * Requires what may be null anyway. Null when something may be left out that may not be null, or anything be added: an object of
 * which nothing is said could only be empty. A tool without arguments has an empty one of its own.
 */
function closedObject(
  schema: WireRecord,
  strict: Record<string, unknown>,
  isRoot: boolean,
): WireRecord | null {
  const { properties = {}, additionalProperties: additional } = schema;
  const isBare = additional === undefined && Object.keys(recordOf(properties)).length === 0;
  if (isBare && !(isRoot && schema['properties'] !== undefined)) return null;
  if (!isRecord(properties) || (additional !== undefined && additional !== false)) return null;
  const required = listOf(schema['required']);
  const names = Object.keys(properties);
  if (required.some((name) => typeof name !== 'string' || !names.includes(name))) return null;
  const isOpen = names.some((name) => !required.includes(name) && !admitsNull(properties[name]));
  if (isOpen) return null;
  return { ...strict, properties: strict['properties'] ?? {}, required: names, additionalProperties: false };
}

function admitsNull(schema: unknown): boolean {
  if (!isRecord(schema) || schema['$ref'] !== undefined) return false;
  const { type, enum: values, const: only, anyOf } = schema;
  if (anyOf !== undefined && !listOf(anyOf).some(admitsNull)) return false;
  if (values !== undefined && !listOf(values).includes(null)) return false;
  if (only !== undefined && only !== null) return false;
  return type === undefined ? values !== undefined || anyOf !== undefined : [type].flat().includes('null');
}

interface StructuredSchema {
  readonly schema: WireRecord;
  /** A constraint could only be told in words. */
  readonly isChanged: boolean;
}

/** Constraints that are not enforced on values, and refused where a schema is. */
const unenforced: readonly string[] = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];

const formats = wordSet('date-time time date duration email hostname uri ipv4 ipv6 uuid');

/**
 * A schema in the form in which the messages protocol holds an answer to one: objects closed, constraints on values told in
 * descriptions (translation-map.md, 3). References are left as they stand.
 */
export function structuredSchema(schema: WireRecord): StructuredSchema {
  let isChanged = false;
  const convert = (node: WireRecord): WireRecord => {
    const words = constraintsOf(node);
    if (words.length > 0 || isOpenMap(node)) isChanged = true;
    return closed(described(mapSubSchemas(node, convert), words));
  };
  return { schema: convert(schema), isChanged };
}

/** An object whose names are not known beforehand, which is not enforced. */
function isOpenMap({ additionalProperties: additional }: WireRecord): boolean {
  return additional !== undefined && additional !== false;
}

/** `minimum: 1` and the like, for the description. */
function constraintsOf(node: WireRecord): readonly string[] {
  return Object.entries(node)
    .filter(([name, value]) => isUnenforced(name, value))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
}

function isUnenforced(name: string, value: unknown): boolean {
  if (name === 'format') return typeof value === 'string' && !formats.has(value);
  // A first element is enforced, how many there are is not.
  if (name === 'minItems') return value !== 0 && value !== 1;
  // A property of that name has a schema in this place, and no constraint.
  return unenforced.includes(name) && typeof value !== 'object';
}

function described(node: WireRecord, words: readonly string[]): WireRecord {
  const kept = Object.fromEntries(Object.entries(node).filter(([name, value]) => !isUnenforced(name, value)));
  if (words.length === 0) return kept;
  const { description } = node;
  const text = typeof description === 'string' && description !== '' ? `${description}\n` : '';
  return { ...kept, description: `${text}{${words.join(', ')}}` };
}

/** Alternatives have one spelling, and an object takes nothing that it does not name. */
function closed(node: WireRecord): WireRecord {
  const { oneOf, ...rest } = node;
  const chosen = Array.isArray(oneOf) && rest['anyOf'] === undefined ? { ...rest, anyOf: oneOf } : node;
  return node['type'] === 'object' || node['properties'] !== undefined
    ? { ...chosen, additionalProperties: false }
    : chosen;
}

interface EnforcedSchema {
  readonly schema: WireRecord;
  readonly strict: boolean;
}

/**
 * A schema as it can be enforced. One that was written for this vendor is sent as it is; another one in the form that can
 * be, or, where there is none, as advice.
 */
export function enforce({ schema, strict }: EnforcedSchema, surface: Surface): EnforcedSchema {
  if (!strict || surface.enforcesSchemas) return { schema, strict };
  const enforced = strictSchema(schema);
  return enforced === null ? { schema, strict: false } : { schema: enforced, strict: true };
}

/** A schema of the answer that would be enforced, and can only be sent as advice, is changed. */
export function adviceSupport({ settings: { outputFormat: format }, surface }: Turn): SchemaSupport {
  if (format?.kind !== 'json-schema') return 'carried';
  const strict = format.strict ?? !surface.enforcesSchemas;
  return strict && !enforce({ schema: format.schema, strict }, surface).strict ? 'changed' : 'carried';
}

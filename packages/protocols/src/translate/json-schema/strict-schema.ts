import { isRecord, listOf, type WireRecord } from '../../wire-values.ts';

/** Says nothing about what a value may be, and is not known where schemas are enforced: left out. */
const annotations: readonly string[] = [
  '$schema',
  '$id',
  '$comment',
  'default',
  'deprecated',
  'example',
  'examples',
  'readOnly',
  'writeOnly',
  'format',
];

/** Enforced as they stand. */
const plainKeywords: readonly string[] = [
  'type',
  'title',
  'description',
  'enum',
  'const',
  '$ref',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'required',
  'additionalProperties',
];

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
  if (!isRecord(schema) || depth > depthMax) return null;
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.includes(keyword)) continue;
    const kept = strictKeyword(keyword, value, depth);
    if (kept === undefined) return null;
    setOwn(strict, keyword, kept);
  }
  return isObjectSchema(schema) ? closedObject(schema, strict) : strict;
}

/** What is sent for a keyword; undefined for one that is not enforced. */
function strictKeyword(keyword: string, value: unknown, depth: number): unknown {
  if (plainKeywords.includes(keyword)) return value;
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

/** Requires what may be null anyway. Null when something may be left out that may not be null, or anything be added. */
function closedObject(schema: WireRecord, strict: Record<string, unknown>): WireRecord | null {
  const { properties = {}, additionalProperties: additional } = schema;
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

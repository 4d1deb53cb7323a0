import { isRecord, listOf, recordOf, type WireRecord, wordSet } from '../../wire-values.ts';
import { inlineReferences } from './references.ts';

/**
 * The native protocol's own dialect of JSON Schema, for the models that know no other: a closed list of keywords, types in
 * capitals, `nullable` in the place of a type of null, enums of strings only, no references (generate-content.md, 2).
 */

/** Taken as they are. */
const plainKeywords = wordSet(`
  title description minimum maximum minItems maxItems minLength maxLength minProperties maxProperties pattern default`);

const formats = wordSet('enum date-time int32 int64 float double');

/** A schema in the dialect; what it cannot say is left out, so that it admits more but never less. */
export function toNativeSchema(schema: WireRecord): WireRecord {
  return nativeNode(inlineReferences(schema));
}

function nativeNode(wire: unknown): WireRecord {
  const merged = withoutAllOf(recordOf(wire));
  const alternatives = [...listOf(merged['anyOf']), ...listOf(merged['oneOf'])];
  const plain = Object.fromEntries(
    [...plainKeywords].flatMap((name) => (merged[name] === undefined ? [] : [[name, merged[name]]])),
  );
  const types = typesOf(merged);
  const native = { ...plain, ...limits(merged), ...enumOf(merged), ...nullable(merged, alternatives) };
  if (alternatives.length > 0) return { ...native, ...anyOf(alternatives) };
  if (types.length > 1) return { ...native, anyOf: types.map((type) => typed(type, merged)) };
  return { ...native, ...typed(types[0] ?? impliedType(merged), merged) };
}

/** Keywords that belong to one type; without any, text can stand for whatever is meant. */
function typed(type: string, node: WireRecord): WireRecord {
  switch (type) {
    case 'object':
      return { type: 'OBJECT', ...members(node) };
    case 'array':
      return {
        type: 'ARRAY',
        items: isRecord(node['items']) ? nativeNode(node['items']) : { type: 'STRING' },
      };
    case 'number':
    case 'integer':
    case 'boolean':
      return { type: hasEnum(node) ? 'STRING' : type.toUpperCase(), ...formatOf(node) };
    default:
      return { type: 'STRING', ...formatOf(node) };
  }
}

function formatOf({ format }: WireRecord): WireRecord {
  return formats.has(String(format)) ? { format } : {};
}

/** Only what is described may be required. */
function members(node: WireRecord): WireRecord {
  const properties = Object.entries(recordOf(node['properties']));
  if (properties.length === 0) return {};
  const names = new Set(properties.map(([name]) => name));
  const required = listOf(node['required']).filter((name) => typeof name === 'string' && names.has(name));
  return {
    properties: Object.fromEntries(properties.map(([name, schema]) => [name, nativeNode(schema)])),
    ...(required.length > 0 ? { required } : {}),
    propertyOrdering: [...names],
  };
}

function typesOf({ type }: WireRecord): readonly string[] {
  const types = Array.isArray(type) ? type : [type];
  return types
    .filter((each): each is string => typeof each === 'string')
    .map((each) => each.toLowerCase())
    .filter((each) => each !== 'null');
}

function impliedType(node: WireRecord): string {
  if (isRecord(node['properties'])) return 'object';
  return node['items'] === undefined ? 'string' : 'array';
}

function hasEnum(node: WireRecord): boolean {
  return Array.isArray(node['enum']) || node['const'] !== undefined;
}

/** A constant is an enum of one; numbers and truth values are written as text, since enums hold nothing else. */
function enumOf(node: WireRecord): WireRecord {
  if (!hasEnum(node)) return {};
  const values = Array.isArray(node['enum']) ? node['enum'] : [node['const']];
  const texts = values.filter((value) => value !== null && typeof value !== 'object').map(String);
  return texts.length === 0 ? {} : { enum: [...new Set(texts)] };
}

function nullable(node: WireRecord, alternatives: readonly unknown[]): WireRecord {
  const isNullable =
    node['nullable'] === true ||
    listOf(node['type']).includes('null') ||
    listOf(node['enum']).includes(null) ||
    alternatives.some(isNull);
  return isNullable ? { nullable: true } : {};
}

function isNull(schema: unknown): boolean {
  return recordOf(schema)['type'] === 'null';
}

/** The only alternative to null is the schema itself. */
function anyOf(alternatives: readonly unknown[]): WireRecord {
  const [only, ...others] = alternatives.filter((schema) => !isNull(schema)).map(nativeNode);
  if (only === undefined) return { type: 'STRING' };
  return others.length === 0 ? only : { anyOf: [only, ...others] };
}

/** Limits that exclude themselves are known as those that include them. */
function limits(node: WireRecord): WireRecord {
  const { exclusiveMinimum, exclusiveMaximum } = node;
  return {
    ...(typeof exclusiveMinimum === 'number' ? { minimum: exclusiveMinimum } : {}),
    ...(typeof exclusiveMaximum === 'number' ? { maximum: exclusiveMaximum } : {}),
  };
}

/** All parts of an `allOf` as one schema: their properties side by side, otherwise the last word counts. */
function withoutAllOf(node: WireRecord): WireRecord {
  if (!Array.isArray(node['allOf'])) return node;
  const { allOf, ...own } = node;
  return merged([own, ...listOf(allOf).map((part) => withoutAllOf(recordOf(part)))]);
}

/** At once: of many, one after the other would take time by the square. */
function merged(parts: readonly WireRecord[]): WireRecord {
  const properties = lastSaid(parts.map((part) => recordOf(part['properties'])));
  const required = [...new Set(parts.flatMap((part) => listOf(part['required'])))];
  return {
    ...lastSaid(parts),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function lastSaid(records: readonly WireRecord[]): WireRecord {
  return Object.fromEntries(records.flatMap((record) => Object.entries(record)));
}

const counts = wordSet('minItems maxItems minLength maxLength minProperties maxProperties');
const ownKeywords = wordSet('propertyOrdering property_ordering example nullable');

/** JSON Schema of a schema in the dialect. */
export function fromNativeSchema(schema: WireRecord): WireRecord {
  const entries = Object.entries(schema).filter(([name]) => !ownKeywords.has(name));
  const standard = Object.fromEntries(entries.map(([name, value]) => standardKeyword(name, value)));
  if (schema['nullable'] !== true) return standard;
  if (typeof standard['type'] === 'string') return withNull(standard, standard['type']);
  const alternatives = listOf(standard['anyOf']);
  return alternatives.length > 0 ? { ...standard, anyOf: [...alternatives, { type: 'null' }] } : standard;
}

function withNull(standard: WireRecord, type: string): WireRecord {
  const values = standard['enum'];
  const withEnum = Array.isArray(values) ? { enum: [...listOf(values), null] } : {};
  return { ...standard, type: [type, 'null'], ...withEnum };
}

function standardKeyword(wireName: string, value: unknown): readonly [string, unknown] {
  const name = wireName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (name === 'type') return [name, typeof value === 'string' ? value.toLowerCase() : value];
  if (name === 'properties')
    return [
      name,
      Object.fromEntries(Object.entries(recordOf(value)).map(([key, each]) => [key, standardNode(each)])),
    ];
  if (name === 'items') return [name, standardNode(value)];
  if (name === 'anyOf') return [name, listOf(value).map(standardNode)];
  // Whole numbers of 64 bits are strings in this protocol's JSON.
  return [name, counts.has(name) && typeof value === 'string' ? Number(value) : value];
}

function standardNode(value: unknown): unknown {
  return isRecord(value) ? fromNativeSchema(value) : value;
}

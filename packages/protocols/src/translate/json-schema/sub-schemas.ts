import { isRecord, listOf, type WireRecord } from '../../wire-values.ts';

/** Keywords whose value is a schema. */
const single: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
]);
/** Those with a list of schemas. */
const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']);
/** Those with schemas by name. */
const named: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]);

/** The schema with every schema right within it changed; the rest of it, data of the caller's too, is left alone. */
export function mapSubSchemas(schema: WireRecord, change: (inner: WireRecord) => WireRecord): WireRecord {
  // From entries, since an assignment to a member of the name `__proto__` makes none.
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, mapMember(name, value, change)]),
  );
}

function mapMember(name: string, value: unknown, change: (inner: WireRecord) => WireRecord): unknown {
  const changeOne = (inner: unknown) => (isRecord(inner) ? change(inner) : inner);
  if (lists.has(name) && Array.isArray(value)) return listOf(value).map(changeOne);
  if (single.has(name)) return changeOne(value);
  if (!named.has(name) || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, changeOne(inner)]));
}

import { isRecord, listOf, recordOf, type WireRecord, wordSet } from '../../wire-values.ts';

/** Nodes a schema may grow to when what it refers to is put in its place: references of references multiply. */
const nodesMax = 5_000;

/**
 * A schema without `$ref`: what is referred to stands in its place. A reference that leads back to itself, or nowhere, or
 * beyond what a schema may grow to, becomes an object of any kind.
 */
export function inlineReferences(schema: WireRecord): WireRecord {
  return recordOf(new Inlining(schema).node(schema, new Set()));
}

class Inlining {
  readonly #root: WireRecord;
  #nodesLeft = nodesMax;

  constructor(root: WireRecord) {
    this.#root = root;
  }

  node(value: unknown, within: ReadonlySet<string>): unknown {
    if (Array.isArray(value)) return value.map((element) => this.node(element, within));
    if (!isRecord(value)) return value;
    if (this.#nodesLeft-- <= 0) return anyObject;
    const { $ref: reference, $defs: _, definitions: __, ...own } = value;
    const members = this.#members(own, within);
    if (typeof reference !== 'string') return members;
    const target = within.has(reference) ? undefined : this.#find(reference);
    if (!isRecord(target)) return { ...anyObject, ...members };
    return { ...recordOf(this.node(target, new Set([...within, reference]))), ...members };
  }

  #members(own: WireRecord, within: ReadonlySet<string>): WireRecord {
    return Object.fromEntries(
      Object.entries(own).map(([name, each]) => [name, this.#member(name, each, within)]),
    );
  }

  #member(name: string, value: unknown, within: ReadonlySet<string>): unknown {
    if (values.has(name)) return value;
    if (name !== 'properties') return this.node(value, within);
    const properties = Object.entries(recordOf(value));
    return Object.fromEntries(properties.map(([key, each]) => [key, this.node(each, within)]));
  }

  /** Only references within the schema itself, by path. */
  #find(reference: string): unknown {
    if (reference === '#') return this.#root;
    if (!reference.startsWith('#/')) return undefined;
    return reference
      .slice(2)
      .split('/')
      .map(unescapeToken)
      .reduce(memberOf, this.#root as unknown);
  }
}

/** Keywords that hold values and no schemas. */
const values: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required']);

const anyObject: WireRecord = { type: 'object' };

export function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return listOf(value)[Number(name)];
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** https://www.rfc-editor.org/rfc/rfc6901#section-4 */
export function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Keywords whose value is a schema. */
const single = wordSet(`
  items additionalProperties contains not if then else propertyNames unevaluatedProperties
  unevaluatedItems`);
/** Keywords with a list of schemas. */
const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']);
/** Keywords with schemas by name. */
const named = wordSet('properties $defs definitions patternProperties dependentSchemas');

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

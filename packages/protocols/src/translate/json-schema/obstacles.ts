import type { Turn } from '../../turn.ts';
import { isRecord, listOf, recordOf, type WireRecord, wordSet } from '../../wire-values.ts';
import { memberOf, unescapeToken } from './references.ts';

/** A place in a schema, as its author would name it: `properties.tags.additionalProperties`. The root is the empty text. */
export type Place = string;

/** The words of a schema in which a target can be held to it. */
export interface SchemaLimits {
  /** The keyword of a node by which a target would be held to something else; null where there is none. */
  blame(node: WireRecord, isRoot: boolean): string | null;
  /** A schema may lead back to itself: never, or only by a property that may be left out. */
  readonly recursion: 'never' | 'by-optional';
}

/**
 * The first place that a target cannot be held to: to send the schema all the same would change what it means. Null where it
 * can be held to all of it.
 */
export function findObstacle(schema: WireRecord, limits: SchemaLimits): Place | null {
  return new Search(schema, limits).node(schema, '', []);
}

/** A reference on the way to where the search stands. */
interface Followed {
  readonly reference: string;
  /** A property that may be left out lies behind it. */
  readonly isOptional: boolean;
}

/** The way a target takes the schema of an answer: `changed` when by a tool, or as advice. */
export type SchemaSupport = 'carried' | 'changed' | 'refused';

/** The same of a target that is held to schemas within limits, and does otherwise `beyond` them. */
export function schemaSupport(
  { settings: { outputFormat: format } }: Turn,
  limits: SchemaLimits,
  beyond: SchemaSupport,
): SchemaSupport {
  if (format?.kind !== 'json-schema') return 'carried';
  return findObstacle(format.schema, limits) === null ? 'carried' : beyond;
}

class Search {
  readonly #root: WireRecord;
  readonly #limits: SchemaLimits;
  /** References that lead to no obstacle. */
  readonly #cleared = new Set<string>();

  constructor(root: WireRecord, limits: SchemaLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  node(value: unknown, place: Place, within: readonly Followed[]): Place | null {
    if (!isRecord(value)) return value === true ? place : null;
    const keyword = this.#limits.blame(value, place === '');
    if (keyword !== null) return inside(place, keyword);
    const { $ref: reference } = value;
    if (typeof reference === 'string') {
      const found = this.#reference(reference, inside(place, '$ref'), within);
      if (found !== null) return found;
    }
    return this.#children(value, place, within);
  }

  #reference(reference: string, place: Place, within: readonly Followed[]): Place | null {
    const known = within.find((followed) => followed.reference === reference);
    if (known !== undefined)
      return this.#limits.recursion === 'by-optional' && known.isOptional ? null : place;
    if (this.#cleared.has(reference)) return null;
    const target = targetOf(reference, this.#root);
    if (!isRecord(target)) return place;
    const found = this.node(target, place, [...within, { reference, isOptional: false }]);
    if (found === null) this.#cleared.add(reference);
    return found;
  }

  #children(node: WireRecord, place: Place, within: readonly Followed[]): Place | null {
    const required = new Set(listOf(node['required']));
    for (const [name, schema] of Object.entries(recordOf(node['properties']))) {
      const beyond = required.has(name)
        ? within
        : within.map((followed) => ({ ...followed, isOptional: true }));
      const found = this.node(schema, inside(place, `properties.${name}`), beyond);
      if (found !== null) return found;
    }
    for (const name of ['items', 'additionalProperties']) {
      const found = isRecord(node[name]) ? this.node(node[name], inside(place, name), within) : null;
      if (found !== null) return found;
    }
    for (const name of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
      for (const [index, schema] of listOf(node[name]).entries()) {
        const found = this.node(schema, inside(place, `${name}[${index}]`), within);
        if (found !== null) return found;
      }
    }
    return null;
  }
}

function inside(place: Place, name: string): Place {
  return place === '' || name === '' ? place + name : `${place}.${name}`;
}

function targetOf(reference: string, root: WireRecord): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .map(unescapeToken)
    .reduce(memberOf, root as unknown);
}

/** Keywords about an object or a list that no vendor's own dialect has. */
const foreignKeywords = wordSet(`
  patternProperties propertyNames not if then else contains prefixItems dependentSchemas dependentRequired dependencies
  unevaluatedProperties unevaluatedItems $dynamicRef $recursiveRef`);

function foreignKeyword(node: WireRecord): string | null {
  if (Array.isArray(node['items'])) return 'items';
  return Object.keys(node).find((name) => foreignKeywords.has(name)) ?? null;
}

function isObject({ type, properties }: WireRecord): boolean {
  return type === 'object' || properties !== undefined || listOf(type).includes('object');
}

/** An object whose names are not known beforehand. */
function openKeyword(node: WireRecord): string | null {
  const { additionalProperties: additional } = node;
  if (additional !== undefined && additional !== false) return 'additionalProperties';
  const isBare = isObject(node) && Object.keys(recordOf(node['properties'])).length === 0;
  return isBare && additional === undefined ? 'properties' : null;
}

const telling = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'properties', 'items'];

/** Anything at all may stand there. */
export function isAnything(node: WireRecord): boolean {
  return telling.every((name) => node[name] === undefined);
}

/**
 * The schemas that the messages protocol can be held to: closed objects, without recursion (translation-map.md, 3). A choice is one
 * of alternatives, never of all of them at once: each would be closed to the others' properties.
 */
export const structuredLimits: SchemaLimits = {
  recursion: 'never',
  blame(node, isRoot) {
    if (isRoot && node['type'] !== undefined && !isObject(node)) return 'type';
    if (isAnything(node)) return 'type';
    const isNested = listOf(node['enum']).some((value) => typeof value === 'object' && value !== null);
    if (isNested) return 'enum';
    return openKeyword(node) ?? foreignKeyword(node) ?? (node['allOf'] === undefined ? null : 'allOf');
  },
};

/** The same for arguments of a tool: one that says nothing of them takes none. */
export const structuredToolLimits: SchemaLimits = {
  recursion: 'never',
  blame: (node, isRoot) =>
    isRoot && openKeyword(node) === 'properties' ? null : structuredLimits.blame(node, false),
};

/** The schemas of the native protocol's models that know JSON Schema: all but endless ones. */
export const nativeJsonLimits: SchemaLimits = { recursion: 'by-optional', blame: () => null };

/** The schemas of its older models, in the dialect of their own: no maps, no recursion, no values but text to choose from. */
export const nativeLimits: SchemaLimits = {
  recursion: 'never',
  blame(node) {
    if (isAnything(node)) return 'type';
    if (listOf(node['enum']).some((value) => value !== null && typeof value !== 'string')) return 'enum';
    if (node['const'] !== undefined && typeof node['const'] !== 'string') return 'const';
    return openKeyword(node) ?? foreignKeyword(node);
  },
};

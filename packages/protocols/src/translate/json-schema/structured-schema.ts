import type { WireRecord } from '../../wire-values.ts';
import { mapSubSchemas } from './sub-schemas.ts';

export interface StructuredSchema {
  readonly schema: WireRecord;
  /** Whether a constraint could only be told in words. */
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

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

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
  // Whether there is an element at all is enforced, how many there are is not.
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

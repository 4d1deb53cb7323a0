import type { JsonRecord } from '../json.ts';
import { isRecord, listOf, recordOf, stringOf } from '../json.ts';

const depthMax = 8;

/**
 * A value that satisfies the JSON Schema, always the same for the same schema. Reads what tool definitions use:
 * const, enum, default, type, properties, items, anyOf, oneOf, allOf, local `$ref`, formats and bounds;
 * `pattern` and `not` are left unread. Deeper than eight levels the value is null.
 */
export function sampleOf(schema: unknown): unknown {
  return sample(recordOf(schema), { root: recordOf(schema), name: 'value', depth: 0 });
}

interface Place {
  readonly root: JsonRecord;
  /** The name of the property the value is for. */
  readonly name: string;
  readonly depth: number;
}

function sample(schema: JsonRecord, place: Place): unknown {
  if (place.depth > depthMax) return null;
  const deeper = { ...place, depth: place.depth + 1 };
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(schema['enum'])) return listOf(schema['enum'])[0] ?? null;
  if (typeof schema['$ref'] === 'string') return sample(resolve(schema['$ref'], place.root), deeper);
  const options = listOf(schema['anyOf'] ?? schema['oneOf']);
  if (options.length > 0) return sample(recordOf(options[0]), deeper);
  if (Array.isArray(schema['allOf'])) return sampleAll(listOf(schema['allOf']), schema, deeper);
  return sampleType(typeOf(schema), schema, deeper);
}

function sampleAll(parts: readonly unknown[], schema: JsonRecord, place: Place): unknown {
  const { allOf: _, ...own } = schema;
  const samples = [...parts.map(recordOf), own].map((part) => sample(part, place));
  const objects = samples.filter(isRecord);
  return objects.length > 0 ? Object.assign({}, ...objects) : samples[0];
}

function sampleType(type: string, schema: JsonRecord, place: Place): unknown {
  switch (type) {
    case 'object':
      return sampleObject(schema, place);
    case 'array':
      return sampleArray(schema, place);
    case 'string':
      return sampleString(schema, place);
    case 'integer':
    case 'number':
      return sampleNumber(schema, type === 'integer');
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function sampleObject(schema: JsonRecord, place: Place): unknown {
  const members = Object.entries(recordOf(schema['properties']));
  return Object.fromEntries(
    members.map(([name, member]) => [name, sample(recordOf(member), { ...place, name })]),
  );
}

function sampleArray(schema: JsonRecord, place: Place): unknown {
  const length = Math.min(Math.max(numberOf(schema['minItems']) ?? 1, 1), 16);
  return Array.from({ length }, () => sample(recordOf(schema['items']), place));
}

const samplesByFormat: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '12:30:00Z',
  'date-time': '2026-01-31T12:30:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function sampleString(schema: JsonRecord, place: Place): string {
  const formatted = samplesByFormat[stringOf(schema['format']) ?? ''];
  if (formatted !== undefined) return formatted;
  const plain = `sample ${place.name}`.padEnd(numberOf(schema['minLength']) ?? 0, '.');
  return plain.slice(0, numberOf(schema['maxLength']) ?? plain.length);
}

function sampleNumber(schema: JsonRecord, isWhole: boolean): number {
  const above = numberOf(schema['exclusiveMinimum']);
  const below = numberOf(schema['exclusiveMaximum']);
  const step = isWhole ? 1 : 0.5;
  const least = numberOf(schema['minimum']) ?? (above === null ? 1 : above + step);
  const most = numberOf(schema['maximum']) ?? (below === null ? least : below - step);
  return Math.min(isWhole ? Math.ceil(least) : least, most);
}

function typeOf(schema: JsonRecord): string {
  const declared = listOf(schema['type'])[0] ?? schema['type'];
  if (typeof declared === 'string') return declared;
  if ('properties' in schema) return 'object';
  return 'items' in schema ? 'array' : 'string';
}

/** Follows a reference inside the same schema (`#/$defs/city`); anything else is an empty schema. */
function resolve(reference: string, root: JsonRecord): JsonRecord {
  if (!reference.startsWith('#')) return {};
  const steps = reference.split('/').slice(1);
  return recordOf(steps.reduce<unknown>((at, step) => recordOf(at)[step], root));
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

import { recordOf, type WireRecord } from '../../wire-values.ts';

/**
 * The members of an object under their camelCase names: callers of this protocol may write them in snake_case as well.
 * What they hold stays as it is.
 */
export function inCamelCase(wire: unknown): WireRecord {
  const record = recordOf(wire);
  const names = Object.keys(record);
  if (!names.some((name) => name.includes('_'))) return record;
  return Object.fromEntries(names.map((name) => [camelCase(name), record[name]]));
}

/** The member as the caller spells it. */
export function spelledBy(wire: unknown, name: string): string {
  const record = recordOf(wire);
  if (name in record) return name;
  return Object.keys(record).find((own) => camelCase(own) === name) ?? name;
}

/** An underscore that begins a name is part of it. */
function camelCase(name: string): string {
  return name.replace(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

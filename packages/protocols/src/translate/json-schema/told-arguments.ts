import { listOf, recordOf, type WireRecord } from '../../wire-values.ts';

/** Names of arguments as the messages protocol takes them (translation-map.md, 3). */
const legalKey = /^[a-zA-Z0-9_.-]{1,64}$/;

export interface ToldArguments {
  readonly schema: WireRecord;
  /** For the tool's description; empty where every argument has its place in the schema. */
  readonly words: string;
}

/**
 * The schema of a tool's arguments without those whose names the vendor refuses, and the whole request with them: the model
 * is told of them in words, and free to use them.
 */
export function tellArguments(parameters: WireRecord): ToldArguments {
  const entries = Object.entries(recordOf(parameters['properties']));
  const told = entries.filter(([name]) => !legalKey.test(name));
  if (told.length === 0) return { schema: parameters, words: '' };
  const { additionalProperties: _, ...rest } = parameters;
  const required = listOf(parameters['required']).filter((name) => !told.some(([own]) => own === name));
  const properties = Object.fromEntries(entries.filter(([name]) => legalKey.test(name)));
  return {
    schema: { ...rest, properties, ...(parameters['required'] === undefined ? {} : { required }) },
    words: `Further arguments, as JSON Schema: ${JSON.stringify(Object.fromEntries(told))}`,
  };
}

import type { JsonRecord } from '../json.ts';

/** A member under its name in camel case, or under the same name in snake case: this protocol reads both. */
export function member(record: JsonRecord, name: string): unknown {
  return record[name] ?? record[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

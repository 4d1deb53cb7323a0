import { isRecord, type WireRecord } from '../../wire-values.ts';
import { inCamelCase } from './camel-case.ts';

type Key = string | number;

/** Elements an array of arguments may have; a larger index is a defect of the upstream. */
const indexMax = 10_000;

/** Arguments of a call that come in pieces, each with the path of what it is a piece of (`$.list[0].name`). */
export class PartialArguments {
  readonly value: Record<string, unknown> = {};

  take(wire: unknown): void {
    const piece = inCamelCase(wire);
    const keys = keysOf(piece['jsonPath']);
    const value = pieceValue(piece);
    if (keys.length > 0 && value !== undefined) place(this.value, keys, value);
  }
}

function keysOf(path: unknown): readonly Key[] {
  if (typeof path !== 'string' || !path.startsWith('$')) return [];
  const steps = path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g);
  return Array.from(steps, ([, name, index, quoted]) =>
    index === undefined ? (name ?? quoted ?? '') : Math.min(Number(index), indexMax),
  );
}

/** Undefined when the piece has no value. */
function pieceValue(piece: WireRecord): unknown {
  if ('nullValue' in piece) return null;
  return piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'];
}

function place(root: Record<string, unknown>, keys: readonly Key[], value: unknown): void {
  let holder: Record<Key, unknown> | unknown[] = root;
  for (const [at, key] of keys.entries()) {
    const next = keys[at + 1];
    const known = read(holder, key);
    if (next === undefined) return write(holder, key, extended(known, value));
    const inner: Record<Key, unknown> | unknown[] = holds(known) ? known : typeof next === 'number' ? [] : {};
    if (inner !== known) write(holder, key, inner);
    holder = inner;
  }
}

/** Text is continued, anything else replaced. */
function extended(known: unknown, value: unknown): unknown {
  return typeof known === 'string' && typeof value === 'string' ? known + value : value;
}

function holds(value: unknown): value is Record<Key, unknown> | unknown[] {
  return Array.isArray(value) || isRecord(value);
}

function read(holder: Record<Key, unknown> | unknown[], key: Key): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

/** Whatever the name is, it becomes a member and nothing else. */
function write(holder: Record<Key, unknown> | unknown[], key: Key, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

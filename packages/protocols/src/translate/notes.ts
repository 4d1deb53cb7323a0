import { type Fault, fault } from '../error.ts';
import type { Extension } from '../turn.ts';

/**
 * All that is noted while a caller's request is read: what only its protocol has, and the first thing that is wrong. Reading
 * goes on behind a fault, so that each part of it is a plain function from wire to value.
 */
export class TurnNotes {
  fault: Fault | null = null;
  readonly #extensions = new Map<string, Extension>();

  get extensions(): readonly Extension[] {
    return [...this.#extensions.values()];
  }

  /** Another protocol does without it. */
  lose(field: string): void {
    if (!this.#extensions.has(field)) this.#extensions.set(field, { field, elsewhere: 'drop' });
  }

  /** Another protocol gets it as text. */
  flatten(field: string): void {
    if (!this.#extensions.has(field)) this.#extensions.set(field, { field, elsewhere: 'text' });
  }

  /** Without it the answer would not be what was asked for. */
  insist(field: string): void {
    this.#extensions.set(field, { field, elsewhere: 'refuse' });
  }

  /** The request cannot be understood. */
  blame(param: string, message: string): void {
    this.fault ??= fault('invalid_request', { message, param });
  }
}

/** A caller's own word as it may stand in a header; `other` for what no protocol would call anything. */
export function plainWord(word: string): string {
  return /^[\w.-]{1,64}$/.test(word) ? word : 'other';
}

import { changed, dropped, type Loss } from '../codec.ts';
import { type Fault, fault } from '../error.ts';
import type { Extension } from '../turn.ts';
import { unsupported } from './losses.ts';

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

/**
 * All that is noted while a turn is written for a target: what it loses, each loss once, and the first thing the target cannot
 * say. Writing goes on behind a fault, so that each part of it is a plain function from value to wire.
 */
export class WriteNotes {
  fault: Fault | null = null;
  readonly #losses = new Map<string, Loss>();

  get losses(): readonly Loss[] {
    return [...this.#losses.values()];
  }

  /** Losses that are known from elsewhere. */
  add(losses: readonly Loss[]): void {
    for (const loss of losses) this.#note(loss);
  }

  drop(field: string, note: string | null = null): void {
    this.#note(dropped(field, note));
  }

  change(field: string, note: string): void {
    this.#note(changed(field, note));
  }

  /** The answer would not be what was asked for. */
  refuse(field: string, remedy?: string): void {
    this.fault ??= unsupported(field, remedy);
  }

  #note(loss: Loss): void {
    const key = `${loss.action} ${loss.field}`;
    if (!this.#losses.has(key)) this.#losses.set(key, loss);
  }
}

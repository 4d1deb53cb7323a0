import type { Fault } from '../error.ts';
import { changed, dropped, type Loss } from '../loss.ts';
import { unsupported } from './setting-losses.ts';

/**
 * What is noted while a turn is written for a target: what it loses, each loss once, and the first thing the target cannot
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

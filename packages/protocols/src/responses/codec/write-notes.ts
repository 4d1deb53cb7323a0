import type { Fault } from '../../error.ts';
import type { Loss } from '../../loss.ts';
import { unsupported } from '../../translate/setting-losses.ts';
import type { Turn } from '../../turn.ts';

/** What is noted while a request is written: what it lost, and the first thing that cannot be sent. */
export class WriteNotes {
  fault: Fault | null = null;
  readonly surface: Turn['surface'];
  readonly #losses = new Map<string, Loss>();

  constructor(surface: Turn['surface']) {
    this.surface = surface;
  }

  get losses(): readonly Loss[] {
    return [...this.#losses.values()];
  }

  lose(loss: Loss): void {
    if (!this.#losses.has(loss.field)) this.#losses.set(loss.field, loss);
  }

  refuse(field: string, remedy?: string): void {
    this.fault ??= unsupported(field, remedy);
  }
}

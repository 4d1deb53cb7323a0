import type { Observer } from '../ports/observer.ts';

/** Tells the operator of something thrown where nothing may be. The caller only hears that there was something. */
export function alertBug(error: unknown, traceId: string, observer: Observer): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  observer.alert('bug', { traceId, error: text });
}

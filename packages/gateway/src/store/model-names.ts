import type { LedgerRecord } from '../ports/store.ts';

/**
 * Sums have one name for all models that no call was admitted to: callers may ask for any word, and none of it becomes a row or a line
 * of a report. No model can have this name. The column `model_summed` says the same in SQL.
 */
export const unknownModel = '(unknown)';

/** The column by which calls of a model are asked for: by the caller's own word, or by the name of those that are none. */
export function modelColumn(model: string | undefined): 'model_requested' | 'model_summed' {
  return model === unknownModel ? 'model_summed' : 'model_requested';
}

/** The same of a call that has been read. */
export function isOfModel(
  { modelRequested, priceVersion, attempts }: LedgerRecord,
  model: string | undefined,
): boolean {
  if (model === unknownModel) return priceVersion === null && attempts.length === 0;
  return model === undefined || modelRequested === model;
}

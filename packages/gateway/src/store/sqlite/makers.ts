import type { DatabaseSync } from 'node:sqlite';
import { FacetMaker } from './facet-maker.ts';
import { SpendMaker } from './spend-migration.ts';
import { SpanMaker } from './usage-spans.ts';

/** Makes something of the calls that are in the store, in steps of a transaction. */
export interface Maker {
  /** True when there is more to do. */
  step(): boolean;
}

/** They work behind the feeder: on facets of new calls, and on sums that an older version has left to be made. */
export function makersOf(database: DatabaseSync): readonly Maker[] {
  return [new SpanMaker(database), new SpendMaker(database), new FacetMaker(database)];
}

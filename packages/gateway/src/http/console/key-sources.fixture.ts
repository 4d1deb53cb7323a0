import { readPeppers } from '../../admin/owner-files.ts';
import { scopeOf } from '../../admin/people/actor.ts';
import { modelOf, targetOf } from '../../catalogue/catalogue.fixture.ts';
import type { Store } from '../../ports/store.ts';
import type { KeySources } from './keys-api.ts';

/** Keys of a store as the console has them, for tests. */
export function keySources(open: () => Store, nowMs: number): KeySources {
  const peppers = readPeppers('1:pepper-of-tests-that-is-long-enough');
  if (!peppers.ok) throw new Error(peppers.error);
  return {
    keys: {
      get store() {
        return open();
      },
      catalogue: { current: { models: new Map([['alpha', modelOf([targetOf({ id: 'a' })], 'alpha')]]) } },
      bringIn: () => Promise.resolve(),
      tools: (actor) => ({
        ...{ store: open(), actor, nowMs, peppers: peppers.value },
        ...{ scope: scopeOf(actor, 'member'), unbounded: scopeOf(actor, 'admin') },
      }),
    },
  };
}

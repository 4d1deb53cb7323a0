import type { Store } from '../../ports/store.ts';
import { Passwords } from './passwords.ts';
import type { PeopleTools } from './people-tools.ts';
import { Refusals } from './refusals.ts';
import { Sessions } from './sessions.ts';
import { Throttle } from './throttle.ts';

/** Puts together what signing in takes. */
export function openPeople(
  store: Pick<Store, 'people' | 'audit'>,
  operatorToken: string,
  now: () => number,
): PeopleTools {
  return {
    ...{ store, operatorToken, now },
    passwords: new Passwords(),
    sessions: new Sessions(store.people, now),
    throttle: new Throttle(now),
    refusals: new Refusals(store, now),
    secondStep: () => Promise.resolve(null),
  };
}

import type { KnownPerson } from '../../ports/people.ts';
import type { Store } from '../../ports/store.ts';
import type { Passwords } from './passwords.ts';
import type { Refusals } from './refusals.ts';
import type { Sessions } from './sessions.ts';
import type { Throttle } from './throttle.ts';

/** A step that follows on a right password, for a person who has set up another proof. */
export interface SecondStep {
  readonly next: 'totp';
  /** Names the sign-in that has begun, for the request that ends it. */
  readonly ticket: string;
}

/** Everything that signing in takes. */
export interface PeopleTools {
  readonly store: Pick<Store, 'people' | 'audit'>;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** Notes who could not sign in. */
  readonly refusals: Refusals;
  /** The proof that a person owes beside a password; null for none. */
  readonly secondStep: (person: KnownPerson) => Promise<SecondStep | null>;
  /** Makes the first operator's link, and no other request, good. */
  readonly operatorToken: string;
  readonly now: () => number;
}

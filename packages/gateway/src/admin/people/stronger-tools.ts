import type { Store } from '../../ports/store.ts';
import type { Peppers } from '../owner-files.ts';
import type { OidcSignIn } from './oidc.ts';
import type { PeopleTools } from './people-tools.ts';
import type { SecondFactors } from './second-factors.ts';
import type { Tickets } from './tickets.ts';

/** Everything that people and their ways of signing in take, beside passwords. */
export interface StrongerTools extends PeopleTools {
  readonly store: Pick<Store, 'people' | 'audit' | 'factors' | 'personLinks'>;
  readonly peppers: Peppers;
  readonly tickets: Tickets;
  readonly secondFactors: SecondFactors;
  /** Null where no provider is configured. */
  readonly provider: OidcSignIn | null;
  readonly deployment: () => string;
  /** The one origin that links lead to and passkeys are made for, whatever a request says that it was sent to. */
  origin(): string;
}

import { createContext, type ReactNode, use } from 'react';
import type { Me, Membership, Role } from '../api/me.ts';
import { Choice, useChoice } from './choice.ts';
import { recall, remember } from './tab-storage.ts';

/** A page, or an entry of the navigation, asks this of who looks at it. */
export type Access = Role | 'operator';

/** The person who is signed in, and what they may do. */
export interface Session {
  readonly person: NonNullable<Me['person']>;
  readonly accounts: readonly Membership[];
  readonly deployment: Me['deployment'];
  readonly isOperator: boolean;
  /** The account that the pages are narrowed to, chosen by the switcher; null for all that the person sees. */
  readonly account: string | null;
  /** True where the person has the role in the account, or in any one if none is given. */
  may(access: Access, account?: string | null): boolean;
}

const ranks = { viewer: 0, member: 1, admin: 2 } as const;

const chosenAccount = new Choice<string | null>(recall('account'));
const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ me, children }: { readonly me: Me; readonly children: ReactNode }) {
  const chosen = useChoice(chosenAccount);
  const { person, accounts, deployment } = me;
  if (person === null) return null;
  const { isOperator } = person;
  const session: Session = {
    person,
    accounts,
    deployment,
    isOperator,
    account: accounts.some(({ id }) => id === chosen) ? chosen : null,
    may(access, account) {
      if (isOperator) return true;
      if (access === 'operator') return false;
      return accounts.some(
        ({ id, role }) =>
          ranks[role] >= ranks[access] && (account === undefined || account === null || id === account),
      );
    },
  };
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** The session, on a page inside of the shell. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('useSession needs a page inside of the shell.');
  return session;
}

export function chooseAccount(id: string | null): void {
  remember('account', id);
  chosenAccount.set(id);
}

import type { SessionView } from '@headgate/gateway/console';
import { createContext, type ReactNode, use, useLayoutEffect } from 'react';
import { showCurrency } from '../ui/money.ts';
import { Choice, useChoice } from './choice.ts';
import { recall, remember } from './tab-storage.ts';

/** A page, or an entry of the navigation, asks this of who looks at it. */
export type Access = Role | 'operator';

export type Role = SessionView['memberships'][number]['role'];

/** An account that the person belongs to, and as what. */
export interface AccountOfPerson {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** The person who is signed in, and what they may do. */
export interface Session {
  readonly person: NonNullable<SessionView['person']>;
  readonly accounts: readonly AccountOfPerson[];
  readonly deployment: SessionView['deployment'];
  readonly isOperator: boolean;
  /** The account that the pages are narrowed to, chosen by the switcher; null for all that the person sees. */
  readonly account: string | null;
  /** True where the person has the role in the account, or in any one if none is given. */
  may(access: Access, account?: string | null): boolean;
}

const ranks = { viewer: 0, member: 1, admin: 2 } as const;

const chosenAccount = new Choice<string | null>(recall('account'));
const SessionContext = createContext<Session | null>(null);

interface SessionProviderProps {
  readonly answer: SessionView;
  readonly children: ReactNode;
}

export function SessionProvider({
  answer: { person, memberships, deployment },
  children,
}: SessionProviderProps) {
  const chosen = useChoice(chosenAccount);
  if (person === null) return null;
  const accounts = memberships.map(({ account, role }) => ({ ...account, role }));
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

/** Amounts are shown in the deployment's currency from here on; before the page is painted, so that none of them changes under one's eyes. */
export function useCurrencyOf(deployment: SessionView['deployment'] | undefined): void {
  useLayoutEffect(() => {
    if (deployment !== undefined)
      showCurrency({ code: deployment.currency, perUsd: deployment.currencyPerUsd });
  }, [deployment]);
}

export function chooseAccount(id: string | null): void {
  remember('account', id);
  chosenAccount.set(id);
}

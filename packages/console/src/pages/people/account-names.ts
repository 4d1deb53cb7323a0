import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import type { Choosable } from '../../ui/field.tsx';

/** The accounts that the person manages, to choose from: all of them for an operator. */
export function useAccountNames(isNeeded = true): readonly Choosable[] {
  const { isOperator, accounts } = useSession();
  const all = useGet<{ readonly items: readonly { readonly id: string; readonly name: string }[] }>(
    '/accounts',
    { limit: 200 },
    { enabled: isOperator && isNeeded },
  );
  const own = accounts.filter(({ role }) => role === 'admin');
  return (isOperator ? (all.data?.items ?? []) : own).map(({ id, name }) => ({
    value: id,
    label: name || id,
  }));
}

import type { KeyChoicesView } from '@headgate/gateway/console';
import type { KeyPlatform } from './snippets.ts';

/** An account and a group of this platform that the person may make a key in; null where there is none. */
export function keyPlaceOf(
  platform: KeyPlatform,
  choices: KeyChoicesView | undefined,
  narrowed: string | null,
): { readonly account: string; readonly group: string } | null {
  const groups = choices?.groups.filter((group) => group.platform === platform) ?? [];
  const possible = choices?.accounts.filter(({ mayMake }) => mayMake) ?? [];
  const ordered = [...possible].sort(
    (one, other) => Number(other.id === narrowed) - Number(one.id === narrowed),
  );
  for (const account of ordered) {
    const group = groups.find(({ id }) => account.groups.includes(id));
    if (group !== undefined) return { account: account.id, group: group.id };
  }
  return null;
}

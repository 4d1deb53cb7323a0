import type { KeyChoicesView } from '@headgate/gateway/console';
import type { KeyPlatform } from './snippets.ts';

/** Keeps the groups that whoever asks may make keys of the account in. */
export function groupsOf<Group extends { readonly id: string }>(
  account: KeyChoicesView['accounts'][number] | undefined,
  groups: readonly Group[],
): readonly Group[] {
  if (account === undefined) return [];
  const own = account.groups;
  return own === null ? groups : groups.filter(({ id }) => own.includes(id));
}

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
    const group = groupsOf(account, groups)[0];
    if (group !== undefined) return { account: account.id, group: group.id };
  }
  return null;
}

/** Models that keys of a group may call. */
export function modelsOf(group: string, { groups, models }: KeyChoicesView): readonly string[] {
  const own = groups.find(({ id }) => id === group)?.models ?? null;
  return models.map(({ id }) => id).filter((id) => own === null || own.includes(id));
}

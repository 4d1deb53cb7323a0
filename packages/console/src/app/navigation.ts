import type { LinkOptions } from '@tanstack/react-router';
import { LayoutDashboard, type LucideIcon, ScrollText, Waypoints } from 'lucide-react';
import type { Access, Session } from './session.tsx';
import type { en } from './shell-texts.ts';

export interface NavigationEntry {
  readonly to: NonNullable<LinkOptions['to']>;
  /** The text `nav.NAME` of the shell. */
  readonly name: keyof typeof en extends infer Key ? (Key extends `nav.${infer Name}` ? Name : never) : never;
  readonly icon: LucideIcon;
  /** Who finds it there; the API decides for itself. */
  readonly access: Access;
}

/** The pages that can be gone to from everywhere, in sections; the first one has no heading. */
const sections: readonly {
  readonly name: 'usage' | 'gateway' | 'settings';
  readonly entries: readonly NavigationEntry[];
}[] = [
  {
    name: 'usage',
    entries: [
      { to: '/', name: 'overview', icon: LayoutDashboard, access: 'viewer' },
      { to: '/ledger', name: 'ledger', icon: ScrollText, access: 'viewer' },
    ],
  },
  {
    name: 'gateway',
    entries: [{ to: '/channels', name: 'channels', icon: Waypoints, access: 'operator' }],
  },
  { name: 'settings', entries: [] },
];

/** The sections with the entries that the person may use. */
export function navigationOf(session: Session) {
  return sections
    .map(({ name, entries }) => ({ name, entries: entries.filter(({ access }) => session.may(access)) }))
    .filter(({ entries }) => entries.length > 0);
}

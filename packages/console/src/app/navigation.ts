import type { LinkOptions } from '@tanstack/react-router';
import {
  BellRing,
  Boxes,
  Coins,
  HeartPulse,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  ReceiptText,
  Route,
  ScrollText,
  SlidersHorizontal,
  SquareTerminal,
  Tags,
  Users,
  Wallet,
  Waypoints,
  Webhook,
} from 'lucide-react';
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
      { to: '/keys', name: 'keys', icon: KeyRound, access: 'viewer' },
      { to: '/ledger', name: 'ledger', icon: ReceiptText, access: 'viewer' },
      { to: '/spend', name: 'spend', icon: Coins, access: 'viewer' },
      { to: '/playground', name: 'playground', icon: SquareTerminal, access: 'viewer' },
      { to: '/accounts', name: 'accounts', icon: Wallet, access: 'viewer' },
    ],
  },
  {
    name: 'gateway',
    entries: [
      { to: '/channels', name: 'channels', icon: Waypoints, access: 'operator' },
      { to: '/groups', name: 'groups', icon: Boxes, access: 'operator' },
      { to: '/models', name: 'models', icon: Tags, access: 'operator' },
      { to: '/routing', name: 'routing', icon: Route, access: 'operator' },
      { to: '/alerts', name: 'alerts', icon: BellRing, access: 'operator' },
      { to: '/webhooks', name: 'webhooks', icon: Webhook, access: 'operator' },
      { to: '/incidents', name: 'incidents', icon: HeartPulse, access: 'operator' },
    ],
  },
  {
    name: 'settings',
    entries: [
      { to: '/people', name: 'people', icon: Users, access: 'operator' },
      { to: '/audit', name: 'audit', icon: ScrollText, access: 'admin' },
      { to: '/settings', name: 'settings', icon: SlidersHorizontal, access: 'operator' },
    ],
  },
];

/** The sections with the entries that the person may use. */
export function navigationOf(session: Session) {
  return sections
    .map(({ name, entries }) => ({ name, entries: entries.filter(({ access }) => session.may(access)) }))
    .filter(({ entries }) => entries.length > 0);
}

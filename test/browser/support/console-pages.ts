import type { Planted } from './plant.ts';
import type { Role } from './roles.ts';

/** A page of the console, as the walk knows it. */
export interface ConsolePage {
  /** As the router of the console has it: a test compares. */
  readonly route: string;
  /** Its address, where it is the page of one thing. */
  readonly path?: (planted: Planted) => string;
  /** Who may see it, and by which name the API knows that; `anyone` without signing in. */
  readonly access: 'anyone' | 'viewer' | 'member' | 'admin' | 'operator';
  /** It has nothing that is fetched from the console's API, so that it can neither fail nor load. */
  readonly isStill?: boolean;
  /** The navigation leads to it. */
  readonly isInNavigation?: boolean;
}

/** All of them. */
export const consolePages: readonly ConsolePage[] = [
  { route: '/', access: 'viewer', isInNavigation: true },
  { route: '/keys', access: 'viewer', isInNavigation: true },
  { route: '/keys/$id', access: 'viewer', path: ({ key }) => `/keys/${key}` },
  { route: '/ledger', access: 'viewer', isInNavigation: true },
  { route: '/spend', access: 'viewer', isInNavigation: true },
  { route: '/calls/$id', access: 'viewer', path: ({ call }) => `/calls/${call}` },
  { route: '/playground', access: 'viewer', isInNavigation: true },
  { route: '/accounts', access: 'viewer', isInNavigation: true },
  { route: '/accounts/$id', access: 'viewer', path: ({ account }) => `/accounts/${account}` },
  { route: '/audit', access: 'admin', isInNavigation: true },
  { route: '/profile', access: 'viewer' },
  { route: '/channels', access: 'operator', isInNavigation: true },
  { route: '/channels/new', access: 'operator' },
  { route: '/channels/$id', access: 'operator', path: ({ channel }) => `/channels/${channel}` },
  { route: '/groups', access: 'operator', isInNavigation: true },
  { route: '/groups/$id', access: 'operator', path: ({ group }) => `/groups/${group}` },
  { route: '/models', access: 'operator', isInNavigation: true },
  { route: '/models/$id', access: 'operator', path: ({ model }) => `/models/${model}` },
  { route: '/routing', access: 'operator', isInNavigation: true, isStill: true },
  { route: '/alerts', access: 'operator', isInNavigation: true },
  { route: '/webhooks', access: 'operator', isInNavigation: true },
  { route: '/incidents', access: 'operator', isInNavigation: true },
  { route: '/people', access: 'operator', isInNavigation: true },
  { route: '/settings', access: 'operator', isInNavigation: true },
  { route: '/webhooks/$id', access: 'operator', path: ({ webhook }) => `/webhooks/${webhook}` },
  { route: '/usage', access: 'anyone', isStill: true },
  { route: '/sign-in', access: 'anyone' },
  { route: '/setup', access: 'anyone', isStill: true },
  { route: '/invitation', access: 'anyone', isStill: true },
  { route: '/password', access: 'anyone', isStill: true },
];

/** Pages with the navigation around them. */
export const framedPages = consolePages.filter(({ access }) => access !== 'anyone');

export function pathOf({ route, path }: ConsolePage, planted: Planted): string {
  return path?.(planted) ?? route;
}

export function mayOpen(role: Role, { access }: ConsolePage): boolean {
  if (access === 'anyone' || role === 'operator') return true;
  return access === 'admin' ? role === 'admin' : role !== 'anonymous' && access !== 'operator';
}

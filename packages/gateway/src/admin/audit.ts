import { randomBytes } from 'node:crypto';
import { type AuditMembers, type AuditNote, type NotedChanges, shownSides } from '../ports/audit.ts';
import type { Store } from '../ports/store.ts';
import { type Actor, nameOf } from './people/actor.ts';

/** Everything that a change is noted with: who asked, when, and the place of the notes. */
export interface AuditTools {
  readonly store: Pick<Store, 'audit'>;
  readonly actor: Actor;
  readonly nowMs: number;
}

/**
 * The members of each kind of thing that a note of a change may show. Whatever is not here is left out, so that a secret that a thing
 * gains one day is not in its notes.
 */
export const auditedMembers = {
  account: [
    'id',
    'name',
    'prepaid',
    'creditLimit',
    'showBalance',
    'showKeys',
    'groups',
    'budgets',
    'limits',
    'discount',
    'timezone',
    'alertAt',
    'amount',
    'reason',
    'reference',
    'force',
  ],
  group: [
    'id',
    'name',
    'platform',
    'models',
    'channels',
    'multiplier',
    'budgets',
    'limits',
    'timezone',
    'alertAt',
    'routing',
    'rescue',
  ],
  key: [
    'id',
    'name',
    'account',
    'group',
    'models',
    'status',
    'expires',
    'strict',
    'budgets',
    'limits',
    'addressRanges',
    'retiresAt',
    'replacedBy',
    'hint',
  ],
  channel: [
    ...['alias', 'maxConcurrency', 'hangUp', 'headers', 'timeouts', 'credential', 'credentials', 'lifted'],
    'id',
    'name',
    'provider',
    'baseUrl',
    'enabled',
    'drain',
    'models',
    'limits',
    'weight',
    'priority',
    'proxy',
    'allowPrivate',
    'public',
  ],
  credential: ['id', 'name', 'channel'],
  price: ['subject', 'from', 'tiers'],
  configuration: ['source', 'changes'],
  gateway: ['processId'],
  event: ['kind', 'subject'],
  webhook: [
    ...['event', 'phase', 'problem', 'description', 'address', 'kinds', 'severity', 'enabled'],
    ...['allowPrivate', 'formerUntil'],
  ],
  incident: ['en', 'zh'],
  maintenance: ['en', 'zh', 'startsAt', 'endsAt'],
  person: [
    ...['id', 'name', 'email', 'isOperator', 'isDisabled', 'language', 'theme', 'memberships', 'methods'],
    ...['how', 'reason', 'attempts'],
  ],
  session: ['id', 'personId', 'how'],
  setting: ['value'],
  invitation: ['id', 'email', 'isOperator', 'memberships'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type AuditedKind = keyof typeof auditedMembers;

/** A change as whoever made it tells of it. */
export interface AuditedChange {
  /** `key.create`, `account.change`: a noun and a verb. */
  readonly action: `${AuditedKind}.${string}`;
  readonly target: { readonly kind: AuditedKind; readonly id: string; readonly name?: string | null };
  readonly accountId: string | null;
  readonly before?: AuditMembers | null;
  readonly after?: AuditMembers | null;
}

/** Notes what was done outside of the store. */
export function writeAudit(tools: AuditTools, change: AuditedChange): Promise<void> {
  const { members: _, ...row } = noteOf(tools, change);
  return tools.store.audit.write(row);
}

/** The store, for one change that is noted: both are one transaction, so that nothing is changed without a row. */
export function noting(tools: AuditTools, ...changes: readonly AuditedChange[]): NotedChanges {
  return tools.store.audit.noting(changes.map((change) => noteOf(tools, change)));
}

function noteOf({ actor, nowMs }: AuditTools, change: AuditedChange): AuditNote {
  const { target, accountId, action } = change;
  const members = auditedMembers[target.kind];
  const [before, after] = shownSides(members, change.before ?? null, change.after ?? null);
  return {
    id: auditId(nowMs),
    atMs: nowMs,
    actor: {
      kind: actor.kind,
      personId: actor.kind === 'person' ? actor.personId : null,
      name: nameOf(actor),
    },
    action,
    target: { kind: target.kind, id: target.id, name: target.name ?? null },
    ...{ accountId, before, after, members, address: actor.address },
  };
}

/** Ids are in the order of their times, and within a millisecond in that of this process's own clock. */
function auditId(nowMs: number): string {
  const microseconds = Math.floor(performance.now() * 1000);
  return hex(nowMs) + hex(microseconds) + randomBytes(4).toString('hex');
}

function hex(value: number): string {
  return value.toString(16).padStart(12, '0').slice(-12);
}

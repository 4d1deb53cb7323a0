import { randomBytes } from 'node:crypto';
import type { AuditMembers, AuditRow } from '../ports/audit.ts';
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
const auditedMembers = {
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
  webhook: ['event', 'phase', 'problem'],
  incident: ['en', 'zh'],
  maintenance: ['en', 'zh', 'startsAt', 'endsAt'],
  person: [
    ...['id', 'name', 'email', 'isOperator', 'isDisabled', 'language', 'theme', 'memberships', 'methods'],
    ...['how', 'reason', 'attempts'],
  ],
  session: ['id', 'personId', 'how'],
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

const textLengthMax = 2_000;

/** Notes a change, in the call of the use case that made it. */
export function writeAudit({ store, actor, nowMs }: AuditTools, change: AuditedChange): Promise<void> {
  const { target, accountId, action } = change;
  const shown = (members: AuditMembers | null | undefined) => allowed(target.kind, members ?? null);
  const [before, after] = differing(shown(change.before), shown(change.after));
  const row: AuditRow = {
    id: auditId(nowMs),
    atMs: nowMs,
    actor: {
      kind: actor.kind,
      personId: actor.kind === 'person' ? actor.personId : null,
      name: nameOf(actor),
    },
    action,
    target: { kind: target.kind, id: target.id, name: target.name ?? null },
    ...{ accountId, before, after, address: actor.address },
  };
  return store.audit.write(row);
}

/** Ids are in the order of their times, and within a millisecond in that of this process's own clock. */
function auditId(nowMs: number): string {
  const microseconds = Math.floor(performance.now() * 1000);
  return hex(nowMs) + hex(microseconds) + randomBytes(4).toString('hex');
}

function hex(value: number): string {
  return value.toString(16).padStart(12, '0').slice(-12);
}

function allowed(kind: AuditedKind, members: AuditMembers | null): AuditMembers | null {
  if (members === null) return null;
  const names: readonly string[] = auditedMembers[kind];
  const kept = Object.entries(members).filter(([name, value]) => names.includes(name) && value !== undefined);
  return Object.fromEntries(kept.map(([name, value]) => [name, bounded(value)]));
}

/** Rows stay small, whatever a thing says. */
function bounded(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
  return text === undefined || text.length <= textLengthMax
    ? JSON.parse(text ?? 'null')
    : `${text.slice(0, textLengthMax)}…`;
}

/** A change shows what differs; of what was made or taken away there is one side alone. */
function differing(
  before: AuditMembers | null,
  after: AuditMembers | null,
): readonly [AuditMembers | null, AuditMembers | null] {
  if (before === null || after === null) return [before, after];
  const isSame = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  const changed = (members: AuditMembers) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !isSame(name)));
  return [changed(before), changed(after)];
}

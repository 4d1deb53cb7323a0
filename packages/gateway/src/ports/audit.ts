import type { AccountStore } from './accounts.ts';
import type { ConfigurationStore } from './configuration-store.ts';
import type { FactorStore } from './factors.ts';
import type { PeopleStore } from './people.ts';
import type { PersonLinkStore } from './person-links.ts';
import type { StatusStore } from './status.ts';

/** The members of a thing that an audit row may show. */
export type AuditMembers = Readonly<Record<string, unknown>>;

/** Something that a person or a program changed. */
export interface AuditRow {
  /** 32 hexadecimal digits that begin with its time. */
  readonly id: string;
  readonly atMs: number;
  readonly actor: {
    readonly kind: 'person' | 'operator-token' | 'command-line' | 'nobody';
    /** Null of what is no person. */
    readonly personId: string | null;
    readonly name: string;
  };
  /** `key.create`, `account.change`, `person.sign-in`. */
  readonly action: string;
  readonly target: { readonly kind: string; readonly id: string; readonly name: string | null };
  /** The account that it belongs to; null of what belongs to none. */
  readonly accountId: string | null;
  /** Null of what was made. */
  readonly before: AuditMembers | null;
  /** Null of what was taken away. */
  readonly after: AuditMembers | null;
  /** The address of whoever asked; null where there is none. */
  readonly address: string | null;
}

/** Rows that are asked for; what is left out does not restrict. */
export interface AuditFilter {
  readonly accounts: 'all' | readonly string[];
  readonly action?: string;
  readonly targetKind?: string;
  readonly targetId?: string;
  readonly personId?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** A row for a change that is about to be made. Where only the change can tell its sides, these members of them are shown. */
export interface AuditNote extends AuditRow {
  readonly members: readonly string[];
}

/** The parts of a store whose changes are noted. */
export interface NotedChanges {
  readonly configuration: ConfigurationStore;
  readonly accounts: AccountStore;
  readonly people: PeopleStore;
  readonly factors: FactorStore;
  readonly personLinks: PersonLinkStore;
  readonly status: StatusStore;
}

/** Keeps what was changed by whom: rows are added, and never changed. */
export interface AuditStore {
  write(row: AuditRow): Promise<void>;
  /** The store, for one change: it and its rows are one transaction, and a change that changes nothing writes none. */
  noting(notes: readonly AuditNote[]): NotedChanges;
  /** Newest first, from before an id where one is given. */
  list(filter: AuditFilter, limit: number, before: string | null): Promise<readonly AuditRow[]>;
}

/** The members of both sides that a row may show. A change shows what differs; of what was made or taken away there is one side alone. */
export function shownSides(
  names: readonly string[],
  before: AuditMembers | null,
  after: AuditMembers | null,
): readonly [AuditMembers | null, AuditMembers | null] {
  const [was, is] = [allowed(names, before), allowed(names, after)];
  if (was === null || is === null) return [was, is];
  const isSame = (name: string) => JSON.stringify(was[name]) === JSON.stringify(is[name]);
  const changed = (members: AuditMembers) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !isSame(name)));
  return [changed(was), changed(is)];
}

function allowed(names: readonly string[], members: AuditMembers | null): AuditMembers | null {
  if (members === null) return null;
  const kept = Object.entries(members).filter(([name, value]) => names.includes(name) && value !== undefined);
  return Object.fromEntries(kept.map(([name, value]) => [name, bounded(value)]));
}

const textLengthMax = 2_000;

/** Rows stay small, whatever a thing says. */
function bounded(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
  return text === undefined || text.length <= textLengthMax
    ? JSON.parse(text ?? 'null')
    : `${text.slice(0, textLengthMax)}…`;
}

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

/** Keeps what was changed by whom: rows are added, and never changed. */
export interface AuditStore {
  write(row: AuditRow): Promise<void>;
  /** Newest first, from before an id where one is given. */
  list(filter: AuditFilter, limit: number, before: string | null): Promise<readonly AuditRow[]>;
}

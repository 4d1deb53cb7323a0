import type { KeyStatus } from '../catalogue/catalogue.ts';
import type { DeclaredAccount, DeclaredGroup } from '../catalogue/entities.ts';
import type { DeclaredBudgets } from '../catalogue/limit-fields.ts';
import type { BudgetSpan } from '../catalogue/limits.ts';
import type { NanoUsd } from '../money/money.ts';
import type { Sourced, StoredKey } from './configuration-store.ts';
import type { LimitMeasure } from './leases.ts';

export const keyStates = ['active', 'retiring', 'disabled', 'expired', 'replaced', 'revoked'] as const;

/** The standing of a key now: one that was rotated is retiring, and is replaced when its grace is over. */
export type KeyState = (typeof keyStates)[number];

/** Accounts whose things are seen: ids, or all there are. */
export type AccountScope = 'all' | readonly string[];

export const keyOrders = ['-created', 'name', '-lastUsed', '-spend30d'] as const;

/** The order of a list; those with a sign have the greatest first. */
export type KeyOrder = (typeof keyOrders)[number];

/** Finds keys; what is left out does not restrict, but revoked ones are shown only where they are asked for. */
export interface KeyFilter {
  /** A part of the name, or of what is shown of the key, or the beginning of the id. */
  readonly text?: string | undefined;
  readonly state?: KeyState | undefined;
  readonly accountId?: string | undefined;
  readonly groupId?: string | undefined;
}

/** A place in a list: the value that it is ordered by, and the id. */
export type KeyPlace = readonly [value: string | number, id: string];

/** A budget with what was spent of it. */
export interface SpentBudget {
  readonly span: BudgetSpan;
  readonly amountNanoUsd: NanoUsd;
  readonly spentNanoUsd: NanoUsd;
  /** Null of one for good. */
  readonly resetsAtMs: number | null;
}

/** So much is taken of a rate of an owner. */
export interface TakenRate {
  readonly measure: LimitMeasure;
  /** Used within its window; nothing of what is only in use or not. */
  readonly used: number;
  /** Leased to processes, for calls that run or come. */
  readonly leased: number;
}

/** A key as lists show it. Its hash is not among what is shown. */
export interface ListedKey extends Omit<StoredKey, 'hash' | 'status'> {
  readonly state: KeyState;
  readonly status: KeyStatus;
  readonly accountName: string;
  readonly groupName: string;
  readonly platform: DeclaredGroup['platform'];
  /** Begin of the last quarter of an hour with a call; null of a key that was never used. */
  readonly lastUsedAtMs: number | null;
  /** Charges of the last 24 hours, and of the last 30 days of UTC. */
  readonly spentDayNanoUsd: NanoUsd;
  readonly spentMonthNanoUsd: NanoUsd;
  readonly budgetsSpent: readonly SpentBudget[];
  readonly place: KeyPlace;
}

/** Keys can be made of these. */
export interface KeyChoices {
  readonly accounts: readonly (DeclaredAccount & Sourced)[];
  readonly groups: readonly (DeclaredGroup & Sourced)[];
  readonly modelIds: readonly string[];
  readonly channelIds: readonly string[];
  /** Groups that each account has keys in, revoked ones left out. */
  readonly groupsInUse: ReadonlyMap<string, readonly string[]>;
}

/** Keys that may be used, by their account and by their group. */
export interface KeyCounts {
  readonly byAccount: ReadonlyMap<string, number>;
  readonly byGroup: ReadonlyMap<string, number>;
}

/** The charges of one day of UTC. */
export interface DaySpend {
  readonly startMs: number;
  readonly chargeNanoUsd: NanoUsd;
}

/** Keys as people look for them: found among ten thousand without reading them all, and sums without reading calls. */
export interface KeyDirectory {
  list(
    scope: AccountScope,
    filter: KeyFilter,
    order: KeyOrder,
    limit: number,
    after: KeyPlace | null,
  ): Promise<readonly ListedKey[]>;
  /** Null also where its account is not in the scope. */
  find(scope: AccountScope, id: string): Promise<ListedKey | null>;
  choices(scope: AccountScope): Promise<KeyChoices>;
  counts(): Promise<KeyCounts>;
  /** The budgets of an owner that are set, by its clocks. */
  budgets(
    subject: string,
    budgets: DeclaredBudgets | null,
    timeZone: string,
  ): Promise<readonly SpentBudget[]>;
  /** The rates of `account:ID`, `group:ID` or `key:ID` that something is taken of now. */
  rates(subject: string): Promise<readonly TakenRate[]>;
  /** Days that have charges to `account:ID`, `group:ID` or `key:ID`, the oldest first. */
  days(subject: string, sinceMs: number): Promise<readonly DaySpend[]>;
}

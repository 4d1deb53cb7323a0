/** The weight of an alert: somebody should do something now, soon, or know of it. */
export type Severity = 'error' | 'warning' | 'info';

/** Facts of an alert, named by whoever raises it. Private: they go to the log and to operators, never to a caller. */
export type AlertDetail = Readonly<Record<string, string | number>>;

/** How alerts of a kind become events: what happens again is the same event for a while. */
export interface AlertRow {
  readonly severity: Severity;
  /** The members of the detail that name what it is about, as `channel:main/gpt-5`; none where it is the whole gateway. */
  readonly subject: readonly string[];
  /** Further members that tell one event from another. */
  readonly also?: readonly string[];
  /** Alerts of the same that come so long after the last one are the same event, unless it has ended. */
  readonly foldMs: number;
}

const hourMs = 3_600_000;
/** Things that last are told of again by whoever meets them, and end when somebody says so. */
const dayMs = 24 * hourMs;
/** Once, however often it is told, until it is over: the event's own members say what it is once of. */
const once = Number.MAX_SAFE_INTEGER;

const target = ['channel', 'model'] as const;

/**
 * Things an operator should hear of, by name. Budgets are told of by `subject`, such as `account:acme`, and `window`, such as
 * `day 2026-11-23`: once for each window, however many processes notice; `endsAtMs` is when the window ends, and the event with it.
 * `balance-exhausted` has `account`, and is over when there is money again.
 */
export const alertKinds = {
  'balance-exhausted': { severity: 'error', subject: ['account'], foldMs: hourMs },
  'budget-exhausted': { severity: 'error', subject: ['subject'], also: ['window'], foldMs: once },
  'budget-threshold': { severity: 'warning', subject: ['subject'], also: ['window'], foldMs: once },
  bug: { severity: 'error', subject: [], also: ['error'], foldMs: hourMs },
  'channel-out-of-service': { severity: 'warning', subject: target, foldMs: dayMs },
  'configuration-incomplete': {
    severity: 'error',
    subject: ['subject'],
    also: ['problem'],
    foldMs: dayMs,
  },
  'configuration-refused': { severity: 'error', subject: ['file'], foldMs: dayMs },
  'configuration-withheld': { severity: 'error', subject: ['file'], foldMs: dayMs },
  'cost-drift': { severity: 'warning', subject: target, foldMs: dayMs },
  'credential-refused': { severity: 'error', subject: ['channel'], also: ['credential'], foldMs: hourMs },
  'disk-full': { severity: 'error', subject: [], foldMs: dayMs },
  'events-lost': { severity: 'warning', subject: [], foldMs: hourMs },
  'ledger-conflict': { severity: 'error', subject: [], foldMs: hourMs },
  'ledger-unavailable': { severity: 'error', subject: [], foldMs: hourMs },
  'missing-credential': { severity: 'error', subject: ['channel'], foldMs: dayMs },
  'model-missing-upstream': { severity: 'warning', subject: target, foldMs: dayMs },
  'odd-answer': { severity: 'info', subject: target, also: ['what'], foldMs: dayMs },
  'setting-left-out': { severity: 'warning', subject: ['setting'], foldMs: dayMs },
  'store-lost': { severity: 'error', subject: [], foldMs: dayMs },
  'thread-lost': { severity: 'warning', subject: ['thread'], also: ['why'], foldMs: hourMs },
  'unpriced-model': { severity: 'warning', subject: ['model'], foldMs: once },
  'unpriced-term': { severity: 'warning', subject: ['model'], also: ['term'], foldMs: dayMs },
  'webhook-failing': { severity: 'warning', subject: ['webhook'], foldMs: dayMs },
} as const satisfies Readonly<Record<string, AlertRow>>;

export type AlertKind = keyof typeof alertKinds;

export const alertKindNames = Object.keys(alertKinds) as readonly AlertKind[]; // The table has these keys and no others.

/** Names what an alert is about: `channel:main/gpt-5`, `account:acme`; empty where it is the whole gateway. */
export function subjectOf(kind: AlertKind, detail: AlertDetail): string {
  const row: AlertRow = alertKinds[kind];
  const [first] = row.subject;
  if (first === undefined) return '';
  const names = row.subject.flatMap((name) => detail[name] ?? []).join('/');
  return first === 'subject' ? names : `${first}:${names}`;
}

/** Two alerts of a kind with the same text here are the same event. */
export function foldOf(kind: AlertKind, detail: AlertDetail): string {
  const row: AlertRow = alertKinds[kind];
  return [subjectOf(kind, detail), ...(row.also ?? []).map((name) => String(detail[name] ?? ''))].join('\n');
}

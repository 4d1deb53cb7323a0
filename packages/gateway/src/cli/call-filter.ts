import { fail, type Result, succeed } from '@headgate/protocols';
import type { CallFilter } from '../ports/call-reports.ts';
import type { CallStatus } from '../ports/ledger.ts';
import { type CommandOption, readTime } from './command.ts';

const statuses: readonly CallStatus[] = [
  'open',
  'complete',
  'failed',
  'timed_out',
  'caller_gone',
  'limit_reached',
  'interrupted',
];

/** The options of every command that asks for calls. */
export const callFilterOptions = {
  since: { placeholder: 'TIME', help: 'Calls begun since a date or time, or the last 30m, 12h or 7d' },
  until: { placeholder: 'TIME', help: 'Calls begun before a date or time, or 30m, 12h or 7d ago' },
  model: { placeholder: 'ID', help: 'Calls of one model' },
  key: { placeholder: 'ID', help: 'Calls of one key' },
  account: { placeholder: 'ID', help: 'Calls of one account' },
  channel: { placeholder: 'ID', help: 'Calls answered by one channel' },
  tag: { placeholder: 'TAG', help: 'Calls that their caller has labelled so' },
  status: { placeholder: 'STATUS', help: statuses.join(', ') },
  billed: { placeholder: 'yes|no', help: 'Calls that were billed, or that were not' },
} as const satisfies Readonly<Record<string, CommandOption>>;

const spanMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds since the epoch of a moment, or of so long ago; null for anything else. */
export function readMoment(text: string, nowMs: number): number | null {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count === undefined) return readTime(text);
  return nowMs - Number(count) * spanMs[unit === 'm' || unit === 'h' ? unit : 'd'];
}

/** Reads the filter; the error says what is wrong. Without a beginning it is so many days ago. */
export function readCallFilter(
  options: Readonly<Record<string, string>>,
  nowMs: number,
  daysBack: number,
): Result<CallFilter, string> {
  const { since = `${daysBack}d`, until, account, key, channel, model, tag, status, billed } = options;
  const fromMs = readMoment(since, nowMs);
  const toMs = until === undefined ? undefined : readMoment(until, nowMs);
  if (fromMs === null || toMs === null)
    return fail('--since and --until must be dates or times such as 2026-11-21T08:00Z, or 30m, 12h or 7d');
  if (toMs !== undefined && toMs <= fromMs) return fail('--until must be later than --since');
  const known = statuses.find((name) => name === status);
  if (status !== undefined && known === undefined)
    return fail(`--status must be one of ${statuses.join(', ')}`);
  if (billed !== undefined && billed !== 'yes' && billed !== 'no') return fail('--billed must be yes or no');
  return succeed({
    fromMs,
    ...(toMs === undefined ? {} : { toMs }),
    ...(account === undefined ? {} : { accountId: account }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(channel === undefined ? {} : { channelId: channel }),
    ...(model === undefined ? {} : { model }),
    ...(tag === undefined ? {} : { tag }),
    ...(known === undefined ? {} : { status: known }),
    ...(billed === undefined ? {} : { billed: billed === 'yes' }),
  });
}

/** A whole number of an option within bounds; null when it is none. */
export function readCount(text: string | undefined, max: number, absent: number): number | null {
  if (text === undefined) return absent;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= max ? count : null;
}

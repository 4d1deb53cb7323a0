import type { HoldRefusal, Standing } from '../ports/holds.ts';
import { rateSlotMs } from '../ports/leases.ts';
import type { Known, Lease } from './lease.ts';

/** Calls that run end at times that nobody knows. */
const placeFreedMs = 1_000;

/** A limit as it stands, and what has happened of it since the store was asked. */
interface Count {
  readonly kind: Standing['kind'];
  readonly amount: bigint;
  readonly left: bigint;
  readonly resetsAtMs: number | null;
}

/** The limits that a lease is of, as this process knows them: nothing where it has not asked yet. */
export function standingsOf(lease: Lease, nowMs: number): readonly Standing[] {
  const { known, limit } = lease;
  if (known === null) return [];
  const { owner, id } = limit.of;
  return countsOf(lease, known, nowMs).map(({ kind, amount, left, resetsAtMs }) => {
    const remaining = left < 0n ? 0n : left > amount ? amount : left;
    return { owner, id, kind, model: limit.model, amount, remaining, resetsAtMs };
  });
}

/** The amount less what is used, and less what calls of this process hold. */
function countsOf(lease: Lease, known: Known, nowMs: number): readonly Count[] {
  const { rate } = lease.limit;
  return rate === null ? moneyOf(lease, known, nowMs) : [{ kind: rate, ...rateOf(lease, known, nowMs) }];
}

function moneyOf({ free, limit }: Lease, { grant, budgets }: Known, nowMs: number): readonly Count[] {
  const held = grant.own - free;
  const counts: Count[] = budgets.map(({ span, amount, toMs, fromMs }, at) => {
    // A window that has begun since has nothing spent in it.
    const isNow = fromMs <= nowMs && nowMs < toMs;
    const spent = isNow ? (grant.spent[at] ?? 0n) : 0n;
    const endMs = isNow ? toMs : limit.windows.at(span, nowMs).toMs;
    return { kind: span, amount, left: amount - spent - held, resetsAtMs: span === 'total' ? null : endMs };
  });
  if (grant.balance === null) return counts;
  const available = grant.balance + (limit.of.creditLimitNanoUsd ?? 0n);
  const amount = available > 0n ? available : 0n;
  return [{ kind: 'balance', amount, left: available - held, resetsAtMs: null }, ...counts];
}

function rateOf({ free, limit }: Lease, { grant }: Known, nowMs: number): Omit<Count, 'kind'> {
  const { windowMs, amount } = limit;
  let left = amount - (grant.own - free);
  if (windowMs === null) return { amount, left, resetsAtMs: null };
  const leaves = leavesOf(grant.slots, windowMs).filter(({ atMs }) => atMs > nowMs);
  for (const { used } of leaves) left -= BigInt(used);
  const slotMs = rateSlotMs(windowMs);
  const soon = nowMs - (nowMs % slotMs) + windowMs + slotMs;
  return { amount, left, resetsAtMs: left >= amount ? null : (leaves[0]?.atMs ?? soon) };
}

/** When each slot will have left the window. */
function leavesOf(slots: readonly number[], windowMs: number) {
  const stayMs = windowMs + rateSlotMs(windowMs);
  const leaves: { atMs: number; used: number }[] = [];
  for (let at = 0; at + 1 < slots.length; at += 2)
    leaves.push({ atMs: (slots[at] ?? 0) + stayMs, used: slots[at + 1] ?? 0 });
  return leaves;
}

/** Why a lease cannot be had: its limit, and by when it can. */
export function refusalOf(lease: Lease, need: bigint, nowMs: number): HoldRefusal {
  const standings = standingsOf(lease, nowMs);
  const short = standings.filter(({ remaining }) => remaining < need);
  // The one that is there again last, or never, decides; where none is short by what is known, the one with the least left.
  const last = (a: Standing, b: Standing) =>
    (b.resetsAtMs ?? Infinity) > (a.resetsAtMs ?? Infinity) ? b : a;
  const least = (a: Standing, b: Standing) => (b.remaining < a.remaining ? b : a);
  const [first] = standings;
  if (first === undefined) return { kind: 'store-unavailable' };
  const limit = short.length > 0 ? short.reduce(last) : standings.reduce(least, first);
  return { kind: 'exceeded', limit, retryAfterMs: retryAfter(lease, limit, need, nowMs) };
}

function retryAfter(lease: Lease, standing: Standing, need: bigint, nowMs: number): number | null {
  const { windowMs, rate, amount } = lease.limit;
  if (need > (rate === null ? standing.amount : amount) && standing.kind !== 'balance') return null;
  if (rate === null) return standing.resetsAtMs === null ? null : Math.max(1, standing.resetsAtMs - nowMs);
  if (windowMs === null) return placeFreedMs;
  let left = standing.remaining;
  for (const { atMs, used } of leavesOf(lease.known?.grant.slots ?? [], windowMs)) {
    if (atMs <= nowMs) continue;
    left += BigInt(used);
    if (left >= need) return Math.max(1, Math.ceil(atMs - nowMs));
  }
  return windowMs;
}

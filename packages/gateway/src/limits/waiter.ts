import type { Lease, Waiter } from './lease.ts';

/** Takes its place at a lease, behind who came earlier. */
export function waitAt(lease: Lease, waiter: Waiter): void {
  if (waiter.places.includes(lease)) return;
  const { waiters } = lease;
  let at = waiters.length;
  while (at > 0 && (waiters[at - 1]?.number ?? 0) > waiter.number) at--;
  waiters.splice(at, 0, waiter);
  waiter.places.push(lease);
}

/** Leaves all its places. Returns the leases that others wait for behind it. */
export function leavePlaces(waiter: Waiter): readonly Lease[] {
  const left = waiter.places.splice(0);
  for (const { waiters } of left) waiters.splice(waiters.indexOf(waiter), 1);
  return left;
}

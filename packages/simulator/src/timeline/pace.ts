import type { Ending, FrameRole, Items } from './frame.ts';

export interface Pacing {
  /** From the request's arrival to the first frame. */
  readonly ttftMs: number;
  /** Between content frames. */
  readonly intervalMs: number;
  /** Silence after which a comment is sent; null never. With it the head is sent at once. */
  readonly keepAliveMs: number | null;
  /** Whether a comment precedes every frame. */
  readonly comments: boolean;
}

export interface TimedFrame {
  /** Since the request's arrival; Infinity for what never comes. Never less than the frame before it. */
  readonly atMs: number;
  readonly role: FrameRole | 'comment';
  readonly text: string;
}

const comment = ': simulated\n\n';

/** Gives every frame its time and fills silences with comments, for ever if the silence lasts for ever. */
export function* pace(items: Items, pacing: Pacing): Generator<TimedFrame, Ending, undefined> {
  const headMs = pacing.keepAliveMs === null ? pacing.ttftMs : 0;
  let atMs = headMs;
  let lastMs = Number.POSITIVE_INFINITY;
  for (;;) {
    const next = items.next();
    if (next.done === true) return next.value;
    const item = next.value;
    if (item.kind === 'pause') {
      atMs += item.ms;
      continue;
    }
    if (pacing.keepAliveMs !== null) yield* keepAlive(lastMs, atMs, pacing.keepAliveMs);
    if (pacing.comments && item.role !== 'head') yield { atMs, role: 'comment', text: comment };
    yield { atMs, role: item.role, text: item.text };
    lastMs = atMs;
    if (item.role === 'head') atMs += pacing.ttftMs - headMs;
    if (item.role === 'content') atMs += pacing.intervalMs;
  }
}

/** Before the head `fromMs` is Infinity, and nothing is sent. */
function* keepAlive(fromMs: number, toMs: number, everyMs: number): Generator<TimedFrame, void, undefined> {
  for (let atMs = fromMs + everyMs; atMs < toMs; atMs += everyMs)
    yield { atMs, role: 'comment', text: comment };
}

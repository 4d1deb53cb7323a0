import { expect, test } from 'vitest';
import type { Target } from '../catalogue/catalogue.ts';
import { failuresKept } from '../ports/channel-history.ts';
import type { AttemptEntry } from '../ports/ledger.ts';
import type { EndedAttempt } from '../ports/observer.ts';
import type { Outcome } from '../route/outcome.ts';
import { sampleAttempt, sampleEntry, traceId } from '../store/contract/samples.ts';
import { StatusTally } from './tally.ts';

const target = { channel: { id: 'a' }, upstreamModel: 'up' } as Target;
const reading = null as never;

function refused(kind: 'rate-limited' | 'model-missing' | 'invalid-request'): Outcome {
  return { kind: 'refused', refusal: { kind, message: 'no' }, retryAfterMs: null } as Outcome;
}

function count(tally: StatusTally, n: number, ...outcomes: readonly Outcome[]): void {
  const ended: EndedAttempt[] = outcomes.map((outcome) => ({ target, outcome, ttftMs: null }));
  const attempts: AttemptEntry[] = outcomes.map((_, at) => ({
    ...sampleAttempt(),
    detail: `words ${n}.${at}`,
  }));
  tally.callFinished(sampleEntry({ traceId: traceId(n), attempts }), ended);
}

test('failures of a channel are counted by kind, and kept with their calls and words', () => {
  const tally = new StatusTally(() => false);
  const stalled: Outcome = { kind: 'timed-out', phase: 'stall', committed: true, reading };
  count(tally, 1, refused('rate-limited'), { kind: 'answered', reading });
  count(tally, 2, refused('rate-limited'), stalled);
  count(tally, 3, refused('invalid-request'));
  const [cell] = tally.take();
  expect(cell).toMatchObject({ kind: 'channel', name: 'a', good: 1, bad: 3 });
  expect(cell?.faults?.split(' ').toSorted()).toEqual(['rate-limited:2', 'stalled-after-content:1']);
  expect(tally.takeFailures()).toMatchObject([
    { channelId: 'a', traceId: traceId(1), kind: 'rate-limited', words: 'words 1.0', upstreamModel: 'up' },
    { traceId: traceId(2), kind: 'rate-limited', words: 'words 2.0' },
    { traceId: traceId(2), kind: 'stalled-after-content', words: 'words 2.1' },
  ]);
  expect([tally.take(), tally.takeFailures()]).toEqual([[], []]);
});

test('a model that is not known there is a failure to be seen, and no bad call of the channel', () => {
  const tally = new StatusTally(() => false);
  count(tally, 1, refused('model-missing'));
  expect(tally.take()).toEqual([]);
  expect(tally.takeFailures()).toMatchObject([{ kind: 'model-missing' }]);
});

test('an outage holds no more memory than the failures that are kept', () => {
  const tally = new StatusTally(() => false);
  for (let n = 0; n < 1000; n++) count(tally, n, refused('rate-limited'));
  const kept = tally.takeFailures();
  expect(kept).toHaveLength(failuresKept);
  expect(kept.at(-1)).toMatchObject({ traceId: traceId(999) });
});

import { fault } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import type { Target } from '../catalogue/catalogue.ts';
import { failuresKept } from '../ports/channel-history.ts';
import type { AttemptEntry, CallEntry } from '../ports/ledger.ts';
import type { EndedAttempt } from '../ports/observer.ts';
import { cellMs } from '../ports/status.ts';
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

describe('a call', () => {
  const answered: Outcome = { kind: 'answered', reading };
  const entry = sampleEntry({ modelRequested: 'm', ttftMs: 300, overheadUs: 900, attempts: [] });
  const bad = { ...entry, status: 'failed', errorCode: 'upstream_unavailable', ttftMs: null } as const;
  const other = { channel: { id: 'b' }, upstreamModel: 'up' } as Target;
  const told = (tally: StatusTally) =>
    tally
      .take()
      .map(({ kind, name, good, bad: failed }) => `${kind} ${name}: ${good}/${failed}`.replace('  ', ' '));

  test('that another channel saved is good for its model and bad for the channel that failed', () => {
    const tally = new StatusTally(() => true);
    const attempts = [
      { target, outcome: refused('rate-limited'), ttftMs: null },
      { target: other, outcome: answered, ttftMs: 300 },
    ];
    for (let n = 0; n < 3; n++) tally.callFinished(entry, attempts);
    expect(told(tally)).toEqual(['model m: 3/0', 'channel a: 0/3', 'channel b: 3/0', 'gateway : 3/0']);
  });

  test.each<[string, CallEntry, Outcome]>([
    [
      'whose request was wrong',
      { ...bad, unbilledReason: 'refused_by_upstream' },
      refused('invalid-request'),
    ],
    [
      'that the gateway refused for its own fault',
      { ...bad, unbilledReason: 'refused_by_gateway', errorCode: 'invalid_request' },
      refused('invalid-request'),
    ],
    [
      'that its caller left',
      { ...bad, status: 'caller_gone' },
      { kind: 'caller-gone', committed: false, reading },
    ],
    [
      'that reached its own limit',
      { ...bad, status: 'limit_reached' },
      { kind: 'over-limit', committed: true, reading, producedTokens: 1, fault: fault('rate_limited') },
    ],
    ['that counts tokens', { ...entry, unbilledReason: 'token_count' }, answered],
  ])('%s says nothing of model or channel', (_, ended, outcome) => {
    const tally = new StatusTally(() => true);
    // The first of a cell begins its counts, the next ones are counted on the short way.
    tally.callFinished(entry, [{ target, outcome: answered, ttftMs: 300 }]);
    for (let n = 0; n < 3; n++) tally.callFinished(ended, [{ target, outcome, ttftMs: null }]);
    expect(told(tally)).toEqual(['model m: 1/0', 'channel a: 1/0', 'gateway : 1/0']);
  });

  test('that no channel answered is bad for both, and one for a model that is none is counted nowhere', () => {
    const tally = new StatusTally((name) => name === 'm');
    tally.callFinished({ ...bad, unbilledReason: 'upstream_failed' }, [
      { target, outcome: refused('rate-limited'), ttftMs: null },
    ]);
    tally.callFinished({ ...bad, modelRequested: 'made up' }, []);
    expect(told(tally)).toEqual(['model m: 0/1', 'channel a: 0/1', 'gateway : 0/1']);
  });

  test('of another cell has counts of its own, whichever way it is counted', () => {
    const tally = new StatusTally(() => true);
    const well = [{ target, outcome: answered, ttftMs: 300 }];
    for (const finishedAtMs of [0, 1, cellMs, cellMs + 1, cellMs + 2])
      tally.callFinished({ ...entry, finishedAtMs }, well);
    const cells = tally.take().filter(({ kind }) => kind === 'model');
    expect(cells.map(({ startMs, good, spread }) => [startMs, good, spread])).toEqual([
      [0, 2, '66:2'],
      [cellMs, 3, '66:3'],
    ]);
  });
});

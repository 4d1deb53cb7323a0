import { noUsage } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { nanoUsd } from '../../packages/gateway/src/money/money.ts';
import type { LedgerRecord } from '../../packages/gateway/src/ports/store.ts';
import { checkLedger } from './ledger-check.ts';
import type { SeenCall } from './run.ts';
import { surfaceAt } from './surface.ts';

const scene = { models: [{ id: 'm', inputUsd: 2, outputUsd: 3 }], channels: [] };

const call: SeenCall = {
  id: 'live-1',
  phase: 'steady',
  surface: surfaceAt(0),
  model: 'm',
  answer: {
    ending: 'answered',
    status: 200,
    traceId: 'abc',
    usage: { input: 10, output: 7 },
    isRescued: false,
    firstContentMs: 1,
    durationMs: 2,
  },
};

const entry: LedgerRecord = {
  traceId: 'abc',
  accountId: 'a',
  keyId: 'k',
  groupId: 'g',
  surface: 'chat-completions',
  modelRequested: 'm',
  stream: true,
  startedAtMs: 0,
  priceVersion: 'p',
  multiplierPpm: 1_000_000n,
  clientRequestId: 'live-1',
  parentTrace: null,
  userAgent: null,
  tag: null,
  status: 'complete',
  unbilledReason: null,
  channelId: 'c',
  modelServed: 'm',
  usage: { ...noUsage, inputFresh: 10, output: 7 },
  usageSource: 'upstream',
  parts: null,
  terms: null,
  chargeNanoUsd: nanoUsd(41_000n),
  leased: 0,
  finishReason: 'stop',
  finishReasonRaw: 'stop',
  httpStatus: 200,
  errorCode: null,
  losses: [],
  ttftMs: 1,
  durationMs: 2,
  overheadUs: 1,
  finishedAtMs: 2,
  attempts: [],
  route: null,
};

const cut: SeenCall = { ...call, answer: { ...call.answer, ending: 'cut', usage: null } };
const failed: Partial<LedgerRecord> = { status: 'failed', chargeNanoUsd: nanoUsd(0n) };

test.each([
  ['one entry that fits', [call], [entry], []],
  ['a call that was cut and costs nothing', [cut], [{ ...entry, ...failed }], []],
  ['no entry', [call], [], ['live-1 has no entry']],
  ['two entries', [call], [entry, entry], ['live-1 has 2 entries']],
  ['an entry too many', [], [entry], ['an entry of live-1, who never called']],
  ['another trace id', [call], [{ ...entry, traceId: 'x' }], ['live-1: the trace id was abc and is x']],
  [
    'another charge',
    [call],
    [{ ...entry, chargeNanoUsd: nanoUsd(41_001n) }],
    ['live-1: the charge was 41000 and is 41001'],
  ],
  [
    'a charge for what was cut',
    [cut],
    [{ ...entry, status: 'failed' as const }],
    ['live-1: the charge was 0 and is 41000'],
  ],
  [
    'an end the caller did not see',
    [cut],
    [entry],
    ['live-1: answered was false and is true', 'live-1: the charge was 0 and is 41000'],
  ],
])('%s', (_, calls, entries, complaints) => {
  expect(checkLedger(scene, calls, { entries, findings: [] }).complaints).toEqual(complaints);
});

test('what the ledger finds broken in itself', () => {
  const findings = [{ rule: 'r', subject: 's', detail: 'd' }];
  expect(checkLedger(scene, [], { entries: [], findings }).complaints).toEqual(['r: s: d']);
});

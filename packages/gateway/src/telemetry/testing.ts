import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noUsage } from '@headgate/protocols';
import { nanoUsd } from '../money/money.ts';
import type { AttemptEntry, CallEntry } from '../ports/ledger.ts';
import { type Log, type LoggerOptions, openLog } from './logger.ts';

const answeredAttempt: AttemptEntry = {
  n: 1,
  channelId: 'channel-a',
  upstreamModel: 'small-1',
  upstreamRequestId: 'req_1',
  result: 'answered',
  detail: null,
  httpStatus: 200,
  ttftMs: 90,
  durationMs: 240,
  usage: { ...noUsage, inputFresh: 100, output: 20 },
  costNanoUsd: nanoUsd(1_000n),
  lane: 'passthrough',
  edits: ['model'],
  statedCostNanoUsd: null,
};

/** An entry of a call that went well, for tests to change. */
export const completeEntry: CallEntry = {
  traceId: '0190c0ffee0190c0ffee0190c0ffee01',
  accountId: 'account-1',
  keyId: 'key-1',
  groupId: 'group-1',
  surface: 'chat-completions',
  modelRequested: 'small',
  stream: true,
  startedAtMs: 1_700_000_000_000,
  priceVersion: 'price-1',
  multiplierPpm: 1_000_000n,
  clientRequestId: null,
  parentTrace: null,
  userAgent: 'client/1.0',
  tag: null,
  status: 'complete',
  unbilledReason: null,
  channelId: 'channel-a',
  modelServed: 'small-1-0101',
  usage: { ...noUsage, inputFresh: 100, inputCacheRead: 50, output: 20 },
  usageSource: 'upstream',
  parts: null,
  terms: null,
  chargeNanoUsd: nanoUsd(1_234_567n),
  leased: 0,
  finishReason: 'stop',
  finishReasonRaw: 'stop',
  httpStatus: 200,
  errorCode: null,
  losses: [],
  ttftMs: 91.234567,
  durationMs: 241.5,
  overheadUs: 180,
  route: null,
  finishedAtMs: 1_700_000_000_241,
  attempts: [answeredAttempt],
};

/** Runs against a log in a directory of its own and gives the lines that reached the file. */
export async function linesWritten(
  options: Omit<LoggerOptions, 'destination'>,
  write: (log: Log) => void,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'headgate-log-'));
  try {
    const destination = join(directory, 'log');
    const log = openLog({ ...options, destination });
    write(log);
    await log.sink.flush();
    return (await readFile(destination, 'utf8')).split('\n').slice(0, -1);
  } finally {
    await rm(directory, { recursive: true });
  }
}

import { totalInput, totalOutput } from '@headgate/protocols';
import type { CallEntry } from '../ports/ledger.ts';
import { quoteLogText } from './log-text.ts';

const levelInfo = 30;
const levelWarn = 40;

/**
 * The one log line of a finished call, as JSON with its line feed. It is put together by hand because every call pays for
 * it: a third of what a general serialiser takes. No body, no header but the caller's own ids, no credential.
 */
export function callLogLine(entry: CallEntry): string {
  const level = entry.status === 'failed' || entry.status === 'timed_out' ? levelWarn : levelInfo;
  return (
    `{"level":${level},"time":${entry.finishedAtMs},"traceId":"${entry.traceId}"` +
    `,"accountId":${quoteLogText(entry.accountId)},"keyId":${quoteLogText(entry.keyId)},"groupId":${quoteLogText(entry.groupId)}` +
    `,"surface":"${entry.surface}","model":${quoteLogText(entry.modelRequested)},"stream":${entry.stream}` +
    `,"status":"${entry.status}","httpStatus":${entry.httpStatus}` +
    textField('errorCode', entry.errorCode) +
    textField('unbilledReason', entry.unbilledReason) +
    textField('channelId', entry.channelId) +
    textField('finishReason', entry.finishReason) +
    textField('clientRequestId', entry.clientRequestId) +
    textField('userAgent', entry.userAgent) +
    `,"attempts":${entry.attempts.length},"inputTokens":${totalInput(entry.usage)},"outputTokens":${totalOutput(entry.usage)}` +
    `,"chargeNanoUsd":"${entry.chargeNanoUsd}","ttftMs":${rounded(entry.ttftMs)},"durationMs":${rounded(entry.durationMs)}` +
    `,"overheadUs":${rounded(entry.overheadUs)},"msg":"call"}\n`
  );
}

function textField(name: string, value: string | null): string {
  return value === null ? '' : `,"${name}":${quoteLogText(value)}`;
}

/** Hundredths are enough, and a long fraction is slow to print. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100) / 100;
}

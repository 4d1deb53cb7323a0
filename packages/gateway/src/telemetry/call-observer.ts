import { totalInput, totalOutput } from '@headgate/protocols';
import type { AlertKind } from '../catalogue/alert-kinds.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventSink } from '../ports/events.ts';
import type { CallEntry } from '../ports/ledger.ts';
import type { LiveSink } from '../ports/live.ts';
import type { Observer, Refusal } from '../ports/observer.ts';
import type { StatusSink } from '../ports/status-sink.ts';
import { type Log, quoteLogText } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** The same alert about the same thing is logged once in this time; every one is counted. */
const alertQuietMs = 60_000;
/** Nothing mends these but the operator, and no call makes them worse. */
const longQuietMs: Readonly<Partial<Record<AlertKind, number>>> = {
  'cost-drift': 3_600_000,
  'unpriced-model': 3_600_000,
  'unpriced-term': 3_600_000,
};
/** Things remembered as alerted; beyond it some alerts are repeated sooner. */
const alertsMax = 1000;
/** Refusals of one kind get one line in this time, so that a flood of them cannot drown the log; every one is counted. */
const refusalQuietMs = 1000;

export interface CallObserverOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly events: EventSink;
  readonly live: LiveSink;
  readonly status: StatusSink;
  readonly clock: Clock;
  /** `callLog`: true while finished calls are logged, a line each. */
  readonly settings: { readonly callLog: boolean };
  /** Hears by its id of a credential that an upstream has refused. */
  readonly onRefused: (credentialId: string) => void;
}

/** Counts what the pipeline reports, logs it, and hands on what operators should hear of. */
export function createCallObserver(options: CallObserverOptions): Observer {
  const { log, metrics, events, live, status, clock, settings, onRefused } = options;
  const alerted = new Map<string, number>();
  const logRefusal = refusalLog(log, clock);

  const isNews = (about: string, quietMs: number): boolean => {
    const now = clock.monotonic();
    const last = alerted.get(about);
    if (last !== undefined && now - last < quietMs) return false;
    if (alerted.size >= alertsMax) alerted.clear();
    alerted.set(about, now);
    return true;
  };

  return {
    callStarted() {
      metrics.callStarted();
    },
    callFinished(entry, attempts) {
      metrics.callFinished(entry);
      status.tally.callFinished(entry, attempts);
      if (live.isWatched) live.callEnded(entry);
      if (settings.callLog) log.sink.write(callLogLine(entry));
    },
    refused(refusal) {
      metrics.refused(refusal);
      logRefusal(refusal);
    },
    rescued(end) {
      metrics.rescued(end);
    },
    probed(target, modelId, outcome) {
      metrics.service.probed(target.channel.id, outcome.kind);
      status.probed(target, modelId, outcome);
    },
    serviceChanged(change, channelId, model) {
      live.serviceChanged(change, channelId, model);
      const kind = 'channel-out-of-service';
      if (change.kind === 'back') {
        events.over(kind, { channel: channelId, model });
        log.logger.info('back in service', { channelId, model, durationMs: Math.round(change.afterMs) });
        return;
      }
      metrics.service.ejected(channelId);
      const { cause: reason, forMs } = change;
      metrics.alertRaised(kind);
      events.raise(kind, { channel: channelId, model, reason });
      const fields = { channelId, model, reason, durationMs: Math.round(forMs) };
      log.logger.warn('out of service after failures', fields);
    },
    alert(kind, detail) {
      metrics.alertRaised(kind);
      events.raise(kind, detail);
      if (kind === 'credential-refused') onRefused(String(detail.credential));
      // A dead credential fails every call that tries it: the operator needs to hear of it once, not at that rate.
      const about = [kind, detail.channel, detail.model, detail.credential, detail.traceId].join('\n');
      if (isNews(about, longQuietMs[kind] ?? alertQuietMs))
        log.logger.error('alert', { alert: kind, detail });
    },
    alertOver(kind, detail) {
      events.over(kind, detail);
    },
  };
}

/** Logs refusals: the first of its kind in a while, with how many there were since the one before. */
function refusalLog(log: Log, clock: Clock): (refusal: Refusal) => void {
  const refusals = new Map<string, { loggedAt: number; unlogged: number }>();

  return ({ platform, code, status, traceId }: Refusal): void => {
    const kind = [platform, code, status].join(' ');
    const now = clock.monotonic();
    const past = refusals.get(kind) ?? { loggedAt: Number.NEGATIVE_INFINITY, unlogged: 0 };
    refusals.set(kind, past);
    past.unlogged += 1;
    if (now - past.loggedAt < refusalQuietMs) return;
    // The count is of all since the line before, of which this one is named.
    log.logger.info('refused', { traceId, count: past.unlogged, detail: { platform, code, status } });
    past.loggedAt = now;
    past.unlogged = 0;
  };
}

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

import type { Observer } from '../ports/observer.ts';
import { callLogLine } from './call-log.ts';
import type { Log } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Counts what the pipeline reports, and logs it; `logsCalls`: finished calls, too, a line each. */
export function createCallObserver(log: Log, metrics: Metrics, logsCalls: boolean): Observer {
  return {
    callStarted() {
      metrics.callStarted();
    },
    callFinished(entry) {
      metrics.callFinished(entry);
      if (logsCalls) log.sink.write(callLogLine(entry));
    },
    alert(kind, detail) {
      metrics.alertRaised(kind);
      log.logger.error('alert', { alert: kind, detail });
    },
  };
}

import type { Observer } from '../ports/observer.ts';
import { callLogLine } from './call-log.ts';
import type { Log } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Logs and counts what the pipeline reports. */
export function createCallObserver(log: Log, metrics: Metrics): Observer {
  return {
    callStarted() {
      metrics.callStarted();
    },
    callFinished(entry) {
      metrics.callFinished(entry);
      log.sink.write(callLogLine(entry));
    },
    alert(kind, detail) {
      metrics.alertRaised(kind);
      log.logger.error('alert', { alert: kind, detail });
    },
  };
}

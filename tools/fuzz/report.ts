import type { FuzzResult } from './run.ts';

/** No process of the gateway may have more, together. */
const peakMibMax = 1024;
/** A bystander waits for its turn among callers who never pause. */
const bystanderP99MsMax = 1000;
/** Between two processes there are more waits for a core than in a call without a gateway. */
const machineRatio = 5;

/** Everything that a run broke. */
export function brokenBounds(result: FuzzResult): readonly string[] {
  return [...unsoundness(result), ...delays(result)];
}

/** A bystander waited too long, and all else holds. */
export function isOnlyLate(result: FuzzResult): boolean {
  return unsoundness(result).length === 0 && delays(result).length > 0;
}

/** What no machine is the cause of. */
function unsoundness({ complaints, peakMib }: FuzzResult): readonly string[] {
  if (peakMib <= peakMibMax) return complaints;
  return [...complaints, `it had ${Math.round(peakMib)} MiB of memory, of ${peakMibMax}`];
}

function delays({ directP99Ms, bystanderP99Ms }: FuzzResult): readonly string[] {
  const p99MsMax = bystanderP99MsMax + machineRatio * directP99Ms;
  if (bystanderP99Ms <= p99MsMax) return [];
  return [`p99 of a bystander was ${Math.round(bystanderP99Ms)} ms, of ${Math.round(p99MsMax)}`];
}

/** What a person reads; its last line is the verdict. */
export function reportText(result: FuzzResult): string {
  const { plan, durationMs, statuses, entries, peakMib, alerts } = result;
  const byStatus = [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`);
  const broken = brokenBounds(result);
  return [
    `${plan.requests} requests from seed ${plan.seed}, ${plan.callers} callers, ${(durationMs / 1000).toFixed(0)} s`,
    `by status (0: none came): ${byStatus.join(', ')}`,
    `a bystander's ${result.bystanderCalls} calls: p50 ${result.bystanderP50Ms.toFixed(1)} ms, p99 ${result.bystanderP99Ms.toFixed(1)} ms (without a gateway: p99 ${result.directP99Ms.toFixed(1)} ms; before the fuzz: p99 ${result.idleP99Ms.toFixed(1)} ms)`,
    `peak memory ${Math.round(peakMib)} MiB, ${entries} entries, alerts: ${[...alerts].map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none'}`,
    ...broken.map((each) => `BROKEN ${each}`),
    broken.length === 0 ? 'fuzz: all holds' : `fuzz: ${broken.length} broken`,
  ].join('\n');
}

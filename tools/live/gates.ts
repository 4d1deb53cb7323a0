import type { PhaseFigures } from './figures.ts';
import type { ToldSpan } from './status-timeline.ts';
import { hangName } from './timeline.ts';

const successMin = 0.999;
const hangTtftP99MsMax = 6000;
/** The least share of streams that broke off which end whole all the same. */
const rescuedMin = 0.95;

/** The gates that a run breaks; empty when it holds. In every phase each model has a healthy channel. */
export function brokenGates(
  phases: readonly PhaseFigures[],
  ledgerComplaints: readonly string[],
): readonly string[] {
  const broken = phases
    .filter((figures) => successOf(figures) < successMin)
    .map(
      (figures) =>
        `${figures.phase}: ${percent(successOf(figures))} of calls were answered, of ${percent(successMin)}`,
    );
  const hang = phases.find(({ phase }) => phase === hangName);
  const ttftMs = hang?.ttftP99Ms ?? Number.POSITIVE_INFINITY;
  if (ttftMs > hangTtftP99MsMax)
    broken.push(`${hangName}: TTFT p99 is ${Math.round(ttftMs)} ms, of ${hangTtftP99MsMax} ms`);
  const rescued = phases.reduce((sum, figures) => sum + figures.rescued, 0);
  const brokenOff = phases.reduce((sum, figures) => sum + figures.cut, rescued);
  if (rescued < rescuedMin * brokenOff)
    broken.push(
      `${percent(rescued / brokenOff)} of streams that broke off ended whole, of ${percent(rescuedMin)}`,
    );
  if (ledgerComplaints.length > 0)
    broken.push(`the ledger does not fit what callers saw, ${ledgerComplaints.length} times`);
  return broken;
}

/**
 * The gates that a run breaks on the status page: other channels save the calls of every model, and no channel fails but those that were
 * hit. Slower than usual both may be.
 */
export function brokenOnStatus(
  spans: readonly ToldSpan[],
  hitChannels: ReadonlySet<string>,
): readonly string[] {
  const spared = (subject: string) =>
    subject.startsWith('channel ') && hitChannels.has(subject.slice('channel '.length));
  return spans
    .filter(({ subject, worst }) => worst !== 'degraded' && !spared(subject))
    .map(
      ({ subject, worst, fromCell }) =>
        `the status page tells of ${worst} of ${subject} from cell ${fromCell} on`,
    );
}

/** The share of calls that were answered, of those that no channel broke off after content. */
export function successOf({ calls, answered, cut }: PhaseFigures): number {
  return answered / (calls - cut);
}

export function percent(share: number): string {
  // Rounded down, lest a broken gate looks like one that holds.
  return `${(Math.floor(share * 100_000) / 1000).toFixed(2)} %`;
}

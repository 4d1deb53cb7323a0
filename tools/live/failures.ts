import type { AttemptEntry } from '../../packages/gateway/src/ports/ledger.ts';
import type { EntriesByCall } from './ledger-check.ts';
import type { SeenCall } from './run.ts';

/** Kinds of failures told; a run that breaks no gate has few. */
const kindsShown = 20;

/** The troubles of calls that failed before content, the most frequent first: their phase, and what came of each attempt. */
export function failuresOf(calls: readonly SeenCall[], entries: EntriesByCall): readonly string[] {
  const failed = calls.filter(({ answer }) => answer.ending === 'failed');
  const kinds = Map.groupBy(failed, (call) => kindOf(call, entries));
  return [...kinds]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, kindsShown)
    .map(([kind, those]) => `${those.length} × ${kind}`);
}

function kindOf({ id, phase, surface, answer }: SeenCall, entries: EntriesByCall): string {
  const attempts = entries.get(id)?.attempts ?? [];
  const met = attempts.length === 0 ? 'no attempt' : attempts.map(resultOf).join(', ');
  return `${phase}, ${surface.stream ? 'stream' : 'JSON'}, status ${answer.status}: ${met}`;
}

/** With the first word of its detail, and after how many seconds. */
function resultOf({ result, detail, durationMs }: AttemptEntry): string {
  const [word = ''] = (detail ?? '').split(/[: ]/);
  return `${result} ${word} ${(durationMs / 1000).toFixed(1)} s`;
}

import type { OutcomeCase } from '../route/outcome.ts';
import { outcomeTable } from '../route/outcomes.ts';

/** How often a channel failed in which way. */
export type Faults = Map<OutcomeCase, number>;

/** As it is stored: `kind:count` with blanks between. */
export function writeFaults(faults: Faults): string {
  return [...faults].map(([kind, count]) => `${kind}:${count}`).join(' ');
}

/** Adds what is written; kinds that an older or a newer version knows are left out. */
export function addFaults(into: Faults, text: string): void {
  if (text === '') return;
  for (const pair of text.split(' ')) {
    const at = pair.lastIndexOf(':');
    const kind = pair.slice(0, at);
    if (isKind(kind)) into.set(kind, (into.get(kind) ?? 0) + Number(pair.slice(at + 1)));
  }
}

export function sumOfFaults(one: string, other: string): string {
  if (one === '' || other === '') return one + other;
  const sum: Faults = new Map();
  addFaults(sum, one);
  addFaults(sum, other);
  return writeFaults(sum);
}

function isKind(kind: string): kind is OutcomeCase {
  return Object.hasOwn(outcomeTable, kind);
}
